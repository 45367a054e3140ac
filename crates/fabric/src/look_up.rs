//! Questions to the owners of keys, words to them, and what rank 0 takes from all.

use crate::{FabricError, Mailbox, World};

/// Collective. Asks the owners of keys and gives their answers in the order asked. Every process
/// gives its own questions, perhaps none, each a rank and a key, and answers those of all others by
/// `answer`. A key has `K` bytes and an answer `A`.
///
/// What is asked, and the answers, is in memory at once: whoever has many questions asks them
/// [`in_batches`].
///
/// ```
/// use gyrase_fabric::{Alone, look_up};
///
/// let counts = [10u8, 20, 30];
/// let answers = look_up(&Alone, &[(0, [2u8]), (0, [0])], |[key]| [counts[usize::from(key)]])?;
/// assert_eq!(answers, [[30], [10]]);
/// # Ok::<(), gyrase_fabric::FabricError>(())
/// ```
///
/// # Errors
/// Another process failed.
///
/// # Panics
/// When there is no such rank.
pub fn look_up<const K: usize, const A: usize>(
    world: &dyn World,
    questions: &[(usize, [u8; K])],
    mut answer: impl FnMut([u8; K]) -> [u8; A],
) -> Result<Vec<[u8; A]>, FabricError> {
    let (asked, answered) = (world.mailbox()?, world.mailbox()?);
    send_all(world, &*asked, for_each(world, questions))?;
    for _ in 0..world.ranks() {
        let (rank, keys) = asked.wait()?;
        let keys = keys.as_chunks().0;
        let mut answers = Vec::with_capacity(keys.len() * A);
        keys.iter()
            .for_each(|&key| answers.extend_from_slice(&answer(key)));
        answered.send(rank as usize, world.rank() as u64, answers)?;
    }
    let mut answers = vec![Vec::new().into_iter(); world.ranks()];
    for _ in 0..world.ranks() {
        let (rank, bytes) = answered.wait()?;
        answers[rank as usize] = bytes.as_chunks().0.to_vec().into_iter();
    }
    let next = |(rank, _): &(usize, [u8; K])| answers[*rank].next();
    let in_order = questions.iter().map(next).collect::<Option<_>>();
    Ok(in_order.expect("an answer for each question"))
}

/// Collective. Tells processes something that they need not answer: every process gives its own
/// words, perhaps none, each a rank and `K` bytes, and hears those that all others have for it, in
/// no particular order. They are in memory at once, as questions are ([`look_up`]).
///
/// ```
/// use gyrase_fabric::{Alone, tell};
///
/// let mut counts = [10u8, 20, 30];
/// tell(&Alone, &[(0, [2u8, 5]), (0, [0, 1])], |[key, more]| counts[usize::from(key)] += more)?;
/// assert_eq!(counts, [11, 20, 35]);
/// # Ok::<(), gyrase_fabric::FabricError>(())
/// ```
///
/// # Errors
/// Another process failed.
///
/// # Panics
/// When there is no such rank.
pub fn tell<const K: usize>(
    world: &dyn World,
    words: &[(usize, [u8; K])],
    mut hear: impl FnMut([u8; K]),
) -> Result<(), FabricError> {
    for words in all_to_all(world, for_each(world, words))? {
        words.as_chunks().0.iter().for_each(|&word| hear(word));
    }
    Ok(())
}

/// Collective. Every process gives bytes for each process, perhaps none, and gets what all have for
/// it, in the order of ranks.
///
/// # Errors
/// Another process failed.
///
/// # Panics
/// When there are more messages than processes.
pub fn all_to_all(world: &dyn World, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, FabricError> {
    let mailbox = world.mailbox()?;
    send_all(world, &*mailbox, messages)?;
    let mut came = vec![Vec::new(); world.ranks()];
    for _ in 0..world.ranks() {
        let (rank, bytes) = mailbox.wait()?;
        came[rank as usize] = bytes;
    }
    Ok(came)
}

/// Bytes of things that are on their way at a time.
const BATCH: usize = 4 << 20;

/// Collective. Does something with all things of this process, so many at a time: in every process
/// as often as in that with the most, the last times perhaps with nothing.
///
/// # Errors
/// Another process failed, or what is done failed.
pub fn in_batches<T>(
    world: &dyn World,
    mut all: impl ExactSizeIterator<Item = T>,
    mut each: impl FnMut(Vec<T>) -> Result<(), FabricError>,
) -> Result<(), FabricError> {
    let batch = BATCH / size_of::<T>().max(1);
    let most = world.max(&[all.len().div_ceil(batch) as u64])?[0];
    (0..most).try_for_each(|_| each(all.by_ref().take(batch).collect()))
}

/// Collective. Rank 0 takes the pieces of all processes, in the order of ranks. Each process sends
/// a piece once the one before was taken, so that two are in memory, whatever there is.
///
/// # Errors
/// Another process failed, or rank 0 cannot take a piece.
pub fn gather_in_pieces<E: From<FabricError>>(
    world: &dyn World,
    mut pieces: impl Iterator<Item = Vec<u8>>,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    const PIECE: u64 = 0;
    const END: u64 = 1;
    let (asked, sent) = (world.mailbox()?, world.mailbox()?);
    if world.rank() != 0 {
        loop {
            asked.wait()?;
            match pieces.next() {
                Some(piece) => sent.send(0, PIECE, piece)?,
                None => return Ok(sent.send(0, END, Vec::new())?),
            }
        }
    }
    pieces.try_for_each(|piece| take(&piece))?;
    for rank in 1..world.ranks() {
        loop {
            asked.send(rank, PIECE, Vec::new())?;
            match sent.wait()? {
                (PIECE, piece) => take(&piece)?,
                _ => break,
            }
        }
    }
    Ok(())
}

/// The words for each process, behind each other.
fn for_each<const K: usize>(world: &dyn World, words: &[(usize, [u8; K])]) -> Vec<Vec<u8>> {
    let mut messages = vec![Vec::new(); world.ranks()];
    for (rank, word) in words {
        messages[*rank].extend_from_slice(word);
    }
    messages
}

/// Sends every process one message, with the rank of this one.
fn send_all(
    world: &dyn World,
    mailbox: &dyn Mailbox,
    messages: Vec<Vec<u8>>,
) -> Result<(), FabricError> {
    let mut messages = messages.into_iter().enumerate();
    messages.try_for_each(|(rank, bytes)| mailbox.send(rank, world.rank() as u64, bytes))
}
