//! What a run finds in all its reads together.

use std::sync::{Mutex, PoisonError};

use super::config::Wanted;
use crate::bytes::{self, Reader};
use crate::catalogue::Catalogue;
use crate::filter::Dropped;
use crate::genomes::Genomes;
use crate::tally::{Depth, Tally};

/// What was classified. Those of shares of the reads, on other threads or in other processes, merge
/// to that of all, in any order.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Reads, or pairs, by taxon.
    pub tally: Tally,
    /// Their letters.
    pub letters: u64,
    /// Letters of the longest of them, or of their mates.
    pub longest: u64,
    /// Reads per window, where that was wanted.
    pub depth: Depth,
    /// The genomes that no read was assigned to because the sample covers little of them.
    pub dropped: Dropped,
}

impl Summary {
    /// Adds what was found of other reads of the same sample. Which genomes were dropped is the
    /// same for all.
    pub fn merge(&mut self, other: &Summary) {
        self.tally.merge(&other.tally);
        self.depth.merge(&other.depth);
        self.letters += other.letters;
        self.longest = self.longest.max(other.longest);
    }

    /// Adds the letters of a read, or of a read and its mate.
    pub(crate) fn add_letters(&mut self, of_mates: impl IntoIterator<Item = u64>) {
        for letters in of_mates {
            self.letters += letters;
            self.longest = self.longest.max(letters);
        }
    }

    /// All but what was dropped, in bytes: letters and those of the longest (u64), tally, depth.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = [self.letters, self.longest].map(u64::to_le_bytes).concat();
        bytes::put_section(&mut to, &self.tally.to_bytes());
        bytes::put_section(&mut to, &self.depth.to_bytes());
        to
    }

    /// Reads what [`Summary::to_bytes`] wrote; nothing for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Summary> {
        let mut reader = Reader::new(bytes);
        let (letters, longest) = (reader.u64()?, reader.u64()?);
        let tally = Tally::from_bytes(reader.section()?)?;
        let depth = Depth::from_bytes(reader.section()?)?;
        reader.is_done().then_some(Summary {
            tally,
            letters,
            longest,
            depth,
            dropped: Dropped::default(),
        })
    }

    /// Says of what the evidence is a part.
    pub(super) fn complete(&mut self, catalogue: &Catalogue, wanted: Wanted) {
        if wanted.evidence {
            let windows = Genomes::new(&catalogue.targets).windows();
            self.tally.know(
                |taxon| Some(catalogue.distinct(taxon)),
                |taxon| windows.get(&taxon).copied(),
            );
        }
    }
}

/// Batches of which a thread keeps to itself what it finds: that of a batch takes as much memory as
/// its text at most.
const BATCHES: usize = 4;

/// What a thread finds, on its way to what all threads do: when it goes at the latest.
pub(super) struct OwnSummary<'s> {
    own: Summary,
    batches: usize,
    all: &'s Mutex<Summary>,
}

impl<'s> OwnSummary<'s> {
    pub(super) fn of(all: &'s Mutex<Summary>) -> OwnSummary<'s> {
        OwnSummary {
            own: Summary::default(),
            batches: 0,
            all,
        }
    }

    /// Where what is found of the next batch is added.
    pub(super) fn of_next_batch(&mut self) -> &mut Summary {
        if self.batches == BATCHES {
            self.hand_over();
        }
        self.batches += 1;
        &mut self.own
    }

    fn hand_over(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(&std::mem::take(&mut self.own));
        self.batches = 0;
    }
}

impl Drop for OwnSummary<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}
