//! Classifies reads: sketches, locations, candidates, a taxon each (thesis, section 6.4.3).

use std::io::Write;

use gyrase_fabric::Progress;
use gyrase_kmer::Sketcher;
use gyrase_seq::Batch;
use gyrase_table::gydb::GydbError;
use gyrase_tabulate::{Source, TabulateError, in_order};

use crate::candidates::{Candidate, Hit, best_regions, hit};
use crate::decide::{Judge, Rule};
use crate::index::Index;
use crate::tally::Tally;
use crate::taxonomy::Taxon;

/// How to classify.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// When a read is classified.
    pub rule: Rule,
    /// Letters that a pair spans on its target when that is more than its own.
    pub insert: usize,
    /// Threads, at least 1.
    pub threads: usize,
}

/// Why reads could not be classified.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The reads cannot be read, or the run was cancelled.
    #[error(transparent)]
    Reads(#[from] TabulateError),
    /// The database is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// The place where answers go does not take them.
    #[error("cannot write the answers: {0}")]
    Sink(#[source] std::io::Error),
}

/// What was classified.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Reads, or pairs, by taxon.
    pub tally: Tally,
    /// Their letters.
    pub letters: u64,
}

/// Classifies the reads of `source` and writes a line for each to `sink`, in their order, in Kraken's five columns: `C` or `U`, name, taxid,
/// letters (`|` between mates), and the hits of the candidates by taxid.
///
/// # Errors
/// See [`QueryError`].
pub fn classify(
    index: &Index,
    source: Source,
    config: &Config,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    let mut summary = Summary { tally: Tally::new(), letters: 0 };
    let start = || Classifier::new(index, config);
    let work = |classifier: &mut Classifier, batches: &[Batch; 2]| classifier.answer(batches);
    in_order(config.threads, source, progress, start, work, |batches, answers| -> Result<(), QueryError> {
        let answers = answers?;
        sink.write_all(&answers.text).map_err(QueryError::Sink)?;
        summary.tally.merge(&answers.tally);
        summary.letters += answers.letters;
        progress.advance(batches[0].records.len() as u64);
        Ok(())
    })?;
    Ok(summary)
}

/// The answers for a batch.
struct Answers {
    text: Vec<u8>,
    tally: Tally,
    letters: u64,
}

/// One thread's classifier: what it needs is kept from batch to batch.
struct Classifier<'i> {
    index: &'i Index,
    config: &'i Config,
    sketcher: Sketcher,
    features: Vec<u32>,
    /// Where the features of each read end.
    ends: Vec<usize>,
    hits: Vec<Hit>,
    candidates: Vec<Candidate>,
    judge: Judge,
    /// Taxids of the candidates of a read, and their hits.
    shown: Vec<(u32, usize)>,
}

