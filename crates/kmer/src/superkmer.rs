//! Super-k-mers: what travels to the owner of a bin.

use crate::arch::{Kernels, MAX_LETTERS, MinimizerScheme, Stretch, minimizers_by_letters};
use crate::packed::{masked, reverse_groups, reversed, shifted_left, shifted_right};
use crate::{Key, Kmer, Shape, bin_of_hash};

/// A run of k-mers that share their minimizer, at most `64 * W - 4` bases.
///
/// Word 0 is least significant. The low byte is the number of k-mers (at least 1), the bases follow
/// from bit 8 on, two bits each, the first base lowest; all bits beyond are zero, so equal values
/// are equal super-k-mers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperKmer<const W: usize>(pub [u128; W]);

impl<const W: usize> SuperKmer<W> {
    /// Most k-mers that one holds.
    pub fn capacity(shape: Shape) -> usize {
        64 * W - 4 - (shape.k() - 1)
    }

    /// Bytes that [`SuperKmer::to_bytes`] needs to keep of a super-k-mer of `kmers` k-mers.
    #[inline(always)]
    pub fn stored_bytes(kmers: usize, shape: Shape) -> usize {
        1 + (kmers + shape.k() - 1).div_ceil(4)
    }

    /// The number of k-mers.
    #[inline(always)]
    pub fn kmers(&self) -> usize {
        (self.0[0] & 0xff) as usize
    }

    /// The little-endian bytes; those beyond [`SuperKmer::stored_bytes`] are zero and need not be
    /// kept.
    #[inline(always)]
    pub fn to_bytes(self) -> [[u8; 16]; W] {
        self.0.map(u128::to_le_bytes)
    }

    /// Reads the super-k-mer that `bytes` begins with; `None` when it holds no k-mer, too many, or
    /// `bytes` has less than `16 * W` bytes (whatever follows the stored ones is ignored).
    #[inline(always)]
    pub fn from_bytes(bytes: &[u8], shape: Shape) -> Option<SuperKmer<W>> {
        let (words, _) = bytes.get(..16 * W)?.as_chunks::<16>();
        let mut loaded = [0; W];
        for (word, bytes) in loaded.iter_mut().zip(words) {
            *word = u128::from_le_bytes(*bytes);
        }
        let kmers = (loaded[0] & 0xff) as usize;
        (kmers > 0 && kmers <= Self::capacity(shape))
            .then(|| SuperKmer(masked(loaded, 8 + 2 * (kmers + shape.k() - 1))))
    }

    /// The `bases` bases that start `start` bases into `packed` (first base lowest).
    #[inline(always)]
    fn bases_of(packed: &[u8], start: usize, bases: usize) -> [u128; W] {
        let (words, _) = packed[start / 4..start / 4 + 16 * W].as_chunks::<16>();
        let mut loaded = [0; W];
        for (word, bytes) in loaded.iter_mut().zip(words) {
            *word = u128::from_le_bytes(*bytes);
        }
        masked(shifted_right(loaded, 2 * (start % 4)), 2 * bases)
    }

    /// Makes one of `kmers` k-mers and their bases.
    #[inline(always)]
    fn of_bases(bases: [u128; W], kmers: usize) -> SuperKmer<W> {
        let mut words = shifted_left(bases, 8);
        words[0] |= kmers as u128;
        SuperKmer(words)
    }

    /// Room for the keys of any super-k-mer, and what is written beyond them.
    pub const MOST_KEYS: usize = 64 * W + 8;

    /// Writes the key of every k-mer (of its canonical form unless stranded), in order, to the
    /// front of `keys`, which has room for [`SuperKmer::MOST_KEYS`]; returns how many there are.
    /// What is behind them means nothing afterwards.
    #[inline]
    pub fn keys(self, shape: Shape, kernels: Kernels, keys: &mut [[u64; W]]) -> usize {
        let kmers = self.kmers();
        if W == 1 {
            kernels.keys(self.0[0] >> 8, kmers, shape, keys.as_flattened_mut());
        } else {
            let mut places = keys.iter_mut();
            self.for_each_key(shape, |key| {
                *places.next().expect("there is room for all") = key.0
            });
        }
        kmers
    }

