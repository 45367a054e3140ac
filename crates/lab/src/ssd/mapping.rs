//! Which chip a partition is on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

use gyrase_simulate::Random;

use super::profile::StorageProfile;

const SHUFFLE: u64 = 0x55d1;

/// How partitions are mapped to chips (Wu et al. 2024, section 4.3, but for the last).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionMapping {
    /// Minimizer i is on chip i mod n.
    RoundRobin,
    /// Any chip, as many minimizers on each.
    Random,
    /// A minimizer of low rank and one of high rank are a pair; pairs are spread at random, as
    /// many on each chip.
    Heuristic,
    /// The same pairs, pair i on chip i mod n.
    HeuristicModulo,
    /// The same pairs, dealt out there and back.
    HeuristicSnake,
    /// The same pairs, neighbouring ones on one chip.
    HeuristicBlocks,
    /// The largest partition first, to the chip that has least: what one could do who knew all.
    Greedy,
}

impl PartitionMapping {
    /// All of them, as they are listed.
    pub const ALL: [PartitionMapping; 7] = [
        PartitionMapping::RoundRobin,
        PartitionMapping::Random,
        PartitionMapping::Heuristic,
        PartitionMapping::HeuristicModulo,
        PartitionMapping::HeuristicSnake,
        PartitionMapping::HeuristicBlocks,
        PartitionMapping::Greedy,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PartitionMapping::RoundRobin => "round-robin",
            PartitionMapping::Random => "random",
            PartitionMapping::Heuristic => "heuristic",
            PartitionMapping::HeuristicModulo => "heuristic-modulo",
            PartitionMapping::HeuristicSnake => "heuristic-snake",
            PartitionMapping::HeuristicBlocks => "heuristic-blocks",
            PartitionMapping::Greedy => "greedy",
        }
    }

    /// The chip of each partition of the profile, below `chips`.
    pub fn chips(self, profile: &StorageProfile, chips: usize, seed: u64) -> Vec<usize> {
        let all = profile.minimizers() as usize;
        let pairs = all.div_ceil(2);
        let pair = |minimizer: usize| minimizer.min(all - 1 - minimizer);
        let of: Box<dyn Fn(usize) -> usize> = match self {
            PartitionMapping::RoundRobin => Box::new(|minimizer| minimizer % chips),
            PartitionMapping::Random => {
                let dealt = dealt(all, chips, seed);
                Box::new(move |minimizer| dealt[minimizer] as usize)
            }
            PartitionMapping::Heuristic => {
                let dealt = dealt(pairs, chips, seed);
                Box::new(move |minimizer| dealt[pair(minimizer)] as usize)
            }
            PartitionMapping::HeuristicModulo => Box::new(move |minimizer| pair(minimizer) % chips),
            PartitionMapping::HeuristicSnake => Box::new(move |minimizer| {
                let (round, place) = (pair(minimizer) / chips, pair(minimizer) % chips);
                if round.is_multiple_of(2) {
                    place
                } else {
                    chips - 1 - place
                }
            }),
            PartitionMapping::HeuristicBlocks => {
                Box::new(move |minimizer| pair(minimizer) * chips / pairs)
            }
            PartitionMapping::Greedy => return greedy(profile, chips),
        };
        let partitions = profile.partitions.iter();
        partitions
            .map(|partition| of(partition.minimizer as usize))
            .collect()
    }
}

/// So many things to chips, as many to each, at random.
fn dealt(things: usize, chips: usize, seed: u64) -> Vec<u16> {
    let mut dealt: Vec<u16> = (0..things).map(|thing| (thing % chips) as u16).collect();
    let mut random = Random::stream(seed, SHUFFLE, 0);
    for last in (1..things).rev() {
        dealt.swap(last, random.below(last as u64 + 1) as usize);
    }
    dealt
}

fn greedy(profile: &StorageProfile, chips: usize) -> Vec<usize> {
    let partitions = &profile.partitions;
    let mut order: Vec<usize> = (0..partitions.len()).collect();
    order.sort_by_key(|&place| Reverse(partitions[place].kmers));
    let mut free: BinaryHeap<_> = (0..chips).map(|chip| Reverse((0, chip))).collect();
    let mut of = vec![0; partitions.len()];
    for place in order {
        let Reverse((load, chip)) = free.pop().expect("there is a chip");
        of[place] = chip;
        free.push(Reverse((load + partitions[place].kmers, chip)));
    }
    of
}

impl fmt::Display for PartitionMapping {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PartitionMapping {
    type Err = String;

    fn from_str(name: &str) -> Result<PartitionMapping, String> {
        let found = PartitionMapping::ALL
            .into_iter()
            .find(|one| one.name() == name);
        found.ok_or_else(|| {
            let names = PartitionMapping::ALL.map(PartitionMapping::name);
            format!("the mappings are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssd::MinimizerPartition;

    fn profile() -> StorageProfile {
        let partition = |minimizer: u32| MinimizerPartition {
            minimizer,
            kmers: 1 + u64::from((4095 - minimizer) / 4),
            ..MinimizerPartition::default()
        };
        StorageProfile {
            k: 21,
            m: 6,
            stranded: false,
            text_bytes: 0,
            reads: 0,
            bases: 0,
            partitions: (0..4096).map(partition).collect(),
        }
    }

    #[test]
    fn every_chip_has_as_many_minimizers_and_greedy_as_many_kmers() {
        let profile = profile();
        for mapping in PartitionMapping::ALL {
            assert_eq!(mapping.name().parse(), Ok(mapping));
            let chips = mapping.chips(&profile, 16, 7);
            assert_eq!(chips, mapping.chips(&profile, 16, 7));
            let (mut parts, mut loads) = ([0; 16], [0; 16]);
            for (&chip, partition) in chips.iter().zip(&profile.partitions) {
                parts[chip] += 1;
                loads[chip] += partition.kmers;
            }
            if mapping == PartitionMapping::Greedy {
                let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
                assert!(most - least <= 1024 / 4, "{loads:?}");
            } else {
                assert_eq!(parts, [256; 16], "{mapping}");
            }
        }
        let seeds = [1, 2].map(|seed| PartitionMapping::Random.chips(&profile, 16, seed));
        assert_ne!(seeds[0], seeds[1]);
    }

    #[test]
    fn pairs_are_of_low_and_high_rank() {
        let profile = profile();
        for mapping in &PartitionMapping::ALL[2..6] {
            let chips = mapping.chips(&profile, 16, 3);
            assert!(
                (0..4096).all(|rank| chips[rank] == chips[4095 - rank]),
                "{mapping}"
            );
        }
        let blocks = PartitionMapping::HeuristicBlocks.chips(&profile, 16, 3);
        assert_eq!(
            (blocks[0], blocks[127], blocks[128], blocks[2047]),
            (0, 0, 1, 15)
        );
    }
}
