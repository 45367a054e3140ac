//! How long fragments are.

/// Fragments that are needed to tell.
const LEAST: u64 = 500;

/// Lengths of fragments, and how far two nodes are from each other that fragments join.
#[derive(Clone, Debug)]
pub struct Inserts {
    /// How many fragments have each length.
    counts: Vec<u64>,
    /// The length that half of the fragments are below.
    pub median: i64,
    /// Half the distance between the lengths that 16 and 84 percent are below.
    pub deviation: i64,
}

impl Inserts {
    /// Of fragments within nodes; nothing where there are too few.
    pub fn of(counts: &[u64]) -> Option<Inserts> {
        let all: u64 = counts.iter().sum();
        let below = |percent: u64| {
            let mut seen = 0;
            let reached = |&count: &u64| {
                seen += count;
                seen * 100 >= all * percent
            };
            counts.iter().position(reached).unwrap_or(0) as i64
        };
        if all < LEAST {
            return None;
        }
        let (low, median, high) = (below(16), below(50), below(84));
        // What is far off has another cause: a deletion, a wrong anchor.
        let (least, most) = (below(1), below(99));
        let mut counts = counts[..=most as usize].to_vec();
        counts[..least as usize].fill(0);
        Some(Inserts {
            counts,
            median,
            deviation: ((high - low) / 2).max(1),
        })
    }

    /// The longest that is reckoned with.
    pub fn longest(&self) -> i64 {
        self.counts.len() as i64 - 1
    }

    /// How many fragments have each length, from 0 on.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The bases between two nodes, negative where they overlap: `links` fragments reach `bases`
    /// into both of them together; the nodes have `lengths` bases, and no anchor in the last `edge`
    /// of them. Long fragments span a gap more often than short ones: that is reckoned with.
    pub fn gap(&self, links: u64, bases: i64, lengths: [i64; 2], edge: i64) -> i64 {
        let (mut low, mut high) = (-edge, self.longest());
        while low < high {
            let gap = (low + high).div_euclid(2);
            // What fragments would reach into the nodes on average, times their number.
            let (mut reach, mut weight) = (0i128, 0i128);
            for (length, &count) in self.counts.iter().enumerate().filter(|found| *found.1 > 0) {
                let within = length as i64 - gap;
                let first = edge.max(within - lengths[1]);
                let last = lengths[0].min(within - edge);
                let places = i128::from((last - first + 1).max(0)) * i128::from(count);
                weight += places;
                reach += places * i128::from(within);
            }
            // The larger the gap, the less is left for the nodes.
            let too_much = reach * i128::from(links) > weight * i128::from(bases);
            if weight > 0 && too_much {
                low = gap + 1;
            } else {
                high = gap;
            }
        }
        low
    }

    /// How far the gap that so many links tell may be off.
    pub fn doubt(&self, links: u64) -> i64 {
        self.deviation / 2 + 3 * self.deviation / (links.isqrt().max(1) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_that_links_come_from() {
        // Fragments of 300 to 400 bases, all as frequent.
        let mut counts = vec![0; 300];
        counts.extend([100; 101]);
        let inserts = Inserts::of(&counts).unwrap();
        assert_eq!(inserts.median, 350);
        for gap in [-126, -50, 0, 40, 90] {
            let (mut links, mut bases) = (0, 0);
            for length in 301..400 {
                for left in 126..1000 {
                    let right = length - gap - left;
                    if (126..=500).contains(&right) {
                        links += 1;
                        bases += left + right;
                    }
                }
            }
            let found = inserts.gap(links, bases, [1000, 500], 126);
            assert!((found - gap).abs() <= 2, "{gap}: {found}");
        }
    }

    #[test]
    fn few_fragments_tell_nothing() {
        assert!(Inserts::of(&[]).is_none());
        assert!(Inserts::of(&[0, 100]).is_none());
    }
}
