//! Batches of reads that a GPU looks up.

use std::ops::Range;

use gyrase_gpu::{GpuRegion, GpuSequence};
use gyrase_seq::{Batch, Record, Span};
use gyrase_table::gydb::Location;

use super::answer::Spans;
use super::error::QueryError;
use super::hits::Hits;
use super::located::Located;
use super::lookup::Lookup;
use crate::candidates::{Candidate, Hit};
use crate::on_gpu::{Looked, PartOnGpu};
use crate::read::Read;
use crate::targets::TargetId;

/// What is called for each read.
pub(super) type Each<'e> = &'e mut dyn FnMut(&Read<'_>, Located<'_>) -> Result<(), QueryError>;

/// Asks a GPU for reads, a batch at a time. Make one for each thread.
pub(super) struct GpuLookup<'c> {
    gpu: PartOnGpu<'c>,
    /// True where the regions that it finds are those of the reads.
    of_one_database: bool,
    hits: Vec<Hit>,
    found: Vec<Candidate>,
}

impl<'c> GpuLookup<'c> {
    /// Asks for what of `sources` is on a GPU.
    pub(super) fn new(gpu: PartOnGpu<'c>, sources: &Hits<'_>) -> GpuLookup<'c> {
        GpuLookup {
            gpu,
            of_one_database: sources.are_of_one_database(),
            hits: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Calls `each` for every read or pair in order, the first of which has the number `first`
    /// among all: with the best regions of the targets that it hits and their hits, where the GPU
    /// can find them and there are spans; else with all hits. What is too much for the GPU at once
    /// is asked for in halves; what it does not take at all, `lookup` looks up, and adds what is
    /// stored.
    pub(super) fn each(
        &mut self,
        first: u64,
        batches: &[Batch; 2],
        spans: Option<Spans>,
        lookup: &mut Lookup<'_>,
        each: Each<'_>,
    ) -> Result<(), QueryError> {
        let spans = spans.filter(|_| self.of_one_database);
        let all = 0..batches[0].records.len();
        let mut left = vec![all.clone()];
        while let Some(reads) = left.pop().filter(|reads| !reads.is_empty()) {
            let number = first + reads.start as u64;
            let looked = match spans {
                Some(spans) => self.find_regions(batches, reads.clone(), spans, each)?,
                None => self.find_hits(number, batches, reads.clone(), lookup, each)?,
            };
            match looked {
                Looked::Up => {}
                Looked::AtTooMany if reads.len() > 1 => {
                    let middle = reads.start.midpoint(reads.end);
                    left.extend([middle..reads.end, reads.start..middle]);
                }
                Looked::AtTooMany | Looked::AtNone => {
                    self.gpu.leave(reads.len());
                    if reads == all {
                        by_processor(lookup, number, batches, each)?;
                    } else {
                        let part = batches.each_ref().map(|batch| part(batch, reads.clone()));
                        by_processor(lookup, number, &part, each)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks for the best regions of some reads of a batch.
    fn find_regions(
        &mut self,
        batches: &[Batch; 2],
        reads: Range<usize>,
        spans: Spans,
        each: Each<'_>,
    ) -> Result<Looked, QueryError> {
        let sequences = sequences(batches, reads.clone());
        let spans: Vec<u32> = reads
            .clone()
            .map(|number| spans.of(Read::of(batches, number, &[]).lengths))
            .collect();
        let answers = match self.gpu.regions(&sequences, &spans) {
            Ok(answers) => answers,
            Err(looked) => return Ok(looked),
        };
        let GpuLookup {
            hits: own, found, ..
        } = self;
        answers.each(|number, features, regions, hits| {
            unpack(regions, hits, own, found);
            let read = Read::of(batches, reads.start + number, features);
            let (hits, found) = (&mut own[..], Some(&found[..]));
            each(&read, Located { hits, found })
        })?;
        Ok(Looked::Up)
    }

    /// Asks for all hits of some reads of a batch, the first of which has this number among all.
    fn find_hits(
        &self,
        first: u64,
        batches: &[Batch; 2],
        reads: Range<usize>,
        lookup: &mut Lookup<'_>,
        each: Each<'_>,
    ) -> Result<Looked, QueryError> {
        let sequences = sequences(batches, reads.clone());
        let found = match self.gpu.hits(&sequences, reads.len()) {
            Ok(found) => found,
            Err(looked) => return Ok(looked),
        };
        lookup.seek(first)?;
        found.each(|number, features, hits| {
            let hits = hits
                .iter()
                .map(|&hit| Hit::new(Location((hit >> 32) as u32), hit as u32));
            let hits = lookup.completed(features.len(), hits)?;
            let read = Read::of(batches, reads.start + number, features);
            each(&read, Located::hits(hits))
        })?;
        Ok(Looked::Up)
    }
}

/// Calls `each` for every read or pair in order, as the processor finds their hits.
pub(super) fn by_processor(
    lookup: &mut Lookup<'_>,
    first: u64,
    batches: &[Batch; 2],
    each: Each<'_>,
) -> Result<(), QueryError> {
    lookup.each(first, batches, |number, features, hits| {
        each(&Read::of(batches, number, features), Located::hits(hits))
    })
}

/// Lists the regions of a read and their hits.
fn unpack(
    regions: &[GpuRegion],
    mut packed: &[u32],
    hits: &mut Vec<Hit>,
    found: &mut Vec<Candidate>,
) {
    hits.clear();
    found.clear();
    for region in regions {
        let (own, others) = packed.split_at(region.hits as usize);
        let start = hits.len();
        hits.extend(
            own.iter()
                .map(|hit| Hit::new(Location(region.first + (hit >> 16)), hit & 0xffff)),
        );
        found.push(Candidate {
            target: TargetId(region.target),
            first: Location(region.first),
            last: Location(region.last),
            hits: start..hits.len(),
        });
        packed = others;
    }
}

/// Some reads of a batch as a GPU is asked for them.
fn sequences([first, second]: &[Batch; 2], reads: Range<usize>) -> Vec<GpuSequence<'_>> {
    let mut sequences = Vec::new();
    for (read, number) in (0..).zip(reads) {
        let letters = first.bytes(first.records[number].letters);
        let mate = second.records.get(number);
        let mates = [Some(letters), mate.map(|mate| second.bytes(mate.letters))];
        let mates = mates.into_iter().flatten();
        sequences.extend(mates.map(|letters| GpuSequence { letters, read }));
    }
    sequences
}

/// Names and letters of some records of a batch; of an empty one, none.
fn part(batch: &Batch, reads: Range<usize>) -> Batch {
    let mut part = Batch::default();
    for record in batch.records.get(reads).unwrap_or_default() {
        let mut copy = |span| {
            let start = part.text.len();
            part.text.extend_from_slice(batch.bytes(span));
            Span::from(start..part.text.len())
        };
        let (name, letters) = (copy(record.name), copy(record.letters));
        part.records.push(Record {
            name,
            letters,
            qualities: Span::default(),
            ..*record
        });
    }
    part
}
