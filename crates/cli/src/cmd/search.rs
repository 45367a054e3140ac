//! `gyrase search`.

mod culling;
mod masks;
mod nucleotide;
mod numbers;
mod options;
mod parameters;
mod plan;
pub mod plan_regenerate;
mod protein;
pub mod regenerate;
mod translation;
mod why;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gyrase_fabric::World;
use gyrase_files::OutputError;
use gyrase_picture::words::{self, grouped, things};
use gyrase_search::{
    About, Config, DocumentFiles, QueryHits, Report, ReportFormat, ReportTarget, Summary,
    TaxidFilter, WaitingText, explain, run, run_in,
};
use gyrase_tabulate::spill_path;
use gyrase_work::Progress;
use serde_json::json;

use masks::Masks;
pub use options::{SearchOptions, Taxids};
use parameters::metadata_format;

use crate::failure::{Failure, Result};
use crate::places;
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase search proteins.faa --db refs.faa -o hits.tsv
  gyrase search proteins.faa --db refs.faa -o hits.tsv.gz --evalue 1e-5 --top 25
  gyrase search proteins.faa --db refs.faa --max-hsps 1 --query-cover 80
  gyrase search proteins.faa --db refs.faa --format '6 std qcovs stitle'
  gyrase search proteins.faa --db refs.faa --format 5 -o hits.xml.gz
  gyrase search proteins.faa --db refs.faa --format html -o hits.html
  gyrase search proteins.faa --db refs.gysd nr more.faa --taxid 1239,1224
  gyrase search proteins.faa --db refs.faa -o hits.tsv --resume
  gyrase search proteins.faa --db refs.faa --why protein7 ref12
  mpirun -n 8 gyrase search proteins.faa --db refs.faa -o hits.tsv
  gyrase search genes.fna --db genomes.fna -o hits.tsv
  gyrase search contigs.fna --db genomes.fna --program megablast
  gyrase search genes.fna --db genomes.fna --db-mask soft
  gyrase blastp -query proteins.faa -db refs.faa -evalue 1e-5 -outfmt 6
  gyrase search reads.fna --db refs.faa --evalue 1e-5
  gyrase search proteins.faa --db genomes.fna --db-gencode 11
  gyrase search peptides.faa --db refs.faa --program blastp-short

Each line of the table is an alignment, in the columns of BLAST's format 6:
query, subject, percent of identical residues, length, residues that differ,
gaps, first and last residue of the query, of the subject, E-value, bit score.
Scores, E-values and their order are those of blastp, blastx, tblastn, tblastx,
or blastn with the task of the same name, with their defaults.";

/// Queries that are named where they can have no hits.
const HOPELESS_TOLD: usize = 10;

/// Search a database of proteins or nucleotides for the relatives of others.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Search {
    /// Sequences to search for; FASTA or FASTQ, plain or compressed; `-` for a pipe, `@list` for a
    /// list of files
    #[arg(value_name = "QUERIES", required = true)]
    queries: Vec<PathBuf>,

    /// What to search in, together the database: FASTA files, `.gysd` of `gyrase index`, BLAST
    /// databases by their name without endings, `@list` for a list of such
    #[arg(long, value_name = "DB", required = true, num_args = 1..)]
    db: Vec<PathBuf>,

    #[command(flatten)]
    taxa: Taxa,

    /// File to write, compressed if its name ends so [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Format, as BLAST numbers them: 0 is text, 1 to 4 text along the query, 6 a table, 7 one with
    /// comments, 10 has commas, 5 and 16 are XML, 15 is JSON, 13 and 14 are 15 and 16 in a file for
    /// each query, 17 is SAM; or jsonl, paf, fasta (what is aligned of subjects), html (a page);
    /// behind a table's number may stand columns and what divides them: "6 delim=; std qseq sseq"
    #[arg(long, value_name = "FORMAT", default_value = "6")]
    format: ReportFormat,

    /// File for metadata, from which gyrase regenerate makes any report where a replica of the
    /// database is; with -o beside the report, else instead of it
    #[arg(long, value_name = "FILE", conflicts_with = "why")]
    metadata: Option<PathBuf>,

    /// Keep all alignments in --metadata too: these get larger, and gyrase regenerate makes reports
    /// without a search
    #[arg(long, requires = "metadata")]
    metadata_alignments: bool,

    /// Say what becomes of this query and this subject, step by step, and search no more
    #[arg(long, num_args = 2, value_names = ["QUERY", "SUBJECT"])]
    why: Vec<String>,

    /// Keep what is finished in --tmp, and go on from what an earlier run of this search kept
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    options: SearchOptions,
}

/// Which subjects are meant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Taxa")]
struct Taxa {
    #[command(flatten)]
    taxids: Taxids,

    /// NCBI dump or table of lineages that says what is below a taxid [default: the taxa that the
    /// `.gysd` databases have]
    #[arg(long, value_name = "PATH")]
    taxonomy: Option<PathBuf>,
}