    /// Calls `each` with the key of every k-mer (of its canonical form unless stranded), in order.
    #[inline(always)]
    pub fn for_each_key(self, shape: Shape, mut each: impl FnMut(Key<W>)) {
        let (k, kmers) = (shape.k(), self.kmers());
        let bases = kmers + k - 1;
        let mut window = shifted_right(self.0, 8);
        let mut coming = shifted_right(window, 2 * k);
        let mut forward = low_words(shifted_right(reversed(window, bases), 2 * (bases - k)));
        for _ in 0..kmers {
            // Read from its first base up, the window spells its k-mer backwards: complemented, it
            // is the reverse complement.
            let reverse = Kmer(low_words(window).0.map(|word| !word)).masked(k);
            let form = if shape.stranded() {
                forward
            } else {
                forward.min(reverse)
            };
            each(Key::from(form));
            forward = forward.push((coming[0] & 3) as u8).masked(k);
            window = shifted_right(window, 2);
            coming = shifted_right(coming, 2);
        }
    }
}

/// The low `64 * W` bits as a k-mer's words.
#[inline(always)]
fn low_words<const W: usize>(words: [u128; W]) -> Kmer<W> {
    let mut kmer = [0; W];
    for (i, word) in kmer.iter_mut().rev().enumerate() {
        *word = (words[i / 2] >> (64 * (i % 2))) as u64;
    }
    Kmer(kmer)
}

/// Cuts letters into super-k-mers.
#[derive(Debug)]
pub struct Cutter<const W: usize> {
    shape: Shape,
    kernels: Kernels,
    scheme: MinimizerScheme,
    /// The smallest m-mer is that of the letters, not of the hash.
    by_letters: bool,
    stretch: Stretch,
    /// The reverse complement of the packed bases, up to whole words: that of base `i` is at
    /// `complements - 1 - i`.
    reversed: Box<[u8]>,
    complements: usize,
}

impl<const W: usize> Cutter<W> {
    /// A cutter for k-mers of `shape`, on the fastest kernels that run here.
    pub fn new(shape: Shape) -> Cutter<W> {
        Cutter::with_kernels(shape, Kernels::detect())
    }

    /// A cutter on given kernels; the super-k-mers are the same for all.
    pub fn with_kernels(shape: Shape, kernels: Kernels) -> Cutter<W> {
        assert!(shape.words() == W, "W is the number of words of the shape");
        let stretch = Stretch::default();
        let scheme = MinimizerScheme {
            m: shape.m(),
            w: shape.window(),
        };
        Cutter {
            shape,
            kernels,
            scheme,
            by_letters: false,
            reversed: vec![0; stretch.packed.len()].into(),
            complements: 0,
            stretch,
        }
    }

    /// A cutter whose minimizer is the m-mer that comes first in the order of the letters, and
    /// that names no bin: [`Cutter::cut`] gives its two-bit value, below 4^m, instead. Stranded
    /// k-mers have a minimizer of their own strand, others one of canonical m-mers.
    ///
    /// That is how k-mers were divided before hashes were (Roberts et al. 2004), and what models
    /// of devices do whose hardware compares letters.
    ///
    /// # Panics
    /// When `m` is not 1 to 13, or longer than a k-mer.
    pub fn by_letters(shape: Shape, m: usize) -> Cutter<W> {
        assert!(
            (1..=13).contains(&m) && m <= shape.k(),
            "m is 1 to 13, at most k"
        );
        let w = shape.k() - m + 1;
        Cutter {
            scheme: MinimizerScheme { m, w },
            by_letters: true,
            ..Cutter::new(shape)
        }
    }

