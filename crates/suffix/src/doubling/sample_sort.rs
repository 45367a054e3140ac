//! Sorting what all processes have together, by splitters from a sample.

use gyrase_fabric::{FabricError, World, all_to_all_part, in_batches};

/// Records in the samples of all processes together, at most and of each process at least.
const SAMPLE: usize = 1 << 18;
const LEAST_SAMPLE: usize = 64;
/// Records in the sample of a process that are enough for even shares.
const MOST_SAMPLE: usize = 4096;

/// Collective. Sorts the records of all processes, of which this one gets so many: those of rank 0
/// are the smallest, and all together are as many as there are. No two records are equal. The words
/// of a record have so many bytes (`widths`) that say something.
pub(super) fn sort_among<const N: usize, R>(
    world: &dyn World,
    widths: [usize; N],
    records: impl Fn() -> R,
    places: usize,
) -> Result<Vec<[u64; N]>, FabricError>
where
    R: ExactSizeIterator<Item = [u64; N]>,
{
    let splitters = splitters(world, records())?;
    let sorter = |record: &[u64; N]| splitters.partition_point(|splitter| splitter <= record);
    let mut counts = vec![0; world.ranks()];
    records().for_each(|record| counts[sorter(&record)] += 1);
    let came = world.sum(&counts)?[world.rank()];
    let mut own = Vec::with_capacity(came as usize);
    let to_sorters = records().map(|record| (sorter(&record), record));
    send(world, widths, to_sorters, |_, record| own.push(record))?;
    own.sort_unstable();
    dealt(world, widths, own, places)
}

/// Hands out sorted records by the places that each process has.
fn dealt<const N: usize>(
    world: &dyn World,
    widths: [usize; N],
    sorted: Vec<[u64; N]>,
    places: usize,
) -> Result<Vec<[u64; N]>, FabricError> {
    let (place_of_ranks, from_ranks) = (starts(world, places)?, starts(world, sorted.len())?);
    let first = from_ranks[world.rank()];
    let owner = |number: usize| place_of_ranks.partition_point(|&start| start <= number) - 1;
    let own = place_of_ranks[world.rank()];
    // Where the next record of each process goes: what it sends comes in order.
    let next = |&start: &usize| start.saturating_sub(own);
    let mut next: Vec<usize> = from_ranks.iter().map(next).collect();
    let mut came = vec![[0; N]; places];
    let numbered = sorted.iter().enumerate();
    let to_owners = numbered.map(|(number, &record)| (owner(first + number), record));
    send(world, widths, to_owners, |rank, record| {
        came[next[rank]] = record;
        next[rank] += 1;
    })?;
    Ok(came)
}

/// Where the things of each process begin when all are laid out in the order of ranks.
fn starts(world: &dyn World, count: usize) -> Result<Vec<usize>, FabricError> {
    let mut start = 0;
    let counts = world.all_gather_of(&count)?;
    let next = counts.iter().map(|&count| {
        start += count;
        start - count
    });
    Ok(next.collect())
}

/// Splits the records of all into as many runs as there are processes, of about equal length.
fn splitters<const N: usize>(
    world: &dyn World,
    own: impl ExactSizeIterator<Item = [u64; N]>,
) -> Result<Vec<[u64; N]>, FabricError> {
    let ranks = world.ranks();
    let wanted = ranks * (SAMPLE / ranks).clamp(LEAST_SAMPLE, MOST_SAMPLE);
    let all = world.sum(&[own.len() as u64])?[0];
    let step = (all / wanted as u64).max(1);
    // No regular step, which might be that of a repeat in the text.
    let is_taken =
        |number: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(step);
    let sample = (0u64..).zip(own);
    let sample = sample.filter(|&(number, _)| is_taken(number));
    let bytes: Vec<u8> = sample
        .flat_map(|(_, record)| record)
        .flat_map(u64::to_ne_bytes)
        .collect();
    let all = world.all_gather(&bytes)?;
    let mut all: Vec<[u64; N]> = all.iter().flat_map(|bytes| records(bytes)).collect();
    all.sort_unstable();
    let splitter = |rank: usize| all.get(rank * all.len() / ranks).copied();
    Ok((1..ranks).filter_map(splitter).collect())
}

/// Collective. Sends records to processes, of each word so many of the lowest bytes. Each process
/// hears what comes to it with the rank that sent it, and hears one in the order in which that
/// sends.
pub(super) fn send<const N: usize>(
    world: &dyn World,
    widths: [usize; N],
    all: impl ExactSizeIterator<Item = (usize, [u64; N])>,
    mut hear: impl FnMut(usize, [u64; N]),
) -> Result<(), FabricError> {
    let record_bytes = widths.iter().sum();
    in_batches(all, |batch, has_more| {
        let mut messages = vec![Vec::new(); world.ranks()];
        for (rank, record) in batch {
            for (word, width) in record.into_iter().zip(widths) {
                messages[rank].extend_from_slice(&word.to_le_bytes()[..width]);
            }
        }
        let (came, has_more) = all_to_all_part(world, messages, has_more)?;
        for (rank, bytes) in came.iter().enumerate() {
            for mut record in bytes.chunks_exact(record_bytes) {
                let words = widths.map(|width| {
                    let (word, rest) = record.split_at(width);
                    record = rest;
                    word_of(word)
                });
                hear(rank, words);
            }
        }
        Ok(has_more)
    })
}

/// The word of which these are the lowest bytes; the others are zeros.
pub(super) fn word_of(lowest: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..lowest.len()].copy_from_slice(lowest);
    u64::from_le_bytes(bytes)
}

fn records<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u64; N]> + '_ {
    let words = bytes.as_chunks().0;
    let record = |words: &[[u8; 8]]| std::array::from_fn(|at| u64::from_ne_bytes(words[at]));
    words.chunks_exact(N).map(record)
}
