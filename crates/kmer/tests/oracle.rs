//! Packing, k-mers and minimizers, compared with packed-seq and simd-minimizers.
//!
//! Two differences have to be bridged. Their codes are `A=0 C=1 T=2 G=3`. And their sliding minimum
//! compares the upper 16 bits of a hash only, ours all 32: the hasher given to them returns the
//! rank of our hash among those of the sequence, in the upper 16 bits, which orders the m-mers as
//! our hash does because a sequence here has far fewer than 2^16 of them.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use gyrase_kmer::{
    Kernels, Kmer, MAX_LETTERS, MinimizerScheme, Shape, Stretch, minimizer_hash, with_words,
};
use simd_minimizers::packed_seq::{PackedSeq, PackedSeqVec, Seq, SeqVec, u32x8};
use simd_minimizers::seq_hash::KmerHasher;
use simd_minimizers::{canonical_minimizers, minimizers};

const LENGTHS: [usize; 7] = [21, 31, 33, 55, 63, 65, 127];

/// Their code of a base as ours, and ours as theirs; also of four in a byte.
fn translated(codes: u8) -> u8 {
    codes ^ (codes >> 1 & 0b0101_0101)
}

fn random(n: usize, alphabet: &[u8], seed: usize) -> Vec<u8> {
    let mut state = seed as u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (gyrase_kmer::mix(state) >> 33) as usize
    };
    (0..n).map(|_| alphabet[next() % alphabet.len()]).collect()
}

/// Sequences at the edges of registers and buffers: random ones, and such with many equal m-mers in
/// a window.
fn sequences(k: usize) -> Vec<Vec<u8>> {
    let around = [64, 128, 150, 256, 512, 1024]
        .into_iter()
        .flat_map(|n| n - 1..=n + 1);
    let lengths = (k - 1..k + 40)
        .chain(around)
        .chain([MAX_LETTERS - 1, MAX_LETTERS]);
    let mut sequences: Vec<Vec<u8>> = lengths
        .map(|n| random(n, b"ACGTacgt", 1000 * k + n))
        .collect();
    sequences.push(vec![b'A'; 300]);
    sequences.push(b"AC".repeat(150));
    sequences.push(b"ACGTTGCA".repeat(40));
    sequences.push(random(600, b"AT", k));
    sequences.push(random(40, b"ACGT", k).repeat(12));
    sequences
}

fn window(k: usize) -> MinimizerScheme {
    let shape = Shape::new(k, false).unwrap();
    MinimizerScheme {
        m: shape.m(),
        w: shape.window(),
    }
}

#[test]
fn packing_is_the_same() {
    for n in (0..=260).chain([1000, MAX_LETTERS - 1, MAX_LETTERS]) {
        let letters = random(n, b"ACGTacgt", n);
        let theirs: Vec<u8> = PackedSeqVec::from_ascii(&letters)
            .as_slice()
            .iter_bp()
            .map(translated)
            .collect();
        for kernels in Kernels::available() {
            let mut stretch = Stretch::default();
            assert!(kernels.pack(&letters, &mut stretch));
            let ours: Vec<u8> = (0..n)
                .map(|i| stretch.packed[i / 4] >> (2 * (i % 4)) & 3)
                .collect();
            assert_eq!(ours, theirs, "{kernels:?}, {n} letters");
        }
    }
}

#[test]
fn kmers_and_reverse_complements_are_the_same() {
    for k in LENGTHS {
        let letters = random(k + 100, b"ACGT", k);
        let packed = PackedSeqVec::from_ascii(&letters);
        for (i, word) in letters.windows(k).enumerate() {
            let theirs = packed.slice(i..i + k);
            let shape = Shape::new(k, false).unwrap();
            with_words!(shape, W => {
                let kmer = Kmer::<W>::from_letters(word).unwrap();
                assert!(kmer == spelled(theirs), "k={k} i={i}");
                assert!(
                    kmer.reverse_complement(k) == spelled(theirs.to_revcomp().as_slice()),
                    "k={k} i={i}"
                );
            });
        }
    }
}

/// A k-mer of theirs as one of ours.
fn spelled<const W: usize>(kmer: PackedSeq) -> Kmer<W> {
    kmer.iter_bp()
        .fold(Kmer::ZERO, |kmer, code| kmer.push(translated(code)))
}

/// The ranks of our hashes, for their sliding minimum.
struct Ranks {
    m: usize,
    /// Every hash of the sequence, sorted.
    hashes: Vec<u32>,
}

