//! Who else of the job is on this machine.

use crate::launch::Environment;

/// The processes that the launcher started on this machine, by its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// Which of them this process is, from 0, where the launcher says so.
    pub rank: Option<usize>,
    /// How many they are, this one among them; 1 where the launcher says nothing.
    pub ranks: usize,
}

/// Where launchers say which process of a machine this is, and how many are there: Open MPI's,
/// Hydra (MPICH, Intel MPI), `srun`. The first that are there hold: a launcher may be started by
/// another.
const NAMES: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"),
    ("SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
];

impl Neighbours {
    /// Those of this process.
    pub fn of_this_process() -> Neighbours {
        Neighbours::of(&|name| std::env::var_os(name))
    }

    fn of(environment: Environment) -> Neighbours {
        let text = |name| environment(name)?.into_string().ok();
        let number = |name| text(name)?.parse::<usize>().ok();
        let machine = number("SLURM_NODEID").unwrap_or(0);
        let told = |(rank, ranks)| {
            let ranks = listed(&text(ranks)?, machine).filter(|&ranks| ranks > 0)?;
            Some(Neighbours {
                rank: number(rank).filter(|&rank| rank < ranks),
                ranks,
            })
        };
        NAMES.into_iter().find_map(told).unwrap_or(Neighbours {
            rank: None,
            ranks: 1,
        })
    }
}

/// The number of a machine where `srun` lists those of all as `4(x2),3`; of one number it is that.
fn listed(list: &str, machine: usize) -> Option<usize> {
    let part = |part: &str| {
        let (number, times) = part.split_once("(x").unwrap_or((part, "1)"));
        Some((number.parse().ok()?, times.strip_suffix(')')?.parse().ok()?))
    };
    let parts = list
        .split(',')
        .map(part)
        .collect::<Option<Vec<(usize, usize)>>>()?;
    let mut each = parts
        .iter()
        .flat_map(|&(number, times)| std::iter::repeat_n(number, times));
    each.nth(machine)
        .or_else(|| parts.first().map(|&(number, _)| number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> (Option<usize>, usize) {
        let Neighbours { rank, ranks } = Neighbours::of(&|name| {
            pairs
                .iter()
                .find(|pair| pair.0 == name)
                .map(|pair| pair.1.into())
        });
        (rank, ranks)
    }

    #[test]
    fn launchers_say_who_is_on_a_machine() {
        let openmpi = [
            ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
        ];
        let mpich = [("MPI_LOCALRANKID", "2"), ("MPI_LOCALNRANKS", "3")];
        let srun = [
            ("SLURM_LOCALID", "0"),
            ("SLURM_STEP_TASKS_PER_NODE", "1(x2)"),
            ("SLURM_NODEID", "1"),
        ];
        assert_eq!(
            (of(&openmpi), of(&mpich), of(&srun)),
            ((Some(1), 4), (Some(2), 3), (Some(0), 1))
        );
        // What Slurm says there is of the launcher's own processes.
        assert_eq!(of(&[openmpi.as_slice(), &srun].concat()), (Some(1), 4));
        assert_eq!(of(&[mpich.as_slice(), &srun].concat()), (Some(2), 3));
        assert_eq!(
            of(&[
                ("SLURM_LOCALID", "3"),
                ("SLURM_NTASKS_PER_NODE", "8"),
                ("SLURM_NODEID", "5")
            ]),
            (Some(3), 8)
        );
        assert_eq!(of(&[("MPI_LOCALNRANKS", "3")]), (None, 3));
        assert_eq!(
            (of(&[("MPI_LOCALRANKID", "2")]), of(&[])),
            ((None, 1), (None, 1))
        );
        assert_eq!(
            (
                of(&[("MPI_LOCALNRANKS", "0")]),
                of(&[("MPI_LOCALNRANKS", "x")])
            ),
            ((None, 1), (None, 1))
        );
    }

    #[test]
    fn machines_of_different_numbers_are_told_apart() {
        assert_eq!(
            [0, 1, 2, 3].map(|machine| listed("4(x2),3", machine)),
            [4, 4, 3, 4].map(Some)
        );
        assert_eq!((listed("12", 0), listed("12", 7)), (Some(12), Some(12)));
        assert_eq!(
            [listed("", 0), listed("x4", 0), listed("4(x", 0)],
            [None; 3]
        );
    }
}
