//! What processes counted apart, added up.
//!
//! The counts of a key are added up by the process that the key falls to.

use std::collections::BTreeMap;

use gyrase_fabric::{FabricError, World, all_to_all};
use gyrase_kmer::{Key, Kmer};

use crate::among::Among;

/// A k-mer, and how often it was seen.
pub type Counted<const W: usize> = (Kmer<W>, u32);

/// The process among so many that a k-mer falls to.
pub fn owner<const W: usize>(kmer: Kmer<W>, ranks: usize) -> usize {
    (Key::from(kmer).0[0] % ranks as u64) as usize
}

/// k-mers with their counts in each process, ascending; those that fall to this one with those of
/// all, ascending.
///
/// Collective.
pub fn counted<const W: usize>(
    among: &Among,
    own: Vec<Counted<W>>,
) -> Result<Vec<Counted<W>>, FabricError> {
    let (mut all, ranks) = (Vec::new(), among.world.ranks());
    if ranks == 1 {
        return Ok(own);
    }
    let word = |(kmer, count)| (owner(kmer, ranks), bytes_of(kmer, count));
    among.tell(&own, word, |bytes| all.push(of_bytes(bytes)))?;
    all.sort_unstable_by_key(|counted| counted.0);
    add_up(&mut all);
    Ok(all)
}

/// Makes equal k-mers that follow each other one, with the sum of their counts.
pub fn add_up<const W: usize>(counted: &mut Vec<Counted<W>>) {
    counted.dedup_by(|one, kept| {
        let equal = one.0 == kept.0;
        kept.1 = kept.1.saturating_add(if equal { one.1 } else { 0 });
        equal
    });
}

/// A k-mer and a number, as they travel.
pub fn bytes_of<const W: usize>(kmer: Kmer<W>, number: u32) -> [u8; 8 * WORDS + 4] {
    let mut bytes = [0; 8 * WORDS + 4];
    let words = kmer.0.iter().flat_map(|word| word.to_le_bytes());
    bytes
        .iter_mut()
        .zip(words)
        .for_each(|(byte, own)| *byte = own);
    bytes[8 * WORDS..].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// What [`bytes_of`] made.
pub fn of_bytes<const W: usize>(bytes: [u8; 8 * WORDS + 4]) -> (Kmer<W>, u32) {
    let (words, number) = bytes.as_chunks::<8>();
    let word = |at: usize| u64::from_le_bytes(words[at]);
    let number = number.try_into().expect("four bytes are left");
    (Kmer(std::array::from_fn(word)), u32::from_le_bytes(number))
}

/// Words of the longest k-mer.
pub const WORDS: usize = 4;

/// Numbers of a key of so many words.
pub type Row<const K: usize, const N: usize> = ([u64; K], [u64; N]);

/// Keys of so many words with numbers of this process; each key once with the sums of all
/// processes, in the order of keys. Each row says by a number which process adds it up.
///
/// Collective.
pub fn summed<const K: usize, const N: usize>(
    world: &dyn World,
    own: &[(u64, [u64; K], [u64; N])],
) -> Result<Vec<Row<K, N>>, FabricError> {
    let mut messages = vec![Vec::new(); world.ranks()];
    for (number, key, numbers) in own {
        let message = &mut messages[(number % world.ranks() as u64) as usize];
        let words = key.iter().chain(numbers);
        message.extend(words.flat_map(|word| word.to_le_bytes()));
    }
    let mut sums: BTreeMap<[u64; K], [u64; N]> = BTreeMap::new();
    for bytes in all_to_all(world, messages)? {
        for (key, numbers) in rows::<K, N>(&bytes) {
            let sums = sums.entry(key).or_insert([0; N]).iter_mut();
            sums.zip(numbers)
                .for_each(|(sum, more)| *sum = sum.wrapping_add(more));
        }
    }
    let words = sums
        .iter()
        .flat_map(|(key, numbers)| key.iter().chain(numbers));
    let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    let all = world.all_gather(&bytes)?;
    let mut all: Vec<_> = all.iter().flat_map(|bytes| rows(bytes)).collect();
    all.sort_unstable_by_key(|row| row.0);
    Ok(all)
}

/// Keys and numbers, as they travel.
fn rows<const K: usize, const N: usize>(bytes: &[u8]) -> impl Iterator<Item = Row<K, N>> {
    let (words, _) = bytes.as_chunks();
    words.chunks_exact(K + N).map(|row| {
        let word = |at: usize| u64::from_le_bytes(row[at]);
        (
            std::array::from_fn(word),
            std::array::from_fn(|at| word(K + at)),
        )
    })
}
