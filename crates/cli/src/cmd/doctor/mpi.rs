//! MPI: what is installed, who started this process, and what the processes of a job find together.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use gyrase_fabric::{FabricError, World};
use gyrase_fabric_mpi::{Ended, Family, Job, Launch, installed, loads_libraries, start};
use gyrase_picture::words::things;

use super::finding::{Finding, State};
use super::output;
use crate::errors::EXIT_CODES;
use crate::failure::Code;
use crate::ranks;

const TOPIC: &str = "MPI";

/// What is installed: every shim with what is behind it, or that there is none.
pub fn libraries() -> Vec<Finding> {
    let found: Vec<Finding> = installed()
        .iter()
        .map(|(family, path)| behind(*family, path))
        .collect();
    if !loads_libraries() {
        vec![cannot_load()]
    } else if found.is_empty() {
        vec![none(on_path("mpicc"))]
    } else {
        found
    }
}

fn cannot_load() -> Finding {
    Finding::fine(
        TOPIC,
        "this is the static build, which runs on any Linux and loads no MPI; one machine needs \
         none; to count on several, take the build for glibc (its archive is named linux-gnu)",
    )
}

fn none(compiler: bool) -> Finding {
    let how = if compiler {
        "run `gyrase mpi-setup`"
    } else {
        "load or install an MPI and run `gyrase mpi-setup`"
    };
    Finding::fine(
        TOPIC,
        format!("none is set up, and one machine needs none; to count on several, {how}"),
    )
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// What is behind a shim, asked in a process of its own: one MPI's names hide another's.
fn behind(family: Family, path: &Path) -> Finding {
    let program = std::env::current_exe().unwrap_or_default();
    let asked = Command::new(program)
        .args(["doctor", "--quiet", "--shim"])
        .arg(path)
        .output();
    let said = asked.map_or_else(
        |error| Err(error.to_string()),
        |output| match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        },
    );
    let components = std::env::var("OMPI_MCA_osc").ok();
    judge(
        family,
        &path.display().to_string(),
        said,
        components.as_deref(),
    )
}

fn judge(
    family: Family,
    path: &str,
    said: Result<String, String>,
    components: Option<&str>,
) -> Finding {
    let library = match said {
        Ok(library) => library,
        Err(error) => {
            let error = error.strip_prefix("gyrase: error: ").unwrap_or(&error);
            return Finding::warning(
                TOPIC,
                format!("{error}; counting on several machines with {family} will fail"),
            );
        }
    };
    let have = format!("{} by {path}", short(&library));
    if family != Family::OpenMpi || !library.contains("v4.") {
        return Finding::fine(TOPIC, have);
    }
    match components {
        Some(set) if !avoids_rdma(set) => Finding::warning(
            TOPIC,
            format!(
                "{have}; OMPI_MCA_osc={set} lets it use its component rdma, which crashes in compare-and-swap; unset it, and Gyrase \
                 chooses another"
            ),
        ),
        _ => Finding::fine(
            TOPIC,
            format!(
                "{have}; its component osc/rdma crashes in compare-and-swap, so Gyrase has another one used (OMPI_MCA_osc=^rdma)"
            ),
        ),
    }
}

/// The name and version of a library, without what else it says of itself.
fn short(library: &str) -> String {
    let name = library.split(',').next().unwrap_or_default();
    name.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" Version:", "")
}

/// Whether a list of components leaves rdma out.
fn avoids_rdma(list: &str) -> bool {
    let excluded = list.strip_prefix('^');
    let names_it = excluded
        .unwrap_or(list)
        .split(',')
        .any(|name| name == "rdma");
    names_it == excluded.is_some()
}

