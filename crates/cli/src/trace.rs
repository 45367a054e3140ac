//! `--trace`: one file of what all processes of a job did.

use std::path::Path;

use gyrase_fabric::World;
use gyrase_fabric_mpi::clock;
use gyrase_fastx::Complete;
use gyrase_files::OutputError;
use gyrase_picture::words::{self, things};
use gyrase_trace::{Alignment, Stay, TraceFile, TraceLines, Tracer, gained};

use crate::failure::Result;
use crate::sink::Sink;

/// Bytes of lines that the first process holds at a time.
const AT_ONCE: usize = 32 << 20;

/// Collectives by which clocks are compared at the end.
const COMPARISONS: usize = 8;

/// Collective. Writes the spans of all processes to `path`, which the first one makes. This
/// process's monotonic clock is `ahead` nanoseconds of the first one's. No process holds more than
/// 32 MiB of lines at a time.
///
/// # Errors
/// The file cannot be written; another process failed.
pub fn write(tracer: &Tracer, path: &Path, world: &dyn World, ahead: i64) -> Result<()> {
    let mut lines = TraceLines::new(tracer, world.rank(), align(tracer, world, ahead)?);
    let failed = |source| OutputError {
        path: path.to_path_buf(),
        source,
    };
    let mut file = (world.rank() == 0)
        .then(|| -> Result<_> {
            let file = TraceFile::begin(Sink::open(Some(path))?, world.ranks(), &command());
            Ok(file.map_err(failed)?)
        })
        .transpose()?;
    let portion = AT_ONCE / world.ranks();
    loop {
        let portion = lines.portion(portion);
        if world.max(&[u64::from(portion.is_some())])?[0] == 0 {
            break;
        }
        let portions = world.gather(portion.unwrap_or_default().into_bytes())?;
        if let Some(file) = &mut file {
            let mut portions = portions.iter();
            portions
                .try_for_each(|portion| file.add(portion))
                .map_err(failed)?;
        }
    }
    let (kept, folded) = lines.spans();
    let all = world.sum(&[kept, folded])?;
    if let Some(file) = file {
        // A run is easily traced again, and need not wait for the disk.
        let complete = file.finish().map_err(failed)?.complete()?;
        complete.map_or(Ok(()), Complete::publish_unsynced)?;
        let (spans, rest) = (things(all[0], "span"), folded_as_words(all[1]));
        tracing::info!("{}: {spans}{rest}", path.display());
    }
    Ok(())
}

/// Collective. The clock of this process, which was `ahead` of the first one's at the start.
fn align(tracer: &Tracer, world: &dyn World, ahead: i64) -> Result<Alignment> {
    let start = (tracer.clock() - ahead).max(0) as u64;
    let zero = world.min(&[start])?[0];
    let mut own: [Stay; COMPARISONS] = Default::default();
    for (entered, left) in &mut own {
        *entered = clock::now();
        world.max(&[0])?;
        *left = clock::now();
    }
    let sent = own.map(|(entered, left)| (entered as u64, left as u64));
    let first = world.broadcast_of(0, &sent)?;
    let first = first.map(|(entered, left)| (entered as i64, left as i64));
    Ok(Alignment {
        shift: start - zero,
        gained: gained(ahead, &own, &first),
        over: tracer.now(),
    })
}

fn command() -> String {
    let words: Vec<_> = std::env::args().collect();
    words.join(" ")
}

fn folded_as_words(folded: u64) -> String {
    match folded {
        0 => String::new(),
        folded => format!(
            "; of {} shorter ones there are only sums",
            words::grouped(folded)
        ),
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::{Steal, testing};

    use super::*;

    #[test]
    fn the_processes_of_a_job_write_one_file_on_one_clock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        let ahead = [0, 5_000, -3_000];
        let done = testing::run(3, Steal::On, |process| {
            // Each began a millisecond after the one before, by the clock of the first.
            let rank = process.rank();
            let clock = 50_000_000 + 1_000_000 * rank as i64 + ahead[rank];
            write(&Tracer::new(clock), &path, process, ahead[rank])
        });
        assert!(done.iter().all(Result::is_ok), "{done:?}");
        let trace = gyrase_trace::profile::read(&path, std::fs::File::open(&path)).unwrap();
        let starts: Vec<f64> = trace.stages.iter().map(|stage| stage.start).collect();
        assert_eq!((trace.ranks, starts), (3, vec![0.0, 0.001, 0.002]));
    }

    #[test]
    fn a_file_that_cannot_be_written_fails_all_processes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere/t.json");
        let done = testing::run(2, Steal::On, |process| {
            write(&Tracer::new(0), &path, process, 0)
        });
        assert!(done.iter().all(Result::is_err), "{done:?}");
        assert!(
            done[0]
                .as_ref()
                .is_err_and(|failure| failure.message.contains("nowhere")),
            "{done:?}"
        );
    }
}