impl<'i> Classifier<'i> {
    fn new(index: &'i Index, config: &'i Config) -> Classifier<'i> {
        Classifier {
            index,
            config,
            sketcher: Sketcher::new(index.parameters.sketch),
            features: Vec::new(),
            ends: Vec::new(),
            hits: Vec::new(),
            candidates: Vec::new(),
            judge: Judge::default(),
            shown: Vec::new(),
        }
    }

    fn answer(&mut self, batches: &[Batch; 2]) -> Result<Answers, GydbError> {
        self.sketch(batches);
        let mut answers = Answers { text: Vec::new(), tally: Tally::new(), letters: 0 };
        let (features, ends) = (std::mem::take(&mut self.features), std::mem::take(&mut self.ends));
        let mut read = 0;
        let looked_up = self.index.features.locations_of(&features, |feature, locations| {
            while feature >= ends[read] {
                self.answer_read(batches, read, ends[read] - start_of(&ends, read), &mut answers);
                read += 1;
            }
            let number = (feature - start_of(&ends, read)) as u32;
            self.hits.extend(locations.iter().map(|&window| hit(window, number)));
        });
        looked_up?;
        (read..ends.len())
            .for_each(|read| self.answer_read(batches, read, ends[read] - start_of(&ends, read), &mut answers));
        (self.features, self.ends) = (features, ends);
        Ok(answers)
    }

    /// Collects the features of every read: those of all windows of both mates.
    fn sketch(&mut self, [first, second]: &[Batch; 2]) {
        let Classifier { sketcher, features, ends, .. } = self;
        features.clear();
        ends.clear();
        for (read, record) in first.records.iter().enumerate() {
            let mut collect = |_, sketch: &[u32]| features.extend_from_slice(sketch);
            sketcher.sketch(first.bytes(record.letters), &mut collect);
            if let Some(mate) = second.records.get(read) {
                sketcher.sketch(second.bytes(mate.letters), &mut collect);
            }
            ends.push(features.len());
        }
    }

    /// Answers for a read of so many features whose hits are all there.
    fn answer_read(&mut self, [first, second]: &[Batch; 2], read: usize, features: usize, answers: &mut Answers) {
        let lengths = (first.records[read].letters.len(), second.records.get(read).map(|mate| mate.letters.len()));
        let span = self.span(lengths);
        let Classifier { index, config, hits, candidates, judge, .. } = self;
        candidates.clear();
        best_regions(hits, span, &index.targets, |candidate| candidates.push(candidate));
        let taxon = judge.taxon(index, &config.rule, features, hits, candidates);
        hits.clear();
        match taxon {
            Some(taxon) => answers.tally.assign(taxon, 1),
            None => answers.tally.leave(1),
        }
        answers.letters += (lengths.0 + lengths.1.unwrap_or(0)) as u64;
        self.write_line(name_of(first.bytes(first.records[read].name)), taxon, lengths, &mut answers.text);
    }

    /// Windows that a read can touch.
    fn span(&self, lengths: (usize, Option<usize>)) -> u32 {
        let letters = lengths.1.map_or(lengths.0, |mate| (lengths.0 + mate).max(self.config.insert));
        2 + (letters / self.index.parameters.sketch.stride()) as u32
    }

    fn write_line(&mut self, name: &[u8], taxon: Option<Taxon>, lengths: (usize, Option<usize>), text: &mut Vec<u8>) {
        let taxonomy = &self.index.taxonomy;
        text.extend_from_slice(if taxon.is_some() { b"C\t" } else { b"U\t" });
        text.extend_from_slice(name);
        let taxid = taxon.map_or(0, |taxon| taxonomy.taxid(taxon));
        let written = match lengths.1 {
            Some(mate) => write!(text, "\t{taxid}\t{}|{mate}\t", lengths.0),
            None => write!(text, "\t{taxid}\t{}\t", lengths.0),
        };
        written.expect("memory takes all text");
        self.write_hits(text);
        text.push(b'\n');
    }

    /// Writes the candidates' hits by taxid, best first; `0:0` where there are none.
    fn write_hits(&mut self, text: &mut Vec<u8>) {
        let Classifier { index, candidates, shown: hits, .. } = self;
        let taxid = |candidate: &Candidate| {
            index.targets.get(candidate.target).taxon.map_or(0, |taxon| index.taxonomy.taxid(taxon))
        };
        hits.clear();
        hits.extend(candidates.iter().map(|one| (taxid(one), one.hits.len())));
        hits.sort_unstable_by_key(|&(taxid, hits)| (taxid, std::cmp::Reverse(hits)));
        hits.dedup_by_key(|&mut (taxid, _)| taxid);
        hits.sort_unstable_by_key(|&(taxid, hits)| (std::cmp::Reverse(hits), taxid));
        hits.truncate(SHOWN);
        if hits.is_empty() {
            hits.push((0, 0));
        }
        for (i, (taxid, hits)) in hits.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(text, "{space}{taxid}:{hits}").expect("memory takes all text");
        }
    }
}

/// Where the features of a read start, given where those of each end.
fn start_of(ends: &[usize], read: usize) -> usize {
    read.checked_sub(1).map_or(0, |before| ends[before])
}

/// Candidates shown in the last column.
const SHOWN: usize = 4;

/// The first word of a header, without the number of the mate.
fn name_of(header: &[u8]) -> &[u8] {
    let word = header.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    word.strip_suffix(b"/1").or_else(|| word.strip_suffix(b"/2")).unwrap_or(word)
}
