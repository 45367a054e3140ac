//! Batches of reads that a GPU looks up.

use std::ops::Range;

use gyrase_gpu::{GpuRegion, GpuSequence};
use gyrase_seq::{Batch, Record, Span};
use gyrase_table::gydb::Location;

use super::answer::Spans;
use super::error::QueryError;
use super::hits::Hits;
use super::located::Located;
use crate::candidates::{Candidate, Hit};
use crate::on_gpu::{Looked, OnGpu};
use crate::read::Read;
use crate::targets::TargetId;

/// What is called for each read.
pub(super) type Each<'e> = &'e mut dyn FnMut(&Read<'_>, Located<'_>) -> Result<(), QueryError>;

/// Asks a GPU for reads, a batch at a time. Make one for each thread.
pub(super) struct GpuLookup<'c> {
    gpu: &'c OnGpu,
    hits: Vec<Hit>,
    found: Vec<Candidate>,
}

impl<'c> GpuLookup<'c> {
    /// Nothing where no GPU has what is to be asked: all of one database.
    pub(super) fn new(sources: &'c Hits<'c>) -> Option<GpuLookup<'c>> {
        let at_once =
            sources.stored.is_empty() && sources.slices.len() == 1 && sources.slices[0].is_whole();
        let gpu = sources.collection.on_gpu().filter(|_| at_once)?;
        Some(GpuLookup {
            gpu,
            hits: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Calls `each` for every read or pair in order, with the best regions of the targets that it
    /// hits and their hits. What is too much for the GPU at once is asked for in halves; what it
    /// does not take at all, `elsewhere` looks up.
    pub(super) fn each(
        &mut self,
        batches: &[Batch; 2],
        spans: Spans,
        mut elsewhere: impl FnMut(&[Batch; 2], Each<'_>) -> Result<(), QueryError>,
        each: Each<'_>,
    ) -> Result<(), QueryError> {
        let all = 0..batches[0].records.len();
        let mut left = vec![all.clone()];
        while let Some(reads) = left.pop() {
            match self.ask(batches, reads.clone(), spans, each)? {
                Looked::Up => {}
                Looked::AtTooMany if reads.len() > 1 => {
                    let middle = reads.start.midpoint(reads.end);
                    left.extend([middle..reads.end, reads.start..middle]);
                }
                Looked::AtTooMany | Looked::AtNone => {
                    self.gpu.leave(reads.len());
                    if reads == all {
                        elsewhere(batches, each)?;
                    } else {
                        let part = batches.each_ref().map(|batch| part(batch, reads.clone()));
                        elsewhere(&part, each)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks for some reads of a batch.
    fn ask(
        &mut self,
        batches: &[Batch; 2],
        reads: Range<usize>,
        spans: Spans,
        each: Each<'_>,
    ) -> Result<Looked, QueryError> {
        let (sequences, of_reads) = asked(batches, reads.clone(), spans);
        let answers = match self.gpu.ask(&sequences, &of_reads) {
            Ok(answers) => answers,
            Err(looked) => return Ok(looked),
        };
        answers.each(|number, features, regions, hits| {
            self.unpack(regions, hits);
            let GpuLookup { hits, found, .. } = self;
            let found = Some(&found[..]);
            let read = Read::of(batches, reads.start + number, features);
            each(&read, Located { hits, found })
        })?;
        Ok(Looked::Up)
    }

    /// Lists the regions of a read and their hits.
    fn unpack(&mut self, regions: &[GpuRegion], mut packed: &[u32]) {
        let GpuLookup { hits, found, .. } = self;
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
}

/// Some reads of a batch as a GPU is asked for them, and the span of each.
fn asked(
    [first, second]: &[Batch; 2],
    reads: Range<usize>,
    spans: Spans,
) -> (Vec<GpuSequence<'_>>, Vec<u32>) {
    let (mut sequences, mut of_reads) = (Vec::new(), Vec::new());
    for (read, number) in (0..).zip(reads) {
        let letters = first.bytes(first.records[number].letters);
        let mate = second.records.get(number);
        let mate = mate.map(|mate| second.bytes(mate.letters));
        of_reads.push(spans.of((letters.len(), mate.map(<[u8]>::len))));
        let mates = [Some(letters), mate].into_iter().flatten();
        sequences.extend(mates.map(|letters| GpuSequence { letters, read }));
    }
    (sequences, of_reads)
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
