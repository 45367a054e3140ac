//! Alignments without gaps that follow each other on two strands, taken together.
//!
//! After BLAST's linking of alignments with even gaps (`link_hsps.c`): a chain has either small
//! gaps only, or gaps of any length. The best chain is taken away, then the best of what is left.

use std::ops::Range;

use gyrase_align::statistics::sum::{MOST, PairSpace};

/// Residues of a small gap, and residues that neighbours may have in common.
const GAP: usize = 40;
const OVERLAP: usize = 9;
/// Positions at which the next alignment may begin behind a small gap.
pub(super) const STARTS: usize = GAP + OVERLAP + 1;
/// Residues that are cut off at each end at most, where neighbours overlap.
const TRIMMED: usize = OVERLAP.div_ceil(2);
/// The share of the chances that each kind of gaps has.
pub(super) const SHARE: f64 = 0.5;

/// An alignment.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub query: Range<usize>,
    pub subject: Range<usize>,
    pub score: i32,
    /// The score in nats.
    pub normalised: f64,
}

/// What a link adds to a chain costs: with small gaps, where they are looked at, and with any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cutoffs {
    pub small: Option<i32>,
    pub large: i32,
}

/// What decides which are taken together.
pub(super) struct Chains {
    pub space: PairSpace,
    pub cutoffs: Cutoffs,
}

/// The best chain that begins with a link.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    next: Option<usize>,
    links: usize,
    /// Scores above the cutoff.
    sum: i32,
    normalised: f64,
}

/// A link without what neighbours may overlap.
struct Trimmed {
    query: Range<usize>,
    subject: Range<usize>,
}

impl Trimmed {
    fn of(link: &Link) -> Trimmed {
        let trim = |range: &Range<usize>| {
            let ends = (range.len() / 4).min(TRIMMED);
            range.start + ends..range.end - ends
        };
        Trimmed {
            query: trim(&link.query),
            subject: trim(&link.subject),
        }
    }
}

impl Chains {
    /// The E-value of each link: of the chain that it is taken together with. Links are in
    /// descending order of their places in the query.
    pub(super) fn evalues(&self, links: &[Link]) -> Vec<f64> {
        let trimmed: Vec<Trimmed> = links.iter().map(Trimmed::of).collect();
        let mut evalues = vec![MOST; links.len()];
        let mut left: Vec<usize> = (0..links.len()).collect();
        let mut chains: Option<[Vec<Chain>; 2]> = None;
        let mut taken = vec![false; links.len()];
        while !left.is_empty() {
            let whole = |chains: &[Vec<Chain>; 2]| {
                let best = self.best(chains, &left);
                let of_kind = |kind: usize| members(&chains[kind], best[kind]);
                let mut members = (0..2).filter(|&kind| self.looks_at(kind)).flat_map(of_kind);
                !members.any(|one| taken[one])
            };
            let now = match chains.take() {
                Some(chains) if whole(&chains) => chains,
                _ => [0, 1].map(|kind| match self.looks_at(kind) {
                    true => self.chains(links, &trimmed, &left, kind),
                    false => Vec::new(),
                }),
            };
            let best = self.best(&now, &left);
            let evalue = |kind: usize| self.evalue(&now[kind][best[kind]], kind);
            let kind = match self.looks_at(0) && evalue(0) <= evalue(1) {
                true => 0,
                false => 1,
            };
            for one in members(&now[kind], best[kind]) {
                (evalues[one], taken[one]) = (evalue(kind), true);
            }
            left.retain(|&one| !taken[one]);
            chains = Some(now);
        }
        evalues
    }

    /// Whether there are chains of small gaps (0), of any gaps (1).
    fn looks_at(&self, kind: usize) -> bool {
        kind == 1 || self.cutoffs.small.is_some()
    }

    fn cutoff(&self, kind: usize) -> i32 {
        match kind {
            0 => self.cutoffs.small.unwrap_or_default(),
            _ => self.cutoffs.large,
        }
    }

    /// The links with which the best chains of both kinds begin.
    fn best(&self, chains: &[Vec<Chain>; 2], left: &[usize]) -> [usize; 2] {
        [0, 1].map(|kind| match self.looks_at(kind) {
            true => {
                let best = left
                    .iter()
                    .copied()
                    .max_by_key(|&one| chains[kind][one].sum);
                best.unwrap_or_default()
            }
            false => 0,
        })
    }

