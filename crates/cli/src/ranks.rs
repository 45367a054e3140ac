//! The processes of a job that a launcher started: which verbs they share, and how all of them end.

use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gyrase_fabric::Steal;
use gyrase_fabric_mpi::{Ended, Failed, Job, Launch};
use gyrase_trace::TARGET;
use gyrase_work::Progress;
use signal_hook::low_level;
use tracing::info_span;

use crate::errors::EXIT_CODES;
use crate::failure::{Code, Failure, Result};

/// How a verb takes it that several processes were started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processes {
    /// They share the work.
    Share(Steal),
    /// Each says what it finds.
    Each,
    /// All would do the same, to the same files.
    One,
}

/// How long MPI may take to start before that is said, and before it is said what may be wrong.
const SOON: Duration = Duration::from_secs(5);
const LONG: Duration = Duration::from_secs(30);

/// What may keep MPI from starting.
const CAUSES: &str = "\
a process of the job is not there yet (a slow or full node, or a program that is read over a slow \
network), or the processes do not reach each other (a firewall between nodes; where a node has \
several networks, name one: `mpirun --mca btl_tcp_if_include NET` of Open MPI, `mpirun -iface NET` \
of MPICH and Intel MPI)";

/// How long the others let rank 0 say what is probably wrong in all of them.
const FIRST: Duration = Duration::from_millis(500);

/// The rank of this process where a launcher started several, by the launcher's word.
pub fn rank() -> Option<usize> {
    let several = match Launch::of_this_process() {
        Ok(launch) => launch.is_some(),
        Err(_) => true,
    };
    let ranks = [
        "OMPI_COMM_WORLD_RANK",
        "PMI_RANK",
        "PMIX_RANK",
        "SLURM_PROCID",
    ];
    several.then(|| ranks.into_iter().find_map(number).unwrap_or(0))
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Joins the job that this process was started for, if there is one and the verb is for it.
pub fn start(processes: Processes) -> Result<Option<Arc<Job>>> {
    match processes {
        Processes::Each => Ok(None),
        Processes::Share(steal) => {
            let span = info_span!(
                target: TARGET, "wait", at = "collective", call = "init", instance = 0u64
            );
            let _wait = span.entered();
            Ok(
                gyrase_fabric_mpi::start(EXIT_CODES, waiting())?.map(|mut job| {
                    job.steal(steal);
                    Arc::new(job)
                }),
            )
        }
        Processes::One => match Launch::of_this_process()?.and_then(|launch| launch.ranks) {
            Some(ranks) if ranks > 1 => Err(Failure::new(Code::Mpi, refusal(ranks))),
            _ => Ok(None),
        },
    }
}

/// Says from time to time that MPI has not started. Rank 0 does; rank 1 does so too once it has
/// taken long, since it may be rank 0 that is not there.
pub fn waiting() -> impl FnMut(Duration) {
    let (rank, mut next) = (rank().unwrap_or(0), SOON);
    move |waited| {
        let due = waited >= next && (rank == 0 || rank == 1 && waited >= LONG);
        if !due {
            return;
        }
        let seconds = waited.as_secs();
        if waited < LONG {
            tracing::info!("waiting for MPI to start, {seconds} s: not all processes are there");
        } else {
            tracing::warn!("MPI has not started for {seconds} s: {CAUSES}");
        }
        next = next_word(waited);
    }
}

/// When it is said again: less and less often.
fn next_word(waited: Duration) -> Duration {
    match 2 * waited {
        twice if waited < LONG => twice.min(LONG),
        twice => twice,
    }
}

fn refusal(ranks: usize) -> String {
    format!(
        "{ranks} processes were started, and this verb works in one: they would all do the same and write the same files; start it without mpirun or srun (`gyrase count`, `gyrase classify`, `gyrase search`, `gyrase unitigs`, `gyrase assemble`, `gyrase suffix build` and `gyrase db build|add|merge|remove` share their work), or set GYRASE_MPI=off if each process is meant to run by itself"
    )
}

/// Says why this process cannot take part. What is wrong in one is mostly wrong in all, and the
/// launcher ends the others once the first has said it.
pub fn refuse(rank: Option<usize>, failure: &Failure) -> u8 {
    match rank {
        None | Some(0) => {
            tracing::error!(exit_code = failure.code as u8, "{}", failure.message)
        }
        Some(rank) => {
            std::thread::sleep(FIRST);
            let exit_code = failure.code as u8;
            tracing::error!(exit_code, "rank {rank}: {}", failure.message);
        }
    }
    failure.code as u8
}

/// Files and folders that go when this process has to end and cannot come to its end.
#[derive(Clone, Debug, Default)]
pub struct Left(Arc<Mutex<Vec<PathBuf>>>);

impl Left {
    /// Notes what goes then.
    pub fn note(&self, paths: Vec<PathBuf>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = paths;
    }

    fn remove(&self) {
        for path in self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain(..)
        {
            // What cannot be removed stays: nobody is left to be told. So does the folder of the
            // run while others use it.
            let _ = std::fs::remove_file(&path);
            if std::fs::remove_dir_all(&path).is_ok() {
                let _ = path.parent().map(std::fs::remove_dir);
            }
        }
    }
}

/// Ends this process when the job has failed, or is to stop, and it is caught in something that
/// does not end.
pub fn heed(job: &Job, progress: &Arc<Progress>, left: &Left) {
    let (left, begun) = (left.clone(), Arc::clone(progress));
    job.heed(Arc::clone(progress), move |code| {
        // Before the first stage they may be those of another job, which has the same output.
        if !begun.stages().is_empty() {
            left.remove();
        }
        low_level::exit(code.into());
    });
}

/// Ends the job in all its processes: with the exit code and the one message of the first that
/// failed, if one did.
pub fn end(job: Arc<Job>, done: std::result::Result<Result<()>, Box<dyn Any + Send>>) -> u8 {
    let job = Arc::into_inner(job).expect("the session is over, and nobody else had the job");
    let result = match done {
        Ok(Err(failure)) if failure.code != Code::Done => Err(Failed {
            code: failure.code as u8,
            stopped: failure.code.is_signal(),
            message: failure.message,
        }),
        Ok(_) => Ok(()),
        Err(_) => Err(Failed {
            code: Code::Internal as u8,
            stopped: false,
            message: "ended by the fault that is named above".into(),
        }),
    };
    match job.end(result, |message| tracing::error!("{message}")) {
        Ended::Well => Code::Done as u8,
        // What the library does when a process ends as usual would wait for processes that are
        // gone.
        Ended::Failed { code } => low_level::exit(code.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_less_and_less_often() {
        let mut said = vec![SOON.as_secs()];
        while let Some(next) = said
            .last()
            .map(|&last| next_word(Duration::from_secs(last)))
            && next < Duration::from_secs(300)
        {
            said.push(next.as_secs());
        }
        assert_eq!(said, [5, 10, 20, 30, 60, 120, 240]);
    }

    #[test]
    fn what_is_left_goes_and_a_folder_in_use_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, spill) = (
            folder.path().join("x.partial"),
            folder.path().join("gyrase-1/rank-2"),
        );
        std::fs::write(&file, "").unwrap();
        std::fs::create_dir_all(&spill).unwrap();
        std::fs::write(spill.join("spill-0"), "").unwrap();
        let left = Left::default();
        left.note(vec![spill, file]);
        left.remove();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
