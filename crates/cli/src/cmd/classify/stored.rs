//! Candidates that are stored for later, and those that were.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_classify::{Collection, Lane, Rule, store_in};
use gyrase_files::OutputFile;
use gyrase_picture::words::things;

use super::answer::{of_lanes, settle};
use super::conflicts::{OF_ANSWERS, OF_READS, OF_READS_ALONE};
use super::gpu;
use super::thresholds::Thresholds;
use crate::failure::Result;
use crate::session::Session;

/// Candidates in files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Databases apart")]
pub struct Stored {
    /// Answer nothing; store each read with what the databases have of it in a file, for --merge
    #[arg(long, value_name = "FILE.gyc", conflicts_with_all = OF_ANSWERS)]
    #[arg(conflicts_with_all = ["locations", "drop_least_covered"])]
    #[arg(conflicts_with_all = Thresholds::NAMES)]
    pub candidates: Option<PathBuf>,

    /// Instead of reads: files that --candidates wrote of the same reads with one database after
    /// the other; the answers are those of all databases together
    #[arg(long, value_name = "FILES.gyc", num_args = 1.., conflicts_with_all = OF_READS)]
    pub merge: Vec<PathBuf>,

    /// Instead of reads: the answers of an earlier run, or of Kraken 2, with the database they are
    /// of; they and their reports are made again, with a higher --confidence (which takes answers
    /// --with-confidence) or --lowest-rank
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_READS_ALONE)]
    pub answers: Option<PathBuf>,
}

/// Stores the candidates of the reads in `path`.
pub fn keep(path: &Path, lane: &Lane, collection: &Collection, session: &Session) -> Result<()> {
    let config = of_lanes(
        collection,
        std::slice::from_ref(lane),
        Rule::default(),
        session,
    );
    settle(&config, session)?;
    if path.as_os_str() == "-" {
        return Err(crate::failure::Failure::usage(
            "stored candidates cannot go to standard output, since they appear whole or not at \
             all; name a file, such as --candidates x.gyc",
        ));
    }
    // What cannot be written is found out before all passes.
    if session.is_first() {
        drop(OutputFile::create(path)?);
    }
    let reads = session.shown(|progress| store_in(&config, session.world(), path, progress))?;
    gpu::tell(collection, session);
    session.note("output", path.display().to_string());
    let read = if lane.is_paired() { "pair" } else { "read" };
    tracing::info!("{} stored in {}", things(reads, read), path.display());
    Ok(())
}
