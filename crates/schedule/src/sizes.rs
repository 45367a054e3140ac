//! How many processors a partition has.

use serde::{Deserialize, Serialize};

/// The sizes of partitions for a database, in processors.
///
/// Each is the processors of a power of two of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionSizes {
    /// The fewest whose nodes hold the database in memory (P_min); FIX-S gives them.
    pub least: usize,
    /// What FIX-M gives.
    pub medium: usize,
    /// The most that answer a query sooner than half as many (P_max); FIX-L gives them.
    pub most: usize,
}

/// The processors that RMAP gives a query: `processors / (waiting + 1 + factor * running)`, rounded
/// up, within the sizes of the database, and rounded down to those of a power of two of nodes.
///
/// `waiting` queries wait beside this one, `running` ones run; a node has `per_node` processors.
///
/// ```
/// use gyrase_schedule::{PartitionSizes, rmap};
///
/// let nt = PartitionSizes { least: 8, medium: 16, most: 32 };
/// assert_eq!(rmap(40, 0, 0, 0.75, nt, 2), 32);
/// assert_eq!(rmap(40, 0, 1, 0.75, nt, 2), 16); // 40 / 1.75 are 23 processors
/// assert_eq!(rmap(40, 9, 4, 0.75, nt, 2), 8);
/// ```
pub fn rmap(
    processors: usize,
    waiting: usize,
    running: usize,
    factor: f64,
    sizes: PartitionSizes,
    per_node: usize,
) -> usize {
    let share = processors as f64 / (waiting as f64 + 1.0 + factor * running as f64);
    let target = (share.ceil() as usize)
        .max(1)
        .max(sizes.least)
        .min(sizes.most);
    per_node * power_below((target / per_node).max(1))
}

/// The largest power of two up to `number`; 0 of 0.
pub fn power_below(number: usize) -> usize {
    number.checked_ilog2().map_or(0, |power| 1 << power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two() {
        let found: Vec<usize> = [0, 1, 2, 3, 4, 7, 8, 20]
            .into_iter()
            .map(power_below)
            .collect();
        assert_eq!(found, [0, 1, 2, 2, 4, 4, 8, 16]);
    }

    #[test]
    fn the_share_is_rounded_up_and_the_size_down() {
        let sizes = PartitionSizes {
            least: 2,
            medium: 8,
            most: 32,
        };
        let of = |waiting, running| rmap(40, waiting, running, 0.75, sizes, 2);
        // 40 / 2.5 are 16; 40 / 2.75 are 14.5.., so 15, and 8 is the power below.
        assert_eq!(
            [of(0, 2), of(1, 1), of(4, 0), of(19, 0), of(500, 9)],
            [16, 8, 8, 2, 2]
        );
        // Of workers with three processors the sizes are 3, 6, 12.
        let sizes = PartitionSizes {
            least: 3,
            medium: 6,
            most: 12,
        };
        assert_eq!(rmap(12, 0, 0, 0.75, sizes, 3), 12);
        assert_eq!(rmap(12, 1, 1, 0.75, sizes, 3), 3);
    }
}