/// Adds who started this process. The processes of a job start MPI and tell the first one what they
/// found: it gets the findings of all, the others get nothing.
pub fn together(mut findings: Vec<Finding>, output: Option<&Path>) -> Option<Vec<Finding>> {
    let job = match start(EXIT_CODES, ranks::waiting()) {
        Ok(Some(job)) => job,
        Ok(None) => {
            findings.push(alone());
            findings.extend(output.map(|output| output::tried(None, output)));
            return Some(findings);
        }
        Err(error) => {
            // Without MPI only the environment tells who is who.
            if ranks::rank().is_some_and(|rank| rank > 0) {
                return None;
            }
            findings.push(Finding::broken("launcher", Code::Mpi, error.to_string()));
            return Some(findings);
        }
    };
    let (rank, launcher) = (job.rank(), launcher(&job));
    let trial = job.try_all();
    findings.push(judge_trial(&trial));
    if trial.is_ok() {
        findings.extend(output.map(|output| output::tried(Some(&job), output)));
    }
    let told = job.gather(encode(&findings).into_bytes());
    if job.end(Ok(()), |_| ()) != Ended::Well {
        let what = match &trial {
            Err(_) => judge_trial(&trial).sentence,
            Ok(()) => "MPI failed between them".into(),
        };
        tracing::error!(
            "{launcher}, but {what}; try a program of that MPI itself, such as its examples"
        );
        // Exit handlers would wait for an MPI that has failed.
        signal_hook::low_level::exit(Code::Mpi as i32);
    }
    let lists = told.unwrap_or_default();
    let lists: Vec<String> = lists
        .iter()
        .map(|list| String::from_utf8_lossy(list).into_owned())
        .collect();
    findings.push(joined(&launcher, &lists));
    findings.extend(srun(|name| std::env::var_os(name)));
    findings.extend(elsewhere(&lists));
    (rank == 0).then_some(findings)
}

/// What the processes of a job did together.
fn judge_trial(trial: &Result<(), FabricError>) -> Finding {
    let topic = "MPI together";
    match trial {
        Ok(()) => Finding::fine(
            topic,
            "a window, fetch-and-add, compare-and-swap, an all-to-all and long messages work",
        ),
        Err(error) => {
            let set = std::env::var("OMPI_MCA_osc");
            let set = set.map_or(String::new(), |set| {
                format!("; OMPI_MCA_osc={set} is set: unset it")
            });
            Finding::broken(
                topic,
                Code::Mpi,
                format!("what counting does fails: {error}{set}"),
            )
        }
    }
}

/// What `srun` should be told; nothing where another launcher started the processes.
fn srun(environment: impl Fn(&str) -> Option<OsString>) -> Option<Finding> {
    let there = |name: &str| environment(name).is_some();
    let is_srun = there("SLURM_PROCID") && there("SLURM_STEP_NUM_TASKS");
    let is_other = there("OMPI_COMM_WORLD_LOCAL_SIZE") || there("MPI_LOCALNRANKS");
    let told = environment("SLURM_KILL_BAD_EXIT").is_some_and(|value| value == "1");
    let advice = "give it --kill-on-bad-exit: Slurm then ends all tasks when one is killed; \
                  without it Gyrase misses the dead one after half a minute";
    (is_srun && !is_other && !told).then(|| Finding::fine("srun", advice))
}

fn alone() -> Finding {
    let off = std::env::var_os("GYRASE_MPI").is_some_and(|value| value == "off");
    let why = if off {
        "GYRASE_MPI=off makes each process work by itself"
    } else {
        "none: this is one process by itself"
    };
    Finding::fine("launcher", why)
}

/// Who started the job, how its processes met, and what MPI runs.
fn launcher(job: &Job) -> String {
    let families = Launch::of_this_process()
        .ok()
        .flatten()
        .map_or(Family::ALL, |launch| launch.families);
    let family = match families {
        [family] => format!("{family}'s launcher"),
        _ => "a launcher of several kinds of MPI".into(),
    };
    let there = |name: &str| std::env::var_os(name).is_some();
    let met = match () {
        () if there("PMIX_RANK") => "PMIx",
        () if there("PMI_RANK") || there("PMI_FD") => "PMI",
        () => "the launcher's own way",
    };
    let batch = if there("SLURM_JOB_ID") {
        ", in a job of Slurm"
    } else {
        ""
    };
    format!(
        "{} by {family}{batch}, met by {met}, over {}",
        things(job.ranks() as u64, "rank"),
        short(job.library())
    )
}

/// What a process tells the first one: its machine, and in a line each what is not fine.
fn encode(findings: &[Finding]) -> String {
    let node = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let lines = findings
        .iter()
        .filter(|finding| finding.state != State::Fine);
    std::iter::once(node)
        .chain(lines.map(|finding| format!("{}: {}", finding.topic, finding.sentence)))
        .collect::<Vec<_>>()
        .join("\n")
}

