//! What the dispatcher hears.

use std::io;

use super::wire::Word;
use crate::job::Job;

/// What happens to a dispatcher.
pub enum Event {
    /// Something changed in the store.
    Changed,
    /// The worker of a number said something; it was started so many times.
    Said(u32, u64, Word, Vec<u8>),
    /// A worker is gone, with what was wrong with what it said.
    Lost(u32, u64, Option<io::Error>),
    /// Some jobs wait again, and others, by their numbers, have ended for good.
    Ended {
        again: Vec<Job>,
        over: Vec<i64>,
        /// Each of those that wait again has to be searched for by itself.
        alone: bool,
    },
}
