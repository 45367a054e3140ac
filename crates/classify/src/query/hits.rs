//! Where the hits of sequences come from: databases, asked at once or slice by slice.

use std::path::Path;

use gyrase_tabulate::Source;
use gyrase_work::Progress;

use super::QueryError;
use super::road::{Road, Task, Tasks, Walker};
use crate::collection::{Collection, Slice};
use crate::stored::{Block, Encoder, Kind, Store, Stored, StoredError};

/// Where the hits of sequences come from. All of a database that fits the memory is asked while
/// reads are answered; of a larger one, all but the last part was asked before, and the hits are
/// stored.
#[derive(Debug)]
pub struct Hits<'c> {
    pub(super) collection: &'c Collection,
    /// What is asked while reads are answered.
    pub(super) slices: Vec<Slice<'c>>,
    /// What the other slices gave, for all reads in order.
    pub(super) stored: Vec<Stored>,
}

/// Where hits are stored meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Scratch<'p> {
    /// The folder.
    pub folder: &'p Path,
    /// Bytes that may lie there.
    pub limit: Option<u64>,
}

impl<'c> Hits<'c> {
    /// Those of all databases at once.
    pub fn of(collection: &'c Collection) -> Hits<'c> {
        Hits {
            collection,
            slices: collection.whole(),
            stored: Vec::new(),
        }
    }

    /// Those of the databases, of which up to `most` bytes are asked at a time
    /// ([`Collection::plan`]). `open` opens the same reads for every pass but the last, which is
    /// that of the answers.
    ///
    /// # Errors
    /// See [`QueryError`]; or what `open` says.
    pub fn in_passes<E: From<QueryError>>(
        collection: &'c Collection,
        most: u64,
        scratch: Scratch<'_>,
        threads: usize,
        mut open: impl FnMut() -> Result<Source, E>,
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

    /// Finds out that the passes before had as many reads as the last.
    pub(super) fn had(&self, reads: u64) -> Result<(), StoredError> {
        match self.stored.iter().find(|stored| stored.rows() != reads) {
            Some(stored) => Err(StoredError::Changed {
                read: stored.rows().min(reads) + 1,
            }),
            None => Ok(()),
        }
    }

    /// Bytes of the hits that wait in scratch files.
    pub fn stored_bytes(&self) -> u64 {
        self.stored.iter().map(Stored::bytes).sum()
    }

    /// Writes the hits of reads; how many reads there are.
    fn store(
        &self,
        source: Source,
        store: &mut Store,
        kind: Kind,
        threads: usize,
        progress: &Progress,
    ) -> Result<u64, QueryError> {
        let work =
            |walker: &mut Walker<'_>, encoder: &mut std::io::Result<Encoder>, task: &Task| {
                let encoder = encoder
                    .as_mut()
                    .map_err(|error| QueryError::Sink(std::io::Error::other(error.to_string())))?;
                walker.each(task, |read, hits| {
                    hits.sort_unstable();
                    encoder.push(read, hits).map_err(QueryError::Sink)
                })?;
                encoder.take().map_err(QueryError::Sink)
            };
        let (road, tasks) = (Road::Sequences(self), Tasks::Sequences(source, 0));
        road.follow(
            tasks,
            threads,
            progress,
            || Encoder::new(kind),
            work,
            |_, blocks: Vec<Block>| Ok(blocks.iter().try_for_each(|block| store.append(block))?),
        )
    }

    /// Writes reads and their hits into the file `path`, which appears when it is whole; how many
    /// reads there are. See [`Candidates`].
    ///
    /// # Errors
    /// See [`QueryError`].
    ///
    /// [`Candidates`]: super::Candidates
    pub fn keep(
        &self,
        source: Source,
        path: &Path,
        threads: usize,
        progress: &Progress,
    ) -> Result<u64, QueryError> {
        let mut store = Store::create(path, &super::stored::to_bytes(&self.collection.catalogue))?;
        let reads = self.store(source, &mut store, Kind::Reads, threads, progress)?;
        store.commit()?;
        Ok(reads)
    }
}