fn joined(launcher: &str, lists: &[String]) -> Finding {
    let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
    lists
        .iter()
        .filter_map(|list| list.lines().next())
        .for_each(|node| *nodes.entry(node).or_default() += 1);
    let most = nodes.values().max().copied().unwrap_or(0);
    let (machines, ranks) = (
        things(nodes.len() as u64, "machine"),
        things(most as u64, "rank"),
    );
    Finding::fine(
        "launcher",
        format!("{launcher}; {machines}, up to {ranks} on each"),
    )
}

/// What is amiss on other machines than that of the first rank.
fn elsewhere(lists: &[String]) -> Vec<Finding> {
    let own: Vec<&str> = lists
        .first()
        .map_or(Vec::new(), |list| list.lines().skip(1).collect());
    let mut amiss: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (rank, list) in lists.iter().enumerate() {
        let mut lines = list.lines();
        let node = lines.next().unwrap_or_default();
        lines.filter(|line| !own.contains(line)).for_each(|line| {
            amiss.entry(line).or_insert((rank, node));
        });
    }
    amiss
        .into_iter()
        .map(|(line, (rank, node))| {
            Finding::warning("elsewhere", format!("rank {rank} on {node}: {line}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srun_is_to_end_all_with_one() {
        let advised = |names: &[&str]| {
            let environment = |name: &str| names.contains(&name).then(|| "1".into());
            srun(environment).is_some()
        };
        let srun = ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS"];
        assert!(advised(&srun) && !advised(&srun[..1]));
        assert!(!advised(&[srun[0], srun[1], "SLURM_KILL_BAD_EXIT"]));
        assert!(!advised(&[srun[0], srun[1], "MPI_LOCALNRANKS"]));
    }

    #[test]
    fn the_trap_of_open_mpi_is_named() {
        let judged = |library: &str, set| judge(Family::OpenMpi, "/x.so", Ok(library.into()), set);
        let fine = judged("Open MPI v4.1.4", None);
        assert!(
            fine.state == State::Fine && fine.sentence.contains("OMPI_MCA_osc=^rdma"),
            "{fine:?}"
        );
        assert_eq!(
            judged("Open MPI v4.1.4", Some("^rdma,ucx")).state,
            State::Fine
        );
        assert_eq!(
            judged("Open MPI v4.1.4", Some("sm,pt2pt")).state,
            State::Fine
        );
        for set in ["rdma", "rdma,sm", "^sm"] {
            let warned = judged("Open MPI v4.1.4", Some(set));
            assert!(
                warned.state == State::Warning && warned.sentence.contains("unset it"),
                "{warned:?}"
            );
        }
        assert!(
            !judged("Open MPI v5.0.1", Some("rdma"))
                .sentence
                .contains("rdma")
        );
        assert_eq!(short("MPICH Version:\t4.0.2"), "MPICH 4.0.2");
        assert_eq!(short("Open MPI v4.1.4, package: Debian"), "Open MPI v4.1.4");
        let lost = judge(
            Family::Mpich,
            "/x.so",
            Err("gyrase: error: cannot load /x.so".into()),
            None,
        );
        assert!(
            lost.state == State::Warning && lost.sentence.starts_with("cannot load /x.so; "),
            "{lost:?}"
        );
        assert!(
            none(true).sentence.contains("`gyrase mpi-setup`")
                && none(false).sentence.contains("install an MPI")
        );
    }

    #[test]
    fn what_is_amiss_elsewhere_is_said_once() {
        let lists = [
            "a\ncores: few",
            "a\ncores: few",
            "b\ncores: few\nshared memory: small",
            "b\nshared memory: small",
        ];
        let lists = lists.map(String::from);
        let found = elsewhere(&lists);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sentence, "rank 2 on b: shared memory: small");
        let all = joined("4 ranks by x", &lists);
        assert_eq!(
            all.sentence,
            "4 ranks by x; 2 machines, up to 2 ranks on each"
        );
    }

    #[test]
    fn lists_hold_what_is_not_fine() {
        let findings = [
            Finding::fine("GPU", "none"),
            Finding::warning("cores", "1 of 2"),
        ];
        let list = encode(&findings);
        assert!(
            list.ends_with("\ncores: 1 of 2") && list.lines().count() == 2,
            "{list}"
        );
    }
}
