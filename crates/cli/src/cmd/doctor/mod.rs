//! `gyrase doctor`.

mod cores;
mod disks;
mod finding;
mod gpu;
mod limits;
mod mpi;
mod output;

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::things;
use serde_json::{Value, json};

use self::finding::{Finding, State};
use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase doctor
  gyrase doctor --tmp /scratch
  mpirun -n 4 gyrase doctor -o /shared/o.gyk   what a job finds and can do
  gyrase doctor --json | jq '.findings[] | select(.state != \"ok\")'";

/// Say whether Gyrase can work well here: MPI, shared memory, limits, cores, disks.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// An output of runs to come: a file beside it is written, by all processes of a job, read and
    /// removed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print what the MPI behind a shim calls itself: each is looked at by a process of its own
    #[arg(long, hide = true, value_name = "PATH")]
    shim: Option<PathBuf>,
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
        let output = self.output.as_deref();
        findings.extend(output.map(output::file_system));
        let Some(findings) = mpi::together(findings, output) else {
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
    let each = |finding: &Finding| {
        json!({
            "topic": finding.topic,
            "state": finding.state.word(),
            "sentence": finding.sentence,
        })
    };
    json!({
        "gyrase": env!("CARGO_PKG_VERSION"),
        "usable": usable,
        "findings": findings.iter().map(each).collect::<Vec<_>>(),
    })
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
