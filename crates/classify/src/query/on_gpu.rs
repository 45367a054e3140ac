//! Batches of reads that a GPU looks up.

use gyrase_gpu::{GpuRegion, GpuSequence};
use gyrase_seq::Batch;
use gyrase_table::gydb::Location;

use super::answer::Spans;
use super::error::QueryError;
use super::hits::Hits;
use super::located::Located;
use crate::candidates::{Candidate, Hit};
use crate::on_gpu::OnGpu;
use crate::read::Read;
use crate::targets::TargetId;

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
    /// hits and their hits. False, and nothing is called, where the processor has to look the batch
    /// up.
    pub(super) fn each(
        &mut self,
        batches: &[Batch; 2],
        spans: Spans,
        mut each: impl FnMut(&Read<'_>, Located<'_>) -> Result<(), QueryError>,
    ) -> Result<bool, QueryError> {
        let [first, second] = batches;
        let (mut sequences, mut of_reads) = (Vec::new(), Vec::new());
        for (number, record) in first.records.iter().enumerate() {
            let read = number as u32;
            let letters = first.bytes(record.letters);
            sequences.push(GpuSequence { letters, read });
            let mate = second.records.get(number);
            if let Some(mate) = mate {
                let letters = second.bytes(mate.letters);
                sequences.push(GpuSequence { letters, read });
            }
            let mate = mate.map(|mate| mate.letters.len());
            of_reads.push(spans.of((record.letters.len(), mate)));
        }
        let Some(answers) = self.gpu.ask(&sequences, &of_reads) else {
            return Ok(false);
        };
        answers.each(|number, features, regions, hits| {
            self.unpack(regions, hits);
            let GpuLookup { hits, found, .. } = self;
            let found = Some(&found[..]);
            each(
                &Read::of(batches, number, features),
                Located { hits, found },
            )
        })?;
        Ok(true)
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
