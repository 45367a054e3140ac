//! `gyrase regenerate`: the report of a search from its metadata.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser};
use gyrase_picture::words::{self, things};
use gyrase_search::{About, Config, Report, ReportFormat, SearchError, SearchMetadata, regenerate};

use super::{Search, names, warn_of_hopeless};
use crate::failure::{Code, Failure, Result};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase search q.faa --db refs.faa --metadata hits.gym           here
  gyrase regenerate hits.gym q.faa --db refs.gysd -o hits.tsv     elsewhere
  gyrase regenerate hits.gym q.faa --db refs.gysd --format 5 -o hits.xml

The report has the bytes that the search would have written, in any format. The
database may be in other files, as BLAST's or a .gysd, with the same sequences
in the same order; one that gives another answer is refused (exit code 2), and
then nothing is written.";

/// Make the report of a search from its metadata, where a replica of the database is.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Regenerate {
    /// What `gyrase search --metadata` wrote
    #[arg(value_name = "METADATA")]
    pub metadata: PathBuf,

    /// The sequences that were searched for
    #[arg(value_name = "QUERIES", required = true)]
    pub queries: Vec<PathBuf>,

    /// A replica of the database that was searched: the same sequences in the same order
    #[arg(long, value_name = "DB", required = true, num_args = 1..)]
    pub db: Vec<PathBuf>,

    /// File to write, compressed if its name ends so [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Format, as of `gyrase search` [default: the one that was asked of the search]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,

    /// NCBI dump or table of lineages, if the search was of some taxids and named one
    #[arg(long, value_name = "PATH")]
    pub taxonomy: Option<PathBuf>,
}

/// A search that is to be made again.
pub(super) struct Understood {
    pub metadata: SearchMetadata,
    pub search: Search,
    pub config: Config,
    pub report: Report,
}

/// The words of a search.
#[derive(Parser)]
struct Words {
    #[command(flatten)]
    search: Search,
}

impl Regenerate {
    /// Writes the report.
    pub fn run(self, session: &Session) -> Result<()> {
        let Understood {
            metadata,
            search,
            config,
            report,
        } = self.understood(session)?;
        session.leaves(config.waiting.leftovers(0, None));
        let summary = search.write(&report, session, |progress, each| {
            regenerate(&config, &metadata, progress, each)
        })?;
        warn_of_hopeless(&summary);
        search.note(session, &summary);
        session.note("metadata", names(&[self.metadata]));
        tracing::info!(
            "{} of {} made again, {} with {}, {}",
            things(summary.hits, "hit"),
            things(summary.queries, "query sequence"),
            words::grouped(summary.with_hits),
            things(summary.searched, "subject"),
            words::time(session.elapsed())
        );
        Ok(())
    }

    /// What all this means.
    pub(super) fn understood(&self, session: &Session) -> Result<Understood> {
        session.keep_apart([&self.metadata], &self.output)?;
        let metadata = SearchMetadata::read(&self.metadata).map_err(SearchError::from)?;
        let search = self.search(&metadata)?;
        search.check_inputs(session)?;
        let config = search.config(session)?;
        let about = About {
            database: metadata.database().into(),
            ..search.about()
        };
        Ok(Understood {
            report: Report::new(search.format.clone(), about),
            metadata,
            search,
            config,
        })
    }

    /// The search of which these are the metadata, on the files that are here.
    fn search(&self, metadata: &SearchMetadata) -> Result<Search> {
        let mut words: Vec<OsString> = vec!["search".into()];
        words.extend(metadata.parameters().iter().map(OsString::from));
        words.push("--db".into());
        words.extend(self.db.iter().map(OsString::from));
        words.push("--".into());
        words.extend(self.queries.iter().map(OsString::from));
        let Words { mut search } = Words::try_parse_from(words).map_err(|error| {
            let path = self.metadata.display();
            let message = format!("{path}: its parameters are not understood: {error}");
            Failure::new(Code::Input, message)
        })?;
        let options = &mut search.options;
        options.program = metadata.program().or(options.program);
        search.output.clone_from(&self.output);
        search.taxa.taxonomy.clone_from(&self.taxonomy);
        if let Some(format) = &self.format {
            search.format = format.clone();
        }
        Ok(search)
    }
}
