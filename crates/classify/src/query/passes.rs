//! Databases that are larger than the memory: all parts but the last are asked before reads are
//! answered, and what they gave is stored.

use std::io;
use std::path::Path;

use gyrase_fabric::{Alone, World};
use gyrase_tabulate::TabulateError;
use gyrase_work::Progress;

use super::error::QueryError;
use super::hits::Hits;
use super::origin::{Batches, Finder, Origin, ReadFeed, Task};
use super::stored;
use crate::bytes::Reader;
use crate::collection::Collection;
use crate::slice::Slice;
use crate::stored::{Block, Encoder, Kind, Store};

/// Where hits are stored meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Scratch<'p> {
    /// The folder.
    pub folder: &'p Path,
    /// Bytes that may lie there.
    pub limit: Option<u64>,
}

impl<'c> Hits<'c> {
    /// Those of the databases, of which up to `most` bytes are asked at a time
    /// ([`Collection::plan`]). `open` opens the same reads for every pass but the last, which is
    /// that of the answers.
    ///
    /// # Errors
    /// See [`QueryError`]; or what `open` says.
    pub fn in_passes<F: ReadFeed, E: From<QueryError>>(
        collection: &'c Collection,
        most: u64,
        scratch: Scratch<'_>,
        threads: usize,
        mut open: impl FnMut() -> Result<F, E>,
        progress: &Progress,
    ) -> Result<Hits<'c>, E> {
        // The last part of an earlier pass over other reads may be there still.
        collection.whole().iter().for_each(Slice::let_go);
        let mut parts = collection.parts(most);
        let last = parts.pop().expect("there is always a part");
        let mut stored = Vec::new();
        let mut room = scratch.limit;
        for slices in parts {
            let hits = Hits {
                collection,
                slices,
                stored: Vec::new(),
            };
            let mut store = Store::scratch(scratch.folder, room).map_err(QueryError::from)?;
            hits.store(open()?, &mut store, Kind::Hits, threads, progress)?;
            hits.slices.iter().for_each(Slice::let_go);
            room = room.map(|room| room.saturating_sub(store.bytes()));
            stored.push(store.into_stored());
        }
        Ok(Hits {
            collection,
            slices: last,
            stored,
        })
    }

    /// Writes the hits of reads; how many reads there are.
    fn store(
        &self,
        reads: impl ReadFeed,
        store: &mut Store,
        kind: Kind,
        threads: usize,
        progress: &Progress,
    ) -> Result<u64, QueryError> {
        let append = |blocks: Vec<Block>| {
            let mut blocks = blocks.iter();
            Ok(blocks.try_for_each(|block| store.append(block))?)
        };
        self.pack(reads, kind, threads, progress, append)
    }

    /// Packs the hits of reads into blocks, which `append` takes in the order of the reads; how
    /// many reads there are.
    pub(super) fn pack(
        &self,
        reads: impl ReadFeed,
        kind: Kind,
        threads: usize,
        progress: &Progress,
        mut append: impl FnMut(Vec<Block>) -> Result<(), QueryError>,
    ) -> Result<u64, QueryError> {
        let work = |finder: &mut Finder<'_>,
                    encoder: &mut io::Result<Encoder>,
                    task: &Task,
                    blocks: &mut Vec<Block>| {
            let encoder = encoder
                .as_mut()
                .map_err(|error| QueryError::Sink(io::Error::other(error.to_string())))?;
            finder.each(task, |read, hits| {
                hits.sort_unstable();
                encoder.push(read, hits).map_err(QueryError::Sink)
            })?;
            *blocks = encoder.take().map_err(QueryError::Sink)?;
            Ok(())
        };
        Origin::Sequences(self).each_task(
            Batches::new(reads),
            threads,
            progress,
            || Encoder::new(kind),
            work,
            |_, blocks| append(std::mem::take(blocks)),
        )
    }

    /// Writes reads and their hits into the file `path`, which appears when it is whole; how many
    /// reads there are. See [`Candidates`].
    ///
    /// # Errors
    /// See [`QueryError`].
    ///
    /// [`Candidates`]: stored::Candidates
    pub fn keep(
        &self,
        reads: impl ReadFeed,
        path: &Path,
        threads: usize,
        progress: &Progress,
    ) -> Result<u64, QueryError> {
        self.keep_in(reads, &Alone, path, threads, progress)
    }

    /// As [`Hits::keep`], in all processes of a job, each with the reads that are dealt to it: the
    /// first writes what all of them pack. Collective.
    pub(crate) fn keep_in(
        &self,
        reads: impl ReadFeed,
        world: &dyn World,
        path: &Path,
        threads: usize,
        progress: &Progress,
    ) -> Result<u64, QueryError> {
        let catalogue = || stored::to_bytes(&self.collection.catalogue);
        let mut store = match world.rank() {
            0 => Some(Store::create(path, &catalogue())?),
            _ => None,
        };
        let append = |blocks: Vec<Block>| {
            let all = match world.ranks() {
                1 => vec![blocks],
                _ => gathered(world, &blocks)?,
            };
            let mut blocks = all.iter().flatten();
            Ok(store
                .iter_mut()
                .try_for_each(|store| blocks.try_for_each(|block| store.append(block)))?)
        };
        let own = self.pack(reads, Kind::Reads, threads, progress, append)?;
        let all = world.sum(&[own]).map_err(TabulateError::from)?[0];
        store.map_or(Ok(()), Store::commit)?;
        Ok(all)
    }
}

/// The blocks of a round, of all processes, in the first. Collective.
fn gathered(world: &dyn World, blocks: &[Block]) -> Result<Vec<Vec<Block>>, QueryError> {
    let mut own = Vec::new();
    blocks.iter().for_each(|block| block.put(&mut own));
    let all = world.gather(own).map_err(TabulateError::from)?;
    let taken = |bytes: &Vec<u8>| Block::take_all(Reader::new(bytes));
    Ok(all.iter().map(taken).collect())
}
