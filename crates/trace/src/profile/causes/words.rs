//! Causes as sentences, with their figures.

use std::fmt;

use super::finding::{Cause, Finding, Who};

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            Some(rank) if !self.node.is_empty() => write!(f, "rank {rank} on {}", self.node),
            Some(rank) => write!(f, "rank {rank}"),
            None if self.many => f.write_str("each rank"),
            None => f.write_str("the process"),
        }
    }
}

/// Bytes in the unit that suits them.
struct Size(f64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"];
        let (mut amount, mut unit) = (self.0, 0);
        while amount >= 1000.0 && unit + 1 < units.len() {
            amount /= 1024.0;
            unit += 1;
        }
        let places = usize::from(unit > 0 && amount < 10.0);
        write!(f, "{amount:.places$} {}", units[unit])
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} % of the time: ", self.share * 100.0)?;
        let (who, seconds) = (&self.who, format_args!("{:.1} s", self.seconds));
        match &self.cause {
            Cause::Stopped { .. }
            | Cause::Throttled
            | Cause::Niced { .. }
            | Cause::Oversubscribed { .. }
            | Cause::Overloaded { .. }
            | Cause::Faulting { .. }
            | Cause::OffCpu => kept(f, self, seconds),
            Cause::Opening => write!(f, "{who} opens files for {seconds}"),
            Cause::SlowInput { rate } => write!(
                f,
                "{who} waits {seconds} for its input, which comes at {} a second",
                Size(*rate)
            ),
            Cause::Decompressing { stored, text } => write!(
                f,
                "{who} decompresses {} to {}, each file by one thread at a time, for {seconds}",
                Size(*stored as f64),
                Size(*text as f64)
            ),
            Cause::SlowOutput { bytes } => write!(
                f,
                "{who} writes the output ({}) for {seconds}",
                Size(*bytes as f64)
            ),
            Cause::SlowSpill { bytes, rate } => write!(
                f,
                "{who} waits {seconds} for the disk of temporary files, which moves {} a second ({} in all)",
                Size(*rate),
                Size(*bytes as f64)
            ),
            Cause::LittleMemory { bytes } => write!(
                f,
                "the memory is too small, so that {who} writes and reads temporary files of {} for {seconds}",
                Size(*bytes as f64)
            ),
            _ => waits(f, self, seconds),
        }?;
        write!(f, " (stage {})", self.stage)
    }
}

/// What keeps a rank from running.
fn kept(f: &mut fmt::Formatter<'_>, finding: &Finding, seconds: fmt::Arguments<'_>) -> fmt::Result {
    let who = &finding.who;
    match &finding.cause {
        Cause::Stopped { times, longest } => write!(
            f,
            "{who} stood still for {seconds} ({times} times, at most {longest:.1} s), because somebody stopped the process or paused its machine"
        ),
        Cause::Throttled => write!(
            f,
            "the limit of its control group kept {who} from its cores for {seconds}"
        ),
        Cause::Niced { nice } => write!(
            f,
            "{who} runs at nice {nice} and was without a core for {seconds}, because other work went first"
        ),
        Cause::Oversubscribed { threads, cores } => write!(
            f,
            "{who} was without a core for {seconds}: {threads} threads of the job share {cores} cores"
        ),
        Cause::Overloaded { others, cores } => write!(
            f,
            "{who} was without a core for {seconds}: other programs used {others:.1} of its {cores} cores"
        ),
        Cause::Faulting { faults } => write!(
            f,
            "{who} waited {seconds} for memory that was on a disk ({faults} pages)"
        ),
        _ => write!(
            f,
            "{who} had something to compute and was without a core for {seconds}"
        ),
    }
}

/// Unequal work and waits.
fn waits(
    f: &mut fmt::Formatter<'_>,
    finding: &Finding,
    seconds: fmt::Arguments<'_>,
) -> fmt::Result {
    let who = &finding.who;
    match &finding.cause {
        Cause::HeavyPartition { bytes, times } => write!(
            f,
            "{who} has one partition of {}, {times:.0} times the mean, and the others wait {seconds} for it",
            Size(*bytes as f64)
        ),
        Cause::MoreWork { counted, times } => {
            let what = if *counted {
                "partitions"
            } else {
                "files or chunks"
            };
            write!(
                f,
                "a thread of {who} works {times:.1} times as long as the mean, on more or larger {what}, and the others wait {seconds} for it"
            )
        }
        Cause::SlowCores { times } => write!(
            f,
            "{who} takes {times:.1} times the processor time of the mean for as many bytes, and the others wait {seconds} for it"
        ),
        Cause::Turns { .. } => write!(f, "threads wait {seconds} for each other"),
        Cause::ComesLast { share } => write!(
            f,
            "{who} comes last to collectives, which causes {:.0} % of the waiting there ({seconds} of each rank)",
            share * 100.0
        ),
        Cause::ManyCollectives => write!(
            f,
            "ranks wait {seconds} in collectives for the last, which is now one rank, now another"
        ),
        Cause::Starting => write!(f, "MPI takes {seconds} to start"),
        Cause::SlowCollectives => write!(f, "collective operations take {seconds} by themselves"),
        Cause::Network { rate, round } => write!(
            f,
            "the network holds up the exchange of records for {seconds}: a round takes {round:.2} s once all ranks are in it, {} a second from each rank",
            Size(*rate)
        ),
        Cause::SlowAnswers { each } => write!(
            f,
            "ranks wait {seconds} for answers of other ranks, {:.0} ms for each: the network is slow",
            each * 1e3
        ),
        Cause::SmallChunks => write!(
            f,
            "ranks wait {seconds} for answers of other ranks to \"which chunk is next?\""
        ),
        Cause::Borders => write!(
            f,
            "threads wait {seconds} for the ends of records that cross from one chunk into the next"
        ),
        _ => write!(f, "threads have nothing to do for {seconds}"),
    }
}
