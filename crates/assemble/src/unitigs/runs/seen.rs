//! What an end of a run sees of its chain.

use crate::records::{of_pair, pair};
use crate::unitigs::glue::NONE;

/// What an end of a run sees of its chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Seen {
    /// Its end: the k-mer there, by its bin and its number in that.
    End { bin: u32, kmer: u32 },
    /// An end of a run, by its number among those of all.
    Run(u32),
}

/// How far an end of a run sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct View {
    pub(super) seen: Seen,
    /// k-mers from the run to there.
    pub(super) passed: u64,
}

/// Bytes of a [`View`].
pub(super) const VIEW: usize = 16;

impl View {
    /// The end of a run that it sees, if it does not see that of the chain.
    pub(super) fn next(self) -> Option<u32> {
        match self.seen {
            Seen::End { .. } => None,
            Seen::Run(next) => Some(next),
        }
    }

    /// The same behind so many more k-mers.
    pub(super) fn behind(self, kmers: u64) -> View {
        View {
            passed: self.passed + kmers,
            ..self
        }
    }

    pub(super) fn to_bytes(self) -> [u8; VIEW] {
        let numbers = match self.seen {
            Seen::End { bin, kmer } => [bin, kmer],
            Seen::Run(next) => [NONE, next],
        };
        let mut bytes = [0; VIEW];
        bytes[..8].copy_from_slice(&self.passed.to_le_bytes());
        bytes[8..].copy_from_slice(&pair(numbers));
        bytes
    }

    pub(super) fn of_bytes(bytes: [u8; VIEW]) -> View {
        let [passed, numbers] = bytemuck::cast(bytes);
        let seen = match of_pair(numbers) {
            [NONE, next] => Seen::Run(next),
            [bin, kmer] => Seen::End { bin, kmer },
        };
        View {
            seen,
            passed: u64::from_le_bytes(passed),
        }
    }
}