    /// The best chain of a kind from each link that is left.
    fn chains(
        &self,
        links: &[Link],
        trimmed: &[Trimmed],
        left: &[usize],
        kind: usize,
    ) -> Vec<Chain> {
        let cutoff = self.cutoff(kind);
        let mut chains = vec![Chain::default(); links.len()];
        for (place, &one) in left.iter().enumerate() {
            let own = &trimmed[one];
            let mut best: Option<usize> = None;
            let candidates = left[..place].iter().rev().copied();
            for other in candidates.filter(|_| links[one].score > cutoff) {
                let (query, subject) = (trimmed[other].query.start, trimmed[other].subject.start);
                if kind == 0 && query > own.query.end + STARTS + TRIMMED {
                    break;
                }
                let follows = query > own.query.end && subject > own.subject.end;
                let near = query <= own.query.end + STARTS && subject <= own.subject.end + STARTS;
                let sum = best.map_or(0, |best| chains[best].sum);
                if follows && (kind == 1 || near) && chains[other].sum > sum {
                    best = Some(other);
                }
            }
            let rest = best.map_or(Chain::default(), |best| chains[best]);
            chains[one] = Chain {
                next: best,
                links: rest.links + 1,
                sum: rest.sum + links[one].score - cutoff,
                normalised: rest.normalised + links[one].normalised,
            };
        }
        chains
    }

    fn evalue(&self, chain: &Chain, kind: usize) -> f64 {
        let starts = STARTS as f64;
        let evalue = match kind {
            0 => self
                .space
                .near(chain.links, chain.normalised, (starts, starts)),
            _ => self.space.anywhere(chain.links, chain.normalised),
        };
        let both = self.cutoffs.small.is_some();
        match chain.links > 1 && both {
            true => (evalue / SHARE).min(MOST),
            false => evalue,
        }
    }
}

/// The links of the chain that begins with one.
fn members(chains: &[Chain], first: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(first), |&one| chains[one].next)
}

#[cfg(test)]
mod tests {
    use gyrase_align::statistics::sum::DECAY_UNGAPPED;

    use super::*;

    fn link(query: usize, subject: usize, score: i32) -> Link {
        Link {
            query: query..query + 30,
            subject: subject..subject + 30,
            score,
            normalised: 0.3176 * f64::from(score) + 2.0,
        }
    }

    /// E-values in the order of the links.
    fn evalues(links: &[Link], small: Option<i32>) -> Vec<f64> {
        let chains = Chains {
            space: PairSpace {
                query: 300.0,
                subject: 3000.0,
                search: 1e9,
                decay: DECAY_UNGAPPED,
            },
            cutoffs: Cutoffs { small, large: 45 },
        };
        let mut order: Vec<usize> = (0..links.len()).collect();
        order.sort_by_key(|&one| std::cmp::Reverse(links[one].query.start));
        let sorted: Vec<Link> = order.iter().map(|&one| links[one].clone()).collect();
        let found = chains.evalues(&sorted);
        let mut evalues = vec![0.0; links.len()];
        for (&one, evalue) in order.iter().zip(found) {
            evalues[one] = evalue;
        }
        evalues
    }

    #[test]
    fn neighbours_share_an_evalue_and_others_do_not() {
        let own = [link(0, 500, 60), link(35, 540, 60), link(70, 575, 60)];
        let found = evalues(&own, Some(41));
        assert!(found[0] == found[1] && found[1] == found[2]);
        assert!(found[0] < evalues(&own[..2], Some(41))[0]);
        let crossed = evalues(&[link(0, 500, 60), link(35, 400, 60)], Some(41));
        assert_eq!(crossed[0], evalues(&own[..1], Some(41))[0]);
        assert_eq!(crossed[0], crossed[1]);
    }

    #[test]
    fn far_neighbours_are_one_chain_where_they_score_enough() {
        let far = [link(0, 500, 70), link(200, 2500, 70)];
        let (found, alone) = (evalues(&far, Some(41)), evalues(&far[..1], Some(41)));
        assert_eq!(found[0], found[1]);
        assert!(found[0] < alone[0]);
        let weak = [link(0, 500, 70), link(200, 2500, 44)];
        let found = evalues(&weak, Some(41));
        assert_eq!(found[0], alone[0]);
        let near = [link(0, 500, 70), link(35, 540, 44)];
        let found = (evalues(&near, Some(41)), evalues(&near, None));
        assert!(found.0[1] == found.0[0] && found.1[1] > found.1[0]);
    }

    #[test]
    fn the_best_chain_leaves_the_others_theirs() {
        let two = [
            link(0, 500, 80),
            link(35, 540, 80),
            link(0, 1500, 60),
            link(35, 1540, 60),
        ];
        let found = evalues(&two, Some(41));
        assert!(found[0] == found[1] && found[2] == found[3] && found[0] < found[2]);
        let alone = evalues(&two[2..], Some(41));
        assert_eq!(found[2], alone[0]);
    }
}
