//! What other processes answered.
//!
//! Whoever comes to something that is not known gives up for now. What was missing is asked for
//! together, and then all go on from the start.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;

/// What is known of some keys, as far as somebody asked for them.
pub struct Answers<K, T> {
    known: HashMap<K, T, FixedState>,
    /// What somebody looked for.
    missing: Mutex<Vec<K>>,
}

impl<K, T> Default for Answers<K, T> {
    fn default() -> Answers<K, T> {
        Answers {
            known: HashMap::default(),
            missing: Mutex::default(),
        }
    }
}

impl<K: Copy + Hash + Ord, T> Answers<K, T> {
    /// What is known of a key; nothing, which is noted, where it was not asked for yet.
    pub fn get(&self, key: K) -> Option<&T> {
        let known = self.known.get(&key);
        if known.is_none() {
            self.lock().push(key);
        }
        known
    }

    /// How often somebody looked for what is not known, since it was last asked for.
    pub fn missed(&self) -> usize {
        self.lock().len()
    }

    /// What is to be asked for, ascending: each once, and no more when it is called again.
    pub fn take_missing(&mut self) -> Vec<K> {
        let mut missing = mem::take(&mut *self.lock());
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Makes room for so many answers.
    pub fn reserve(&mut self, answers: usize) {
        self.known.reserve(answers);
    }

    /// Adds what was answered about a key.
    pub fn insert(&mut self, key: K, answer: T) {
        self.known.insert(key, answer);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<K>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
