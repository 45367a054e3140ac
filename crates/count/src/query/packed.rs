//! The counts of many packed k-mers.

use gyrase_kmer::{Key, Kmer, Shape, bin_of_strands, with_words};
use gyrase_table::gyk::{BinView, Database};
use gyrase_work::in_parallel;

use crate::ops::OperationError;

/// k-mers that are looked up side by side, so that their waits for memory overlap.
const SIDE_BY_SIDE: usize = 64;

/// Fewer k-mers than this are not worth a thread of their own.
const A_THREAD: usize = 1 << 15;

/// The counts of packed k-mers, 0 where the database has one not.
///
/// `words` holds the [`Kmer`]s one behind the other, each as many words of 64 bits as the shape of
/// the database has, the most significant first: two bits a base, right-aligned. Either strand will
/// do, unless the database is stranded. `counts` takes one number for each. At most `threads`
/// threads work; a short list takes fewer.
///
/// # Errors
/// One of them has bits beyond its k bases ([`OperationError::NotPacked`]), or a bin that it would
/// be in was damaged.
///
/// # Panics
/// When `words` and `counts` are not equally many k-mers.
pub fn look_up_packed(
    database: &Database,
    words: &[u64],
    counts: &mut [u32],
    threads: usize,
) -> Result<(), OperationError> {
    assert_eq!(
        words.len(),
        counts.len() * database.shape().words(),
        "there is a count for each k-mer"
    );
    with_words!(database.shape(), W => look_up_rows::<W>(
        database, words.as_chunks::<W>().0, counts, threads,
    ))
}

fn look_up_rows<const W: usize>(
    database: &Database,
    rows: &[[u64; W]],
    counts: &mut [u32],
    threads: usize,
) -> Result<(), OperationError> {
    let threads = threads.min(rows.len() / A_THREAD).max(1);
    let share = rows.len().div_ceil(threads).max(1);
    let shares = rows.chunks(share).zip(counts.chunks_mut(share)).enumerate();
    in_parallel(shares.collect(), |(number, (rows, counts))| {
        look_up_share(database, rows, counts, number * share)
    })?;
    Ok(())
}

/// What one thread does; `first` is the number of its first k-mer.
fn look_up_share<const W: usize>(
    database: &Database,
    rows: &[[u64; W]],
    counts: &mut [u32],
    first: usize,
) -> Result<(), OperationError> {
    let mut pending: Vec<(BinView, [u64; W])> = Vec::with_capacity(SIDE_BY_SIDE);
    let blocks = rows
        .chunks(SIDE_BY_SIDE)
        .zip(counts.chunks_mut(SIDE_BY_SIDE));
    for (block, (rows, counts)) in blocks.enumerate() {
        let mut touched = 0;
        for (at, &row) in rows.iter().enumerate() {
            let kmer = checked(Kmer(row), database, first + block * SIDE_BY_SIDE + at)?;
            let (bin, key) = place(kmer, database.shape());
            let bin = database.sound_bin(bin)?;
            touched ^= bin.touch(&key);
            pending.push((bin, key));
        }
        std::hint::black_box(touched);
        for ((bin, key), count) in pending.drain(..).zip(counts) {
            *count = bin.find(&key).map_or(0, |row| bin.count(row));
        }
    }
    Ok(())
}

/// The k-mer, if it has no bits beyond its bases.
#[inline(always)]
fn checked<const W: usize>(
    kmer: Kmer<W>,
    database: &Database,
    number: usize,
) -> Result<Kmer<W>, OperationError> {
    let k = database.shape().k();
    if kmer == kmer.masked(k) {
        Ok(kmer)
    } else {
        Err(OperationError::NotPacked { number, k })
    }
}

/// The bin that a k-mer would be in, and its key there.
#[inline(always)]
fn place<const W: usize>(kmer: Kmer<W>, shape: Shape) -> (usize, [u64; W]) {
    let reverse = kmer.reverse_complement(shape.k());
    let form = if shape.stranded() {
        kmer
    } else {
        kmer.min(reverse)
    };
    (bin_of_strands(kmer, reverse, shape), Key::from(form).0)
}