impl Taxa {
    /// Says how many sequences were searched.
    fn say(&self, summary: &Summary) {
        if self.taxids.filter().is_empty() {
            return;
        }
        let (some, all) = (
            grouped(summary.searched),
            things(summary.subjects, "sequence"),
        );
        tracing::info!("searched {some} of {all}, by their taxids");
        if summary.literal_taxids {
            tracing::warn!(
                "nothing says what is below a taxid, so each stood for itself alone; name a dump \
                 with --taxonomy, or build a .gysd with one"
            );
        }
    }

    fn filter(&self) -> Result<TaxidFilter> {
        let taxonomy = self.taxonomy.as_ref();
        let taxonomy = taxonomy
            .map(|path| gyrase_taxonomy::read(path))
            .transpose()?;
        Ok(TaxidFilter {
            taxonomy: taxonomy.map(|source| source.taxonomy),
            ..self.taxids.filter()
        })
    }
}

impl Search {
    /// Writes the hits.
    pub fn run(mut self, session: &Session) -> Result<()> {
        self.check_inputs(session)?;
        self.check_metadata(session)?;
        if self.output.is_none() && self.metadata.is_some() {
            self.output = self.metadata.take();
            self.format = metadata_format(session, self.metadata_alignments);
        }
        let config = self.config(session)?;
        if let [query, subject] = &self.why[..] {
            let names = [query.as_str(), subject.as_str()];
            let found = session.shown(|progress| explain(&config, names, progress))?;
            return match session.is_first() {
                true => why::print(names, &found),
                false => Ok(()),
            };
        }
        let report = Report::new(self.format.clone(), self.about());
        let found = match session.job() {
            None if !self.resume => {
                session.leaves(config.waiting.leftovers(0, None));
                Some(self.write(&report, session, |progress, each| {
                    run(&config, progress, each)
                })?)
            }
            _ => self.share(session.world(), &config, &report, session)?,
        };
        session.note_ranks()?;
        let Some(summary) = found else {
            return Ok(());
        };
        if summary.queries == 0 {
            let queries = names(&self.queries).join(", ");
            tracing::warn!("there are no queries in {queries}");
        }
        warn_of_hopeless(&summary);
        Masks::warn(&summary);
        self.note(session, &summary);
        self.taxa.say(&summary);
        tracing::info!(
            "{} in {} ({} letters): {} with {}, {}",
            things(summary.queries, "query sequence"),
            things(summary.subjects, "sequence"),
            grouped(summary.letters),
            grouped(summary.with_hits),
            things(summary.hits, "hit"),
            words::time(session.elapsed())
        );
        Ok(())
    }