impl Ranks {
    fn of(sequence: PackedSeq, m: usize) -> Ranks {
        let count = (sequence.len() + 1).saturating_sub(m);
        let mut hashes: Vec<u32> = (0..count).map(|i| hash_at(sequence, m, i)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert!(hashes.len() < 1 << 16);
        Ranks { m, hashes }
    }

    /// A hash that is not of the sequence comes from its padding, or is wrong: it is never
    /// smallest.
    fn rank(&self, hash: u32) -> u32 {
        self.hashes
            .binary_search(&hash)
            .map_or(u32::MAX, |rank| (rank as u32) << 16)
    }

    /// A function that takes the next base of a sequence and returns the rank of the m-mer that
    /// ends there.
    fn roll(&self) -> impl FnMut(u8) -> u32 {
        let (mut forward, mut reverse) = (0u32, 0u32);
        move |code| {
            let code = u32::from(translated(code));
            forward = (forward << 2 | code) & (u32::MAX >> (32 - 2 * self.m));
            reverse = reverse >> 2 | (3 - code) << (2 * (self.m - 1));
            self.rank(minimizer_hash(forward.min(reverse)))
        }
    }
}

/// Our hash of the m-mer at a place of their sequence, from their slices and their reverse
/// complement.
fn hash_at(sequence: PackedSeq, m: usize, place: usize) -> u32 {
    let mmer = sequence.slice(place..place + m);
    let canonical = spelled::<1>(mmer).min(spelled(mmer.to_revcomp().as_slice()));
    minimizer_hash(canonical.0[0] as u32)
}

impl KmerHasher for Ranks {
    const CANONICAL: bool = true;

    fn new(m: usize) -> Ranks {
        Ranks {
            m,
            hashes: Vec::new(),
        }
    }

    fn k(&self) -> usize {
        self.m
    }

    fn in_out_mapper_scalar<'s>(&self, _: impl Seq<'s>) -> impl FnMut((u8, u8)) -> u32 {
        let mut roll = self.roll();
        move |(base, _)| roll(base)
    }

    fn in_out_mapper_simd<'s>(&self, _: impl Seq<'s>) -> impl FnMut((u32x8, u32x8)) -> u32x8 {
        let mut rolls: [_; 8] = std::array::from_fn(|_| self.roll());
        move |(bases, _)| {
            let bases = bases.to_array();
            std::array::from_fn(|lane| rolls[lane](bases[lane] as u8)).into()
        }
    }

    fn mapper<'s>(&self, _: impl Seq<'s>) -> impl FnMut(u8) -> u32 {
        self.roll()
    }
}

/// How they find the minimizer of a window: the leftmost, or that of the strand with more `T` and
/// `G`, by either code.
fn their_ways(sequence: PackedSeq, window: MinimizerScheme, ranks: &Ranks) -> [Vec<u32>; 4] {
    let MinimizerScheme { m, w } = window;
    let mut starts: [Vec<u32>; 4] = Default::default();
    let [a, b, c, d] = &mut starts;
    let places = [
        minimizers(m, w)
            .hasher(ranks)
            .super_kmers(a)
            .run_once(sequence),
        minimizers(m, w)
            .hasher(ranks)
            .super_kmers(b)
            .run_scalar_once(sequence),
        canonical_minimizers(m, w)
            .hasher(ranks)
            .super_kmers(c)
            .run_once(sequence),
        canonical_minimizers(m, w)
            .hasher(ranks)
            .super_kmers(d)
            .run_scalar_once(sequence),
    ];
    let windows = sequence.len() + 2 - m - w;
    std::array::from_fn(|way| hashes_of_windows(sequence, m, &places[way], &starts[way], windows))
}

/// Our hash of the minimizer of every window, from places of minimizers and the first window of
/// each.
fn hashes_of_windows(
    sequence: PackedSeq,
    m: usize,
    places: &[u32],
    starts: &[u32],
    windows: usize,
) -> Vec<u32> {
    let ends = starts.iter().skip(1).copied().chain([windows as u32]);
    let runs = places.iter().zip(starts.iter().zip(ends));
    let hashes = runs.flat_map(|(&place, (&start, end))| {
        std::iter::repeat_n(hash_at(sequence, m, place as usize), (end - start) as usize)
    });
    hashes.collect()
}

#[test]
fn minimizers_are_the_same() {
    for k in LENGTHS {
        let window = window(k);
        for letters in sequences(k) {
            let packed = PackedSeqVec::from_ascii(&letters);
            let ours = Kernels::available()
                .into_iter()
                .map(|kernels| our_hashes(kernels, &letters, window));
            let ours: Vec<Vec<u32>> = ours.collect();
            if letters.len() < k {
                assert!(ours.iter().all(Vec::is_empty));
                continue;
            }
            let ranks = Ranks::of(packed.as_slice(), window.m);
            for theirs in their_ways(packed.as_slice(), window, &ranks) {
                assert_eq!(theirs.len(), letters.len() + 1 - k);
                for (ours, kernels) in ours.iter().zip(Kernels::available()) {
                    assert!(
                        *ours == theirs,
                        "{kernels:?} k={k}, {} letters",
                        letters.len()
                    );
                }
            }
        }
    }
}

fn our_hashes(kernels: Kernels, letters: &[u8], window: MinimizerScheme) -> Vec<u32> {
    let mut stretch = Stretch::default();
    assert!(kernels.pack(letters, &mut stretch));
    let kmers = kernels.minimizers(letters.len(), window, &mut stretch);
    stretch.hashes[..kmers].to_vec()
}
