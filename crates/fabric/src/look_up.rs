//! Questions to the owners of keys, words to them, and what rank 0 takes from all.

use crate::{FabricError, Mailbox, World};

/// Collective. Asks the owners of keys; `take` gets their answers in the order asked. Every process
/// gives its own questions, perhaps none, each a rank and a key, and answers those of all others by
/// `answer`. A key has `K` bytes and an answer `A`.
///
/// Many are asked in [batches](in_batches).
///
/// ```
/// use gyrase_fabric::{Alone, look_up};
///
/// let (counts, mut answers) = ([10u8, 20, 30], Vec::new());
/// let questions = [(0, [2u8]), (0, [0])].into_iter();
/// let answer = |[key]: [u8; 1]| [counts[usize::from(key)]];
/// look_up(&Alone, questions, answer, |[count]| answers.push(count))?;
/// assert_eq!(answers, [30, 10]);
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
    questions: impl ExactSizeIterator<Item = (usize, [u8; K])>,
    mut answer: impl FnMut([u8; K]) -> [u8; A],
    mut take: impl FnMut([u8; A]),
) -> Result<(), FabricError> {
    let mut answers_to = |keys: Vec<u8>| {
        let keys = keys.as_chunks().0;
        let mut answers = Vec::with_capacity(keys.len() * A);
        keys.iter()
            .for_each(|&key| answers.extend_from_slice(&answer(key)));
        answers
    };
    in_batches(questions, |batch, has_more| {
        let (answers, has_more) = ask_part(world, for_each(world, &batch), has_more, |asked| {
            asked.into_iter().map(&mut answers_to).collect()
        })?;
        let mut answers: Vec<_> = answers
            .iter()
            .map(|bytes| bytes.as_chunks().0.iter())
            .collect();
        for (rank, _) in batch {
            let answer = answers[rank].next();
            take(*answer.expect("an answer for each question"));
        }
        Ok(has_more)
    })
}

/// Collective. Tells processes something that they need not answer: every process gives its own
/// words, perhaps none, each a rank and `K` bytes, and hears those that all others have for it, in
/// no particular order. Many are told in [batches](in_batches).
///
/// ```
/// use gyrase_fabric::{Alone, tell};
///
/// let mut counts = [10u8, 20, 30];
/// let words = [(0, [2u8, 5]), (0, [0, 1])].into_iter();
/// tell(&Alone, words, |[key, more]| counts[usize::from(key)] += more)?;
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
    words: impl ExactSizeIterator<Item = (usize, [u8; K])>,
    mut hear: impl FnMut([u8; K]),
) -> Result<(), FabricError> {
    in_batches(words, |batch, has_more| {
        let (told, has_more) = all_to_all_part(world, for_each(world, &batch), has_more)?;
        for words in told {
            words.as_chunks().0.iter().for_each(|&word| hear(word));
        }
        Ok(has_more)
    })
}