    fn check_inputs(&self, session: &Session) -> Result<()> {
        let output = places::or_standard_output(&self.output);
        if self.format.documents().is_some() && !places::is_plain(output) {
            return Err(Failure::usage(
                "formats 13 and 14 are a file for each query: name the list of them with -o, not \
                 compressed, or choose 15 or 16, the same in one file",
            ));
        }
        let inputs = self
            .queries
            .iter()
            .chain(&self.db)
            .chain(&self.taxa.taxonomy);
        session.keep_apart(inputs.clone(), &self.output)?;
        if inputs.filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Failure::usage(
                "standard input can be read once: name a file for the queries or for --db",
            ));
        }
        Ok(())
    }

    fn check_metadata(&self, session: &Session) -> Result<()> {
        let Some(path) = &self.metadata else {
            return Ok(());
        };
        session.keep_apart(self.queries.iter().chain(&self.db), &self.metadata)?;
        if !places::is_plain(path) {
            return Err(Failure::usage(
                "--metadata is a file as it is: name one that is not compressed",
            ));
        }
        if self.output.is_some() && (self.resume || session.job().is_some()) {
            return Err(Failure::usage(
                "several processes, or a run with --resume, write metadata instead of a report: \
                 leave -o out, and have gyrase regenerate make the report",
            ));
        }
        Ok(())
    }

    fn config(&self, session: &Session) -> Result<Config> {
        Ok(Config {
            queries: self.queries.clone(),
            subjects: self.db.clone(),
            taxids: self.taxa.filter()?,
            waiting: self.waiting(session)?,
            memory: session.memory,
            threads: session.threads,
            ..self.options.config()
        })
    }

    /// Writes the answers that `find` gives, in this process alone.
    fn write(
        &self,
        report: &Report,
        session: &Session,
        find: impl FnOnce(&Progress, Each) -> Result<Summary>,
    ) -> Result<Summary> {
        let beside = self.metadata.as_deref().map(|path| {
            let metadata = Report::new(
                metadata_format(session, self.metadata_alignments),
                self.about(),
            );
            (metadata, path)
        });
        let mut written = vec![(report, self.place()?)];
        if let Some((metadata, path)) = &beside {
            written.push((metadata, Place::Sink(Sink::open(Some(path))?)));
        }
        let mut write = |answer: &QueryHits| {
            self.format.suits(answer.program).map_err(Failure::usage)?;
            for (report, place) in &mut written {
                let written = report.answer(place, answer);
                written.map_err(|source| place.error(source))?;
            }
            Ok(())
        };
        let summary = session.shown(|progress| find(progress, &mut write))?;
        for (report, place) in &mut written {
            let written = report.finish(place, summary.queries as usize);
            written.map_err(|source| place.error(source))?;
        }
        written
            .into_iter()
            .try_for_each(|(_, place)| place.finish())?;
        Ok(summary)
    }

    /// Where the text of the report goes in the first process.
    fn place(&self) -> Result<Place> {
        Ok(match self.format.documents() {
            None => Place::Sink(Sink::open(self.output.as_deref())?),
            Some(syntax) => {
                let list = places::or_standard_output(&self.output);
                Place::Documents(DocumentFiles::create(syntax, list)?)
            }
        })
    }

    /// Searches in all processes of a job, or so that a later run can go on.
    fn share(
        &self,
        world: &dyn World,
        config: &Config,
        report: &Report,
        session: &Session,
    ) -> Result<Option<Summary>> {
        let several = world.ranks() > 1;
        if several {
            places::refuse_standard_input(self.queries.iter().chain(&self.db))?;
        }
        let output = places::or_standard_output(&self.output);
        if self.resume && !places::is_file(output) {
            return Err(Failure::usage(
                "--resume goes on with a file: name one with -o",
            ));
        }
        let is_whole = places::is_plain(output) && self.format.documents().is_none();
        let target = is_whole.then_some(output.as_path());
        if several && !self.resume {
            session.leaves(config.waiting.leftovers(world.rank(), target));
        }
        let run =
            |target| session.shown(|progress| run_in(config, report, world, target, progress));
        if let Some(path) = target {
            return Ok(run(ReportTarget::File(path))?);
        }
        let mut place = match session.is_first() {
            true => self.place()?,
            false => Place::Sink(Sink::NOWHERE),
        };
        let found = run(ReportTarget::Stream(&mut |text| {
            let written = place.write_all(text);
            written.map_err(|source| place.error(source))
        }))?;
        if found.is_some() {
            place.finish()?;
        }
        Ok(found)
    }

    /// Where text waits, and what is found in parts of the database.
    fn waiting(&self, session: &Session) -> Result<WaitingText> {
        let tmp = match self.resume {
            true => session.tmp_folder()?,
            false => session.tmp.as_path(),
        };
        let output = places::or_standard_output(&self.output);
        Ok(WaitingText {
            folder: spill_path(tmp, "gyrase-search", output),
            limit: session.max_tmp,
            resume: self.resume,
        })
    }

    fn about(&self) -> About {
        About {
            program: concat!("gyrase ", env!("CARGO_PKG_VERSION")).into(),
            database: names(&self.db).join(" "),
            evalue: self.options.evalue,
        }
    }

    fn note(&self, session: &Session, summary: &Summary) {
        session.note("inputs", names(&self.queries));
        session.note("database", names(&self.db));
        let counts = json!({
            "queries": summary.queries, "with_hits": summary.with_hits, "hits": summary.hits,
            "subjects": summary.subjects, "searched": summary.searched, "residues": summary.letters,
        });
        session.note("counts", counts);
    }
}

/// What takes the answer of each query.
type Each<'e> = &'e mut dyn FnMut(&QueryHits) -> Result<()>;

/// Where the text of a report goes.
enum Place {
    Sink(Sink),
    /// A file for each query.
    Documents(DocumentFiles),
}

impl Place {
    /// Writes everything and gives files their names.
    fn finish(mut self) -> Result<()> {
        self.flush().map_err(|source| self.error(source))?;
        match self {
            Place::Sink(sink) => sink.finish(),
            Place::Documents(files) => Ok(files.finish()?),
        }
    }

    /// Names the target in an error of the system.
    fn error(&self, source: io::Error) -> OutputError {
        match self {
            Place::Sink(sink) => sink.error(source),
            Place::Documents(files) => files.error(source),
        }
    }
}

impl Write for Place {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        match self {
            Place::Sink(sink) => sink.write(text),
            Place::Documents(files) => files.write(text),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Place::Sink(sink) => sink.flush(),
            Place::Documents(files) => files.flush(),
        }
    }
}

/// Names queries that can have no hits, the first of many.
fn warn_of_hopeless(summary: &Summary) {
    let (told, others) = summary
        .hopeless
        .split_at(summary.hopeless.len().min(HOPELESS_TOLD));
    told.iter().for_each(|query| tracing::warn!("{query}"));
    if !others.is_empty() {
        let more = things(others.len() as u64, "more query sequence");
        tracing::warn!("{more} can have no hits, for reasons like these");
    }
}

pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().map(|path| path.display().to_string());
    names.collect()
}
