//! What processes counted apart, added up: the same for all of them.
//!
//! Every process has the graph, and its share of the reads. What reads say of the graph is counted
//! by each process for its reads. The counts of a key are added up by the process that the key
//! falls to, so that each travels once to be summed and once to be known.

use std::collections::BTreeMap;

use gyrase_fabric::{FabricError, World, all_to_all};
use gyrase_kmer::{Key, Kmer};

/// k-mers with their counts in each process, ascending; with those of all, ascending.
///
/// Collective.
pub fn counted<const W: usize>(
    world: &dyn World,
    own: Vec<(Kmer<W>, u32)>,
) -> Result<Vec<(Kmer<W>, u32)>, FabricError> {
    let row = |&(kmer, count): &(Kmer<W>, u32)| {
        let mut words = [0; WORDS];
        words[..W].copy_from_slice(&kmer.0);
        let owner = Key::from(kmer).0[0];
        (owner, words, [u64::from(count)])
    };
    if world.ranks() == 1 {
        return Ok(own);
    }
    let own: Vec<_> = own.iter().map(row).collect();
    let all = summed(world, &own)?.into_iter();
    let counted = all.map(|(words, [count])| {
        let kmer = Kmer(std::array::from_fn(|word| words[word]));
        (kmer, u32::try_from(count).unwrap_or(u32::MAX))
    });
    Ok(counted.collect())
}

/// Words of the longest k-mer.
const WORDS: usize = 4;

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
