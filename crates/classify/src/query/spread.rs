//! Databases that are larger than the memory of a process of a job: their parts are dealt to the
//! processes. Each asks its own part for all reads, and sends what it gives to the process that
//! answers the reads, where the parts are merged as those of several passes are.

use std::collections::VecDeque;
use std::sync::Arc;

use gyrase_fabric::{Mailbox, World};
use gyrase_tabulate::TabulateError;
use gyrase_work::Progress;

use super::error::QueryError;
use super::hits::Hits;
use super::origin::ReadFeed;
use super::passes::Scratch;
use crate::bytes::{Reader, put_section};
use crate::collection::Collection;
use crate::dealt::Dealt;
use crate::share::{Stopped, Stopping, WHOLE, keep_in_step};
use crate::slice::Slice;
use crate::stored::{Block, Kind, Store, Stored};

/// How the databases are asked, in each process of a job.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'p> {
    /// Bytes of the databases that a process asks at a time, the same in all of them.
    pub most: u64,
    /// Where the hits of its reads are stored.
    pub scratch: Scratch<'p>,
    /// Threads of this process.
    pub threads: usize,
}

impl<'c> Hits<'c> {
    /// Those of the reads that are dealt to this process. `open` opens all reads, in the batches
    /// that they are dealt in, as often as there are more parts than processes.
    ///
    /// Collective; so is `open`, which fails in all processes or ends the job.
    ///
    /// # Errors
    /// See [`QueryError`]; or what `open` says.
    pub(crate) fn spread<F: ReadFeed, E: From<QueryError>>(
        collection: &'c Collection,
        asked: Asked<'_>,
        world: &dyn World,
        mut open: impl FnMut() -> Result<F, E>,
        progress: &Progress,
    ) -> Result<Hits<'c>, E> {
        let dealt = Dealt::of(world);
        let (mut stored, mut room) = (Vec::new(), asked.scratch.limit);
        for pass in collection.parts(asked.most).chunks(dealt.ranks) {
            collection.whole().iter().for_each(Slice::let_go);
            let hits = Hits {
                collection,
                slices: pass.get(dealt.rank).cloned().unwrap_or_default(),
                stored: Vec::new(),
            };
            let (reads, scratch) = (
                open()?,
                Scratch {
                    limit: room,
                    ..asked.scratch
                },
            );
            let of_pass = hits.exchange(reads, pass.len(), scratch, asked.threads, world, progress);
            let of_pass = of_pass?;
            hits.slices.iter().for_each(Slice::let_go);
            let bytes: u64 = of_pass.iter().map(Stored::bytes).sum();
            room = room.map(|room| room.saturating_sub(bytes));
            stored.extend(of_pass);
        }
        Ok(Hits {
            collection,
            slices: Vec::new(),
            stored,
        })
    }

    /// Asks this part for all reads; what each of the parts of as many processes gave for the reads
    /// of this one.
    fn exchange(
        &self,
        reads: impl ReadFeed,
        parts: usize,
        scratch: Scratch<'_>,
        threads: usize,
        world: &dyn World,
        progress: &Progress,
    ) -> Result<Vec<Stored>, QueryError> {
        let stopped = Stopped::among(world.ranks());
        let mut rounds = Rounds::new(parts, scratch, world)?;
        let reads = Stopping::new(reads, &stopped);
        self.pack(reads, Kind::Hits, threads, progress, |blocks| {
            let wrong = stopped.in_round(rounds.batches).unwrap_or_default();
            rounds.take(&blocks, &wrong)
        })?;
        let stored = rounds.end()?;
        stopped
            .into_error()
            .map_or(Ok(stored), |error| Err(error.into()))
    }
}

/// The rounds in which processes exchange hits: in each, every process gets those of one batch.
struct Rounds {
    mailbox: Arc<dyn Mailbox>,
    dealt: Dealt,
    /// What each part gave for the reads of this process.
    stores: Vec<Store>,
    /// What came of each part and is of later rounds.
    came: Vec<VecDeque<Vec<u8>>>,
    /// Batches that were asked so far.
    batches: usize,
}

impl Rounds {
    /// Those of a pass over so many parts.
    fn new(parts: usize, scratch: Scratch<'_>, world: &dyn World) -> Result<Rounds, QueryError> {
        // All of them together keep to the limit, about: none is as large as all.
        let limit = scratch.limit.map(|limit| limit / parts as u64);
        let store = |_| Store::scratch(scratch.folder, limit);
        Ok(Rounds {
            mailbox: world.mailbox().map_err(TabulateError::from)?,
            dealt: Dealt::of(world),
            stores: (0..parts).map(store).collect::<Result<_, _>>()?,
            came: vec![VecDeque::new(); parts],
            batches: 0,
        })
    }

    /// Sends the hits of the next batch to the process that answers it, or why there are none.
    fn take(&mut self, blocks: &[Block], wrong: &str) -> Result<(), QueryError> {
        let Dealt { rank, ranks } = self.dealt;
        if rank < self.stores.len() {
            let mut bytes = Vec::new();
            put_section(&mut bytes, wrong.as_bytes());
            blocks.iter().for_each(|block| block.put(&mut bytes));
            let sent = self.mailbox.send(self.batches % ranks, rank as u64, bytes);
            sent.map_err(TabulateError::from)?;
        }
        self.batches += 1;
        match self.batches % ranks {
            0 => self.receive(),
            _ => Ok(()),
        }
    }

    /// Stores the hits of this process's batch of the round, of all parts.
    fn receive(&mut self) -> Result<(), QueryError> {
        while self.came.iter().any(VecDeque::is_empty) {
            let (part, bytes) = self.mailbox.wait().map_err(TabulateError::from)?;
            self.came[part as usize].push_back(bytes);
        }
        let came = self.came.iter_mut().map(VecDeque::pop_front);
        let all: Vec<Vec<u8>> = came
            .map(|bytes| bytes.expect("some came of each"))
            .collect();
        keep_in_step(&all)?;
        for (store, bytes) in self.stores.iter_mut().zip(&all) {
            let mut reader = Reader::new(bytes);
            reader.section().expect(WHOLE);
            let blocks = Block::take_all(reader);
            blocks.iter().try_for_each(|block| store.append(block))?;
        }
        Ok(())
    }

    /// What the parts gave, once all batches were asked.
    fn end(mut self) -> Result<Vec<Stored>, QueryError> {
        // The last round may have no batch of this process.
        if self.dealt.rank < self.batches % self.dealt.ranks {
            self.receive()?;
        }
        Ok(self.stores.into_iter().map(Store::into_stored).collect())
    }
}