    /// Calls `emit` with the bin and the super-k-mer of every run of k-mers of `letters`; k-mers
    /// over a letter that is no base are skipped. Returns the number of k-mers, or the first error
    /// of `emit`.
    #[inline]
    pub fn cut<E>(
        &mut self,
        letters: &[u8],
        emit: &mut impl FnMut(usize, SuperKmer<W>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let (overlap, mut start, mut kmers) = (self.shape.k() - 1, 0, 0);
        while start + overlap < letters.len() {
            let end = letters.len().min(start + MAX_LETTERS);
            let stretch = &letters[start..end];
            if self.kernels.pack(stretch, &mut self.stretch) {
                kmers += self.cut_packed(stretch.len(), emit)?;
            } else {
                kmers += self.cut_around_others(stretch, emit)?;
            }
            start = end - overlap;
            if end == letters.len() {
                break;
            }
        }
        Ok(kmers)
    }

    #[cold]
    fn cut_around_others<E>(
        &mut self,
        letters: &[u8],
        emit: &mut impl FnMut(usize, SuperKmer<W>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut kmers = 0;
        for bases in letters.split(|&letter| gyrase_seq::encode(letter).is_none()) {
            if bases.len() >= self.shape.k() {
                self.kernels.pack(bases, &mut self.stretch);
                kmers += self.cut_packed(bases.len(), emit)?;
            }
        }
        Ok(kmers)
    }

    #[inline(always)]
    fn cut_packed<E>(
        &mut self,
        bases: usize,
        emit: &mut impl FnMut(usize, SuperKmer<W>) -> Result<(), E>,
    ) -> Result<u64, E> {
        let (scheme, stretch) = (self.scheme, &mut self.stretch);
        let kmers = match self.by_letters {
            false => self.kernels.minimizers(bases, scheme, stretch),
            true => minimizers_by_letters(bases, scheme, self.shape.stranded(), stretch),
        };
        if !self.shape.stranded() {
            self.reverse(bases);
        }
        let mut start = 0;
        for word in 0..kmers.div_ceil(64) {
            let mut changes = self.stretch.changes[word];
            while changes != 0 {
                let next = 64 * word + changes.trailing_zeros() as usize;
                changes &= changes - 1;
                if next > start {
                    self.emit_run(start, next, emit)?;
                    start = next;
                }
            }
        }
        if kmers > start {
            self.emit_run(start, kmers, emit)?;
        }
        Ok(kmers as u64)
    }

    #[inline(always)]
    fn emit_run<E>(
        &self,
        start: usize,
        end: usize,
        emit: &mut impl FnMut(usize, SuperKmer<W>) -> Result<(), E>,
    ) -> Result<(), E> {
        let bin = match self.by_letters {
            false => bin_of_hash(self.stretch.hashes[start]),
            true => self.stretch.hashes[start] as usize,
        };
        let capacity = SuperKmer::<W>::capacity(self.shape);
        let mut start = start;
        while end - start > capacity {
            emit(bin, self.super_kmer(start, capacity))?;
            start += capacity;
        }
        emit(bin, self.super_kmer(start, end - start))
    }

    /// The super-k-mer of `kmers` k-mers from `start` on; the smaller strand unless stranded.
    #[inline(always)]
    fn super_kmer(&self, start: usize, kmers: usize) -> SuperKmer<W> {
        let bases = kmers + self.shape.k() - 1;
        let forward = SuperKmer::bases_of(&self.stretch.packed, start, bases);
        if self.shape.stranded() {
            return SuperKmer::of_bases(forward, kmers);
        }
        let reverse = SuperKmer::bases_of(&self.reversed, self.complements - start - bases, bases);
        let smaller = if W == 1 {
            [forward[0].min(reverse[0]); W]
        } else {
            forward.min(reverse)
        };
        SuperKmer::of_bases(smaller, kmers)
    }

    fn reverse(&mut self, bases: usize) {
        let words = bases.div_ceil(64);
        self.complements = 64 * words;
        let (packed, _) = self.stretch.packed[..16 * words].as_chunks::<16>();
        let (reversed, _) = self.reversed[..16 * words].as_chunks_mut::<16>();
        for (word, reversed) in packed.iter().zip(reversed.iter_mut().rev()) {
            *reversed = (!reverse_groups(u128::from_le_bytes(*word))).to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bin_of;
    use proptest::prelude::*;

    fn naive<const W: usize>(letters: &[u8], shape: Shape) -> Vec<(usize, Key<W>)> {
        let kmers = letters
            .windows(shape.k())
            .filter_map(Kmer::<W>::from_letters);
        let mut keys: Vec<_> = kmers
            .map(|kmer| (bin_of(kmer, shape), Key::from(kmer.form(shape))))
            .collect();
        keys.sort();
        keys
    }

    fn cut<const W: usize>(letters: &[u8], shape: Shape, kernels: Kernels) -> Vec<(usize, Key<W>)> {
        let mut keys = Vec::new();
        let mut emit = |bin, superkmer: SuperKmer<W>| {
            let stored = SuperKmer::<W>::stored_bytes(superkmer.kmers(), shape);
            let mut bytes = superkmer.to_bytes().as_flattened().to_vec();
            assert!(bytes[stored..].iter().all(|&byte| byte == 0));
            bytes[stored..].fill(0xa5);
            let read = SuperKmer::<W>::from_bytes(&bytes, shape).unwrap();
            assert_eq!(read, superkmer);
            read.for_each_key(shape, |key| keys.push((bin, key)));
            let mut written = vec![[0; W]; SuperKmer::<W>::MOST_KEYS];
            let kmers = read.keys(shape, kernels, &mut written);
            assert_eq!(kmers, read.kmers());
            assert!(
                written[..kmers]
                    .iter()
                    .zip(&keys[keys.len() - kmers..])
                    .all(|(one, (_, other))| *one == other.0)
            );
            Ok::<(), ()>(())
        };
        let kmers = Cutter::with_kernels(shape, kernels)
            .cut(letters, &mut emit)
            .unwrap();
        assert_eq!(kmers as usize, keys.len());
        keys.sort();
        keys
    }

    fn check(letters: &[u8], shape: Shape) {
        crate::with_words!(shape, W => {
            let expected = naive::<W>(letters, shape);
            for kernels in Kernels::available() {
                assert_eq!(cut::<W>(letters, shape, kernels), expected, "{kernels:?} {shape:?}");
            }
        });
    }

    const EDGES: [usize; 19] = [
        1, 2, 3, 8, 9, 15, 16, 21, 31, 32, 33, 55, 63, 64, 65, 95, 96, 97, 127,
    ];

    #[test]
    fn low_complexity_and_long_stretches() {
        let random: Vec<u8> = (0..10_000)
            .map(|i| b"ACGT"[(crate::mix(i) >> 62) as usize])
            .collect();
        let mut holes = random.clone();
        holes
            .iter_mut()
            .step_by(611)
            .for_each(|letter| *letter = b'N');
        for k in EDGES {
            for stranded in [false, true] {
                let shape = Shape::new(k, stranded).unwrap();
                check(&random, shape);
                check(&holes, shape);
                check(&[b'A'; 700], shape);
                check(&b"AC".repeat(300), shape);
                check(b"", shape);
            }
        }
    }

    #[test]
    fn strands_give_the_same_super_kmers() {
        let letters: Vec<u8> = (0..3000)
            .map(|i| b"ACGT"[(crate::mix(i + 7) >> 62) as usize])
            .collect();
        let shape = Shape::new(31, false).unwrap();
        let collect = |letters: &[u8]| {
            let mut all = Vec::new();
            let mut emit = |bin, superkmer: SuperKmer<1>| {
                all.push((bin, superkmer.0));
                Ok::<(), ()>(())
            };
            Cutter::new(shape).cut(letters, &mut emit).unwrap();
            all.sort();
            all
        };
        assert_eq!(
            collect(&letters),
            collect(&gyrase_seq::reverse_complement(&letters))
        );
    }

    /// By the definition: the smallest m-mer, letter by letter.
    #[test]
    fn minimizers_by_letters_are_the_smallest_words() {
        let letters: Vec<u8> = (0..3000)
            .map(|i| b"ACGT"[(crate::mix(i + 5) >> 62) as usize])
            .collect();
        for (k, m) in [
            (9, 9),
            (14, 9),
            (21, 9),
            (28, 9),
            (28, 4),
            (33, 11),
            (31, 13),
        ] {
            for stranded in [false, true] {
                let shape = Shape::new(k, stranded).unwrap();
                let smallest = |kmer: &[u8]| {
                    let word = |letters| Kmer::<1>::from_letters(letters).unwrap();
                    let form = |word: Kmer<1>| if stranded { word } else { word.canonical(m) };
                    kmer.windows(m)
                        .map(|letters| form(word(letters)).0[0])
                        .min()
                        .unwrap()
                };
                let expected: Vec<u64> = letters.windows(k).map(smallest).collect();
                let mut found = Vec::new();
                crate::with_words!(shape, W => {
                    let mut emit = |minimizer: usize, super_kmer: SuperKmer<W>| {
                        found.extend(std::iter::repeat_n(minimizer as u64, super_kmer.kmers()));
                        Ok::<(), ()>(())
                    };
                    Cutter::by_letters(shape, m).cut(&letters, &mut emit).unwrap();
                });
                assert_eq!(found, expected, "k={k} m={m} stranded={stranded}");
            }
        }
    }

    #[test]
    fn bytes_without_a_super_kmer_are_refused() {
        let shape = Shape::new(31, false).unwrap();
        assert_eq!(SuperKmer::<1>::from_bytes(&[0; 16], shape), None);
        assert_eq!(SuperKmer::<1>::from_bytes(&[200; 16], shape), None);
        assert_eq!(SuperKmer::<1>::from_bytes(&[1; 15], shape), None);
    }

    proptest! {
        #[test]
        fn cutting_loses_and_doubles_nothing(
            letters in proptest::collection::vec(
                proptest::sample::select(b"ACGTacgtUN".to_vec()),
                0..600,
            ),
            edge in 0..EDGES.len(), stranded: bool,
        ) {
            check(&letters, Shape::new(EDGES[edge], stranded).unwrap());
        }
    }
}
