//! `gyrase doctor`.

mod cores;
mod disks;
mod gpu;
mod limits;
mod mpi;

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::things;
use serde_json::{Value, json};

use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase doctor
  gyrase doctor --tmp /scratch
  mpirun -n 4 gyrase doctor                    what the processes of a job find
  gyrase doctor --json | jq '.findings[] | select(.state != \"ok\")'";

/// Say whether Gyrase can work well here: MPI, shared memory, limits, cores, disks.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print what the MPI behind a shim calls itself: each is looked at by a process of its own
    #[arg(long, hide = true, value_name = "PATH")]
    shim: Option<PathBuf>,
}

/// What was found out about one thing.
#[derive(Debug)]
pub struct Finding {
    /// The thing.
    topic: &'static str,
    /// How it is.
    state: State,
    /// What there is, what it means, what to do.
    sentence: String,
}

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Fine,
    /// Some runs will be slower, or fail.
    Warning,
    /// Runs of this kind will fail, with this exit code.
    Broken(Code),
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Fine => "ok",
            State::Warning => "warning",
            State::Broken(_) => "broken",
        }
    }
}

impl Finding {
    fn fine(topic: &'static str, sentence: impl Into<String>) -> Finding {
        Finding {
            topic,
            state: State::Fine,
            sentence: sentence.into(),
        }
    }

    fn warning(topic: &'static str, sentence: impl Into<String>) -> Finding {
        Finding {
            topic,
            state: State::Warning,
            sentence: sentence.into(),
        }
    }

    fn broken(topic: &'static str, code: Code, sentence: impl Into<String>) -> Finding {
        Finding {
            topic,
            state: State::Broken(code),
            sentence: sentence.into(),
        }
    }
}

impl Doctor {
    /// Looks at the machine and says what it found; fails where Gyrase cannot be used.
    pub fn run(self, session: &Session) -> Result<()> {
        if let Some(shim) = &self.shim {
            let library =
                gyrase_fabric_mpi::library(shim).map_err(|error| Failure::new(Code::Mpi, error))?;
            return sink::write_all(None, format!("{library}\n").as_bytes());
        }
        let mut findings = vec![
            cores::kernels(),
            cores::cores(),
            limits::memory(),
            limits::locked(),
            limits::files(),
        ];
        findings.extend([
            disks::shared_memory(),
            disks::temporary(&session.tmp),
            gpu::gpu(),
        ]);
        findings.extend(mpi::libraries());
        let Some(findings) = mpi::together(findings) else {
            return Ok(());
        };
        session.note("counts", facts(&findings));
        let text = if self.json {
            format!("{:#}\n", facts(&findings))
        } else {
            table(&findings)
        };
        sink::write_all(None, text.as_bytes())?;
        verdict(&findings)
    }
}

fn verdict(findings: &[Finding]) -> Result<()> {
    let broken = findings.iter().find_map(|finding| match finding.state {
        State::Broken(code) => Some((code, finding.topic)),
        _ => None,
    });
    match broken {
        Some((code, topic)) => Err(Failure::new(
            code,
            format!("Gyrase cannot be used here until this is mended: {topic}"),
        )),
        None => Ok(()),
    }
}

fn table(findings: &[Finding]) -> String {
    let row = |finding: &Finding| {
        format!(
            "{:<9}{:<16}{}\n",
            finding.state.word(),
            finding.topic,
            finding.sentence
        )
    };
    let rows: String = findings.iter().map(row).collect();
    let warnings = findings
        .iter()
        .filter(|finding| finding.state == State::Warning)
        .count();
    let broken = findings.len()
        - warnings
        - findings
            .iter()
            .filter(|finding| finding.state == State::Fine)
            .count();
    let verdict = match (broken, warnings) {
        (0, 0) => "Gyrase can be used here.".into(),
        (0, warnings) => format!(
            "Gyrase can be used here, with {}.",
            things(warnings as u64, "warning")
        ),
        _ => "Gyrase cannot be used here yet.".to_string(),
    };
    format!("{rows}\n{verdict}\n")
}

fn facts(findings: &[Finding]) -> Value {
    let usable = !findings
        .iter()
        .any(|finding| matches!(finding.state, State::Broken(_)));
    let each = |finding: &Finding| json!({"topic": finding.topic, "state": finding.state.word(), "sentence": finding.sentence});
    json!({"gyrase": env!("CARGO_PKG_VERSION"), "usable": usable, "findings": findings.iter().map(each).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_decides() {
        let fine = || Finding::fine("cores", "2 cores.");
        let (warning, broken) = (
            Finding::warning("limits", "few."),
            Finding::broken("MPI", Code::Mpi, "no shim."),
        );
        let findings = [fine(), warning];
        assert!(verdict(&findings).is_ok() && facts(&findings)["usable"] == true);
        assert!(
            table(&findings).ends_with("\nGyrase can be used here, with 1 warning.\n"),
            "{}",
            table(&findings)
        );
        let findings = [fine(), broken];
        assert_eq!(verdict(&findings).unwrap_err().code, Code::Mpi);
        assert!(facts(&findings)["usable"] == false && table(&findings).contains("cannot be used"));
    }
}
