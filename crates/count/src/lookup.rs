//! The count of every k-mer along a sequence.

use gyrase_kmer::{Key, Kmer, bin_of_hash, minimizer_hash};
use gyrase_seq::encode;
use gyrase_table::gyk::{BinView, Database, GykError};

/// m-mers of the longest k-mer, rounded up to a power of two.
const RING: usize = 128;
/// k-mers that are looked up side by side, so that one waits for memory while others are on their
/// way.
const SIDE_BY_SIDE: usize = 64;

/// Walks along a sequence with everything that a look-up needs at hand: the k-mer on both strands,
/// its minimizer, and the bin that the minimizer names, which neighbouring k-mers mostly share.
pub(crate) struct Lookup<'a, const W: usize> {
    database: &'a Database,
    /// The hash of the last minimizer and the bin that it names.
    bin: Option<(u32, BinView<'a>)>,
    /// Hashes of the last m-mers, by the place where they end.
    ring: [u32; RING],
    /// k-mers still to be found.
    pending: Vec<Option<Pending<'a, W>>>,
}

/// The bin and the key of a k-mer.
type Pending<'a, const W: usize> = (BinView<'a>, [u64; W]);

/// What a walk carries from letter to letter.
struct Step<const W: usize> {
    forward: Kmer<W>,
    reverse: Kmer<W>,
    m_forward: u32,
    m_reverse: u32,
    smallest: u32,
    smallest_at: usize,
    /// Bases since the last letter that is none.
    bases: usize,
}

impl<const W: usize> Step<W> {
    const START: Step<W> = Step {
        forward: Kmer::ZERO,
        reverse: Kmer::ZERO,
        m_forward: 0,
        m_reverse: 0,
        smallest: u32::MAX,
        smallest_at: 0,
        bases: 0,
    };
}

impl<'a, const W: usize> Lookup<'a, W> {
    pub(crate) fn new(database: &'a Database) -> Lookup<'a, W> {
        Lookup {
            database,
            bin: None,
            ring: [0; RING],
            pending: Vec::new(),
        }
    }

    /// Calls `each` for every stretch of k letters, from the first on, with its count (0 where the
    /// database has it not), or `None` where a letter is no base.
    ///
    /// # Errors
    /// When a bin that a k-mer would be in does not fit its checksum. A bin is checked when it is
    /// first used.
    #[inline]
    pub(crate) fn walk(
        &mut self,
        letters: &[u8],
        mut each: impl FnMut(Option<u32>),
    ) -> Result<(), GykError> {
        let k = self.database.shape().k();
        let mut step = Step::START;
        for (at, &letter) in letters.iter().enumerate() {
            let kmer = match encode(letter) {
                Some(code) => self.advance(&mut step, at, code)?,
                None => {
                    step = Step::START;
                    None
                }
            };
            if at + 1 >= k {
                self.pending.push(kmer);
                if self.pending.len() == SIDE_BY_SIDE {
                    self.find(&mut each);
                }
            }
        }
        self.find(&mut each);
        Ok(())
    }

    /// Finds the pending k-mers.
    #[inline]
    fn find(&mut self, each: &mut impl FnMut(Option<u32>)) {
        let touched = self
            .pending
            .iter()
            .flatten()
            .fold(0, |sum, (bin, key)| sum ^ bin.touch(key));
        std::hint::black_box(touched);
        for pending in self.pending.drain(..) {
            each(pending.map(|(bin, key)| bin.find(&key).map_or(0, |row| bin.count(row))));
        }
    }

    /// Takes one more base; the k-mer that it completes.
    #[inline(always)]
    fn advance(
        &mut self,
        step: &mut Step<W>,
        at: usize,
        code: u8,
    ) -> Result<Option<Pending<'a, W>>, GykError> {
        let shape = self.database.shape();
        let (k, m) = (shape.k(), shape.m());
        step.forward = step.forward.push(code).masked(k);
        step.reverse = step.reverse.push_complement(code, k);
        step.m_forward = (step.m_forward << 2 | u32::from(code)) & (u32::MAX >> (32 - 2 * m));
        step.m_reverse = step.m_reverse >> 2 | (3 - u32::from(code)) << (2 * (m - 1));
        step.bases += 1;
        if step.bases < m {
            return Ok(None);
        }
        let hash = minimizer_hash(step.m_forward.min(step.m_reverse));
        self.ring[at % RING] = hash;
        if hash <= step.smallest {
            (step.smallest, step.smallest_at) = (hash, at);
        } else if at - step.smallest_at >= shape.window() {
            self.search(step, at);
        }
        if step.bases < k {
            return Ok(None);
        }
        let bin = match self.bin {
            Some((hash, bin)) if hash == step.smallest => bin,
            _ => self.enter(step.smallest)?,
        };
        let form = if shape.stranded() {
            step.forward
        } else {
            step.forward.min(step.reverse)
        };
        Ok(Some((bin, Key::from(form).0)))
    }

    /// Takes the bin that a minimizer names.
    #[inline]
    fn enter(&mut self, hash: u32) -> Result<BinView<'a>, GykError> {
        let bin = self.database.sound_bin(bin_of_hash(hash))?;
        self.bin = Some((hash, bin));
        Ok(bin)
    }

    /// The smallest hash of the window that ends at `at`.
    fn search(&self, step: &mut Step<W>, at: usize) {
        step.smallest = u32::MAX;
        for place in at + 1 - self.database.shape().window()..=at {
            let hash = self.ring[place % RING];
            if hash <= step.smallest {
                (step.smallest, step.smallest_at) = (hash, place);
            }
        }
    }
}
