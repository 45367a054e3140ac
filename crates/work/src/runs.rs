//! Many things in as many runs as there are processes: how long each is, and whose a thing is.

use std::ops::Range;

/// The run of `all` things, one behind the other, that falls to the process `rank` of `ranks`.
pub fn run_of(all: usize, rank: usize, ranks: usize) -> Range<usize> {
    rank * all / ranks..(rank + 1) * all / ranks
}

/// The process of `ranks` that has a thing of `all` in its run.
pub fn runner(thing: usize, all: usize, ranks: usize) -> usize {
    ((thing + 1) * ranks - 1) / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_one_run() {
        for (all, ranks) in [
            (1, 1),
            (4, 4),
            (7, 3),
            (4096, 1),
            (4096, 7),
            (4096, 3072),
            (3, 5),
        ] {
            for thing in 0..all {
                let runs: Vec<usize> = (0..ranks)
                    .filter(|&rank| run_of(all, rank, ranks).contains(&thing))
                    .collect();
                assert_eq!(
                    runs,
                    [runner(thing, all, ranks)],
                    "{thing} of {all}, {ranks} ranks"
                );
            }
        }
    }
}
