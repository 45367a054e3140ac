//! Who else of the job is on this machine.

use crate::launch::Environment;

/// Where launchers say how many of their processes are on a machine: Open MPI's, Hydra (MPICH,
/// Intel MPI), `srun`. The first that is there holds: a launcher may be started by another.
const NAMES: [&str; 4] = [
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_NTASKS_PER_NODE",
];

/// How many processes the launcher started on this machine, this one among them; 1 where it says
/// nothing.
pub fn neighbours() -> usize {
    told(&|name| std::env::var_os(name))
}

fn told(environment: Environment) -> usize {
    let text = |name| environment(name)?.into_string().ok();
    let machine = text("SLURM_NODEID").and_then(|number| number.parse().ok());
    let ranks = |name| listed(&text(name)?, machine.unwrap_or(0)).filter(|&ranks| ranks > 0);
    NAMES.into_iter().find_map(ranks).unwrap_or(1)
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

    fn of(pairs: &[(&str, &str)]) -> usize {
        told(&|name| {
            pairs
                .iter()
                .find(|pair| pair.0 == name)
                .map(|pair| pair.1.into())
        })
    }

    #[test]
    fn launchers_say_how_many_are_on_a_machine() {
        let (openmpi, mpich) = (
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
            ("MPI_LOCALNRANKS", "3"),
        );
        let srun = [
            ("SLURM_STEP_TASKS_PER_NODE", "1(x2)"),
            ("SLURM_NODEID", "1"),
        ];
        assert_eq!((of(&[openmpi]), of(&[mpich]), of(&srun)), (4, 3, 1));
        // What Slurm says there is of the launcher's own processes.
        assert_eq!(of(&[srun[0], openmpi, srun[1]]), 4);
        assert_eq!(of(&[srun[0], mpich, srun[1]]), 3);
        let several = [("SLURM_NTASKS_PER_NODE", "8"), ("SLURM_NODEID", "5")];
        assert_eq!(of(&several), 8);
        for nothing in ["0", "x", ""] {
            assert_eq!(of(&[("MPI_LOCALNRANKS", nothing)]), 1);
        }
        assert_eq!(of(&[]), 1);
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
