//! Exact matches between a reference and queries: MUMmer's job.

mod columns;
mod dots;
mod queries;
mod seeds;
mod unique;

use std::io::Write;
use std::path::PathBuf;

use gyrase_work::{Progress, in_order};

pub use columns::MatchFormat;
pub use dots::Dots;
pub use seeds::ExactMatch;

use columns::Columns;
use queries::{Chunk, Strand, Supply, UNLIKE, Wanted};
use seeds::{Sampling, Seeds};

use crate::error::{BASE, Error, admit};
use crate::sort::SENTINEL;
use crate::texts::Texts;

/// Which maximal exact matches are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchKind {
    /// All (MEMs).
    #[default]
    All,
    /// Those whose letters occur once in the reference.
    UniqueInReference,
    /// Those whose letters occur once in the reference and once in the strand of the query (MUMs).
    Unique,
}

/// What is matched, and how.
#[derive(Clone, Debug)]
pub struct Config {
    /// Files of queries: FASTA or FASTQ.
    pub queries: Vec<PathBuf>,
    /// Letters of the shortest match that is told, at least 1.
    pub least: usize,
    /// Which matches are told.
    pub kind: MatchKind,
    /// Whether the reverse complement of each query is matched too.
    pub both_strands: bool,
    /// How matches are written.
    pub format: MatchFormat,
    /// Threads that may work, at least 1.
    pub threads: usize,
    /// Bytes of memory that the run may take.
    pub memory: u64,
}

/// What a run found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Queries, and their letters.
    pub queries: u64,
    /// Letters of all queries.
    pub query_letters: u64,
    /// Matches that were told.
    pub matches: u64,
    /// Their letters.
    pub matched: u64,
    /// The letters of the longest.
    pub longest: u64,
}

/// What was made of a chunk.
#[derive(Default)]
struct Told {
    lines: Vec<u8>,
    summary: Summary,
    dots: Option<Dots>,
}

impl Told {
    /// Forgets the chunk before.
    fn begin(&mut self, blank: Option<&Dots>) {
        self.lines.clear();
        self.summary = Summary::default();
        self.dots = blank.cloned();
    }
}

/// Matches queries to a reference, and writes the matches to `out`: by query, in the order of the
/// files, strand, place in the query and place in the reference. `dots`, if wanted, takes what a
/// picture of them needs.
///
/// # Errors
/// A query cannot be read, `out` cannot be written, the memory does not suffice.
pub fn run(
    config: &Config,
    reference: &Texts,
    out: &mut dyn Write,
    mut dots: Option<&mut Dots>,
    progress: &Progress,
) -> Result<Summary, Error> {
    if config.both_strands {
        reference.has_strands()?;
    }
    let sampling = sampling(config, reference)?;
    progress.start("index", 0);
    let seeds = Seeds::of(&reference.letters, sampling, SENTINEL);
    let wanted = Wanted {
        paths: &config.queries,
        letters: reference.kind,
        both_strands: config.both_strands,
        whole_strands: config.kind != MatchKind::All,
        memory: config.memory,
        without: config.memory_for(reference.letters.len() as u64, 0) - queries::memory(0, false),
    };
    let sizes = config
        .queries
        .iter()
        .filter_map(|path| path.metadata().ok());
    progress.start("match", sizes.map(|there| there.len()).sum());
    let columns = Columns::new(reference, config.format);
    let mut summary = Summary::default();
    let blank = dots.as_deref().map(Dots::blank);
    in_order(
        config.threads,
        Supply::new(wanted, progress),
        progress,
        || (Vec::new(), blank.clone()),
        |(matches, blank), chunk, told: &mut Told| {
            told.begin(blank.as_ref());
            tell(config, &seeds, &columns, chunk, matches, told);
            Ok(())
        },
        |_, told: &mut Told| {
            summary.add(&told.summary);
            if let Some((dots, more)) = dots.as_deref_mut().zip(told.dots.take()) {
                dots.merge(more);
            }
            out.write_all(&told.lines).map_err(Error::Sink)
        },
    )?;
    Ok(summary)
}

/// The sampling for a run that may take the memory.
fn sampling(config: &Config, reference: &Texts) -> Result<Sampling, Error> {
    let letters = reference.letters.len();
    let sampling = Sampling::best(config.least, letters, letters);
    let (most, found) = (Seeds::longest(sampling), letters as u64);
    if found > most {
        return Err(Error::TooLong {
            what: "matching with so short a least length",
            most,
            found,
        });
    }
    admit("matching", config.memory_for(found, 0), config.memory)?;
    Ok(sampling)
}

