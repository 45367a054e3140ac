//! Questions to the owners of keys, in batches.

use crate::{FabricError, World};

/// Collective. Asks the owners of keys and gives their answers in the order asked. Every process
/// gives its own questions, perhaps none, each a rank and a key, and answers those of all others by
/// `answer`. A key has `K` bytes and an answer `A`.
///
/// What is asked, and the answers, is in memory at once: whoever has many questions asks them in
/// batches, as many as the process with the most, the last ones perhaps empty.
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
    let mut keys = vec![Vec::new(); world.ranks()];
    for (rank, key) in questions {
        keys[*rank].extend_from_slice(key);
    }
    for (rank, keys) in keys.into_iter().enumerate() {
        asked.send(rank, world.rank() as u64, keys)?;
    }
    for _ in 0..world.ranks() {
        let (rank, keys) = asked.wait()?;
        let answers = keys.as_chunks().0.iter().flat_map(|&key| answer(key));
        let answers = answers.collect();
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