/// Collective. Every process asks others: it gives a question for each, no bytes where it has none,
/// and gets the answers in the order of ranks. `answer` is given what all asked this process, in
/// the same order, and says as many answers; nobody gets one who did not ask.
///
/// # Errors
/// Another process failed.
///
/// # Panics
/// When there are not as many questions, or answers, as processes.
pub fn ask(
    world: &dyn World,
    questions: Vec<Vec<u8>>,
    answer: impl FnOnce(Vec<Vec<u8>>) -> Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, FabricError> {
    Ok(ask_part(world, questions, false, answer)?.0)
}

/// Collective. [`ask`] for a part of all questions; also whether some process has more of them, as
/// this one says of itself.
///
/// # Errors
/// Another process failed.
///
/// # Panics
/// When there are not as many questions, or answers, as processes.
pub fn ask_part(
    world: &dyn World,
    questions: Vec<Vec<u8>>,
    has_more: bool,
    answer: impl FnOnce(Vec<Vec<u8>>) -> Vec<Vec<u8>>,
) -> Result<(Vec<Vec<u8>>, bool), FabricError> {
    let rank = world.rank();
    let ranks_with_some = |messages: &[Vec<u8>]| -> Vec<usize> {
        let numbered = messages.iter().enumerate();
        let with_some = numbered.filter(|(_, bytes)| !bytes.is_empty());
        with_some.map(|(rank, _)| rank).collect()
    };
    let answered = world.mailbox()?;
    let asked = ranks_with_some(&questions);
    let (told, has_more) = all_to_all_part(world, questions, has_more)?;
    let asking = ranks_with_some(&told);
    let mut answers = answer(told);
    let mut own = Vec::new();
    for other in asking {
        let bytes = std::mem::take(&mut answers[other]);
        match other == rank {
            true => own = bytes,
            false => answered.send(other, rank as u64, bytes)?,
        }
    }
    let others = asked.iter().filter(|&&other| other != rank).count();
    Ok((receive(world, &*answered, own, others)?, has_more))
}

/// Collective. Every process gives bytes for each process, perhaps none, and gets what all have for
/// it, in the order of ranks.
///
/// Only who has something for another sends it a message. A sum over all processes tells each how
/// many to wait for (personalized census; Hoefler, Siebert and Lumsdaine, PPoPP 2010). So a round
/// in which few talk costs few messages, however many processes there are.
///
/// # Errors
/// Another process failed.
///
/// # Panics
/// When there are not as many messages as processes.
pub fn all_to_all(world: &dyn World, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, FabricError> {
    Ok(all_to_all_part(world, messages, false)?.0)
}

/// Collective. [`all_to_all`] for a part of all messages; also whether some process has more of
/// them, as this one says of itself.
///
/// # Errors
/// Another process failed.
///
/// # Panics
/// When there are not as many messages as processes.
pub fn all_to_all_part(
    world: &dyn World,
    mut messages: Vec<Vec<u8>>,
    has_more: bool,
) -> Result<(Vec<Vec<u8>>, bool), FabricError> {
    assert_eq!(messages.len(), world.ranks(), "bytes for each process");
    if world.ranks() == 1 {
        return Ok((messages, has_more));
    }
    let own = std::mem::take(&mut messages[world.rank()]);
    let mailbox = world.mailbox()?;
    // How many messages come to each process, and how many processes have more.
    let mut counts: Vec<u64> = messages
        .iter()
        .map(|bytes| u64::from(!bytes.is_empty()))
        .collect();
    counts.push(u64::from(has_more));
    for (rank, bytes) in messages.into_iter().enumerate() {
        if counts[rank] > 0 {
            mailbox.send(rank, world.rank() as u64, bytes)?;
        }
    }
    let sums = world.sum(&counts)?;
    let others = sums[world.rank()] as usize;
    let has_more = sums[world.ranks()] > 0;
    Ok((receive(world, &*mailbox, own, others)?, has_more))
}

/// The messages of so many others, and that of this process to itself, in the order of ranks.
fn receive(
    world: &dyn World,
    mailbox: &dyn Mailbox,
    own: Vec<u8>,
    others: usize,
) -> Result<Vec<Vec<u8>>, FabricError> {
    let mut came = vec![Vec::new(); world.ranks()];
    came[world.rank()] = own;
    for _ in 0..others {
        let (rank, bytes) = mailbox.wait()?;
        came[rank as usize] = bytes;
    }
    Ok(came)
}

/// Bytes of things that are on their way at a time.
const BATCH: usize = 4 << 20;

/// Collective. Does something with all things of this process, so many at a time: `each` gets a
/// batch and whether there are more, and says whether some process has more; then it goes on,
/// perhaps with nothing. Every process has to say the same, as [`all_to_all_part`] does.
///
/// # Errors
/// What is done failed.
pub fn in_batches<T, E>(
    mut all: impl ExactSizeIterator<Item = T>,
    mut each: impl FnMut(Vec<T>, bool) -> Result<bool, E>,
) -> Result<(), E> {
    let size = BATCH / size_of::<T>().max(1);
    loop {
        let batch = all.by_ref().take(size).collect();
        if !each(batch, all.len() > 0)? {
            return Ok(());
        }
    }
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