impl Config {
    /// Bytes of memory that a run takes for a reference of so many letters, and a longest query of
    /// so many.
    pub fn memory_for(&self, reference: u64, query: u64) -> u64 {
        let length = usize::try_from(reference).unwrap_or(usize::MAX);
        let sampling = Sampling::best(self.least, length, length);
        let lines = self.threads as u64 * (4 << 20);
        let queries = queries::memory(query, self.both_strands);
        BASE + reference + Seeds::memory(sampling, length) + queries + lines
    }
}

/// Matches a chunk.
fn tell(
    config: &Config,
    seeds: &Seeds,
    columns: &Columns,
    chunk: &Chunk,
    matches: &mut Vec<ExactMatch>,
    told: &mut Told,
) {
    let Chunk {
        queries,
        letters,
        strands,
    } = chunk;
    matches.clear();
    if config.kind == MatchKind::All {
        seeds.find(&queries.letters, letters.clone(), config.least, matches);
    }
    let mut next = 0;
    for strand in &queries.strands[strands.clone()] {
        if letters.contains(&strand.letters.start) {
            columns.begin(queries, strand, &mut told.lines);
            told.summary.queries += u64::from(!strand.reverse);
            told.summary.query_letters += u64::from(!strand.reverse) * strand.letters.len() as u64;
            if let Some(dots) = &mut told.dots {
                dots.begin(strand);
            }
        }
        if config.kind != MatchKind::All {
            (next, *matches) = (0, unique_of(config, seeds, &queries.letters, strand));
        }
        let own = &matches[next..];
        let own = &own[..own.partition_point(|found| found.query < strand.letters.end)];
        next += own.len();
        for found in own {
            columns.line(queries, strand, found, &mut told.lines);
            told.summary.add_match(found);
            if let Some(dots) = &mut told.dots {
                dots.add(strand, found);
            }
        }
    }
}

/// The matches of a whole strand that are unique.
fn unique_of(config: &Config, seeds: &Seeds, letters: &[u8], strand: &Strand) -> Vec<ExactMatch> {
    let mut matches = Vec::new();
    seeds.find(letters, strand.letters.clone(), config.least, &mut matches);
    unique::keep_unique(&mut matches, config.kind == MatchKind::Unique);
    matches
}

impl Summary {
    fn add(&mut self, other: &Summary) {
        self.queries += other.queries;
        self.query_letters += other.query_letters;
        self.matches += other.matches;
        self.matched += other.matched;
        self.longest = self.longest.max(other.longest);
    }

    fn add_match(&mut self, found: &ExactMatch) {
        self.matches += 1;
        self.matched += found.length as u64;
        self.longest = self.longest.max(found.length as u64);
    }
}

/// The matches of at least `least` letters between the texts of a set and a query, by place in the
/// query and in the text of the set.
///
/// ```
/// use gyrase_suffix::matching::{ExactMatch, matches};
/// use gyrase_suffix::{Letters, Texts};
///
/// let mut reference = Texts::new(Letters::Bases);
/// reference.push(b"ref", 0, b"GATTACAGATT");
/// let found = matches(&reference, b"CCGATTCC", 4)?;
/// let of = |reference| ExactMatch { query: 2, reference, length: 4 };
/// assert_eq!(found, [of(0), of(7)]);
/// # Ok::<(), gyrase_suffix::Error>(())
/// ```
///
/// # Errors
/// The texts are too long for an index of such short matches.
pub fn matches(reference: &Texts, query: &[u8], least: usize) -> Result<Vec<ExactMatch>, Error> {
    let config = Config {
        queries: Vec::new(),
        least,
        kind: MatchKind::All,
        both_strands: false,
        format: MatchFormat::default(),
        threads: 1,
        memory: u64::MAX,
    };
    let stored = reference.kind.stored(UNLIKE);
    let letters = query.iter().map(|&letter| stored[usize::from(letter)]);
    let query: Vec<u8> = letters.collect();
    let seeds = Seeds::of(&reference.letters, sampling(&config, reference)?, SENTINEL);
    let mut found = Vec::new();
    seeds.find(&query, 0..query.len(), least, &mut found);
    Ok(found)
}
