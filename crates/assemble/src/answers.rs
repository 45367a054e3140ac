//! What other processes answered.
//!
//! Whoever comes to something that is not known gives up for now, or goes on elsewhere. What was
//! missing is asked for together, and then all look again.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;

/// What is known of some keys, as far as somebody asked for them.
pub struct Answers<K, T> {
    known: HashMap<K, T, FixedState>,
    missing: Mutex<Missing<K>>,
}

/// What somebody looked for and was not known.
struct Missing<K> {
    /// How often.
    times: usize,
    /// What it was, some of it several times.
    keys: Vec<K>,
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
            self.lock().note(key);
        }
        known
    }

    /// How often somebody looked for what is not known, since it was last asked for.
    pub fn missed(&self) -> usize {
        self.lock().times
    }

    /// What is to be asked for, ascending: each once, and no more when it is called again.
    pub fn take_missing(&mut self) -> Vec<K> {
        let mut missing = mem::take(&mut *self.lock());
        missing.keep_each_once();
        missing.keys
    }

    /// Makes room for so many answers.
    pub fn reserve(&mut self, answers: usize) {
        self.known.reserve(answers);
    }

    /// Adds what was answered about a key.
    pub fn insert(&mut self, key: K, answer: T) {
        self.known.insert(key, answer);
    }

    fn lock(&self) -> MutexGuard<'_, Missing<K>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Default for Missing<K> {
    fn default() -> Missing<K> {
        Missing {
            times: 0,
            keys: Vec::new(),
        }
    }
}

impl<K: Copy + Ord> Missing<K> {
    fn note(&mut self, key: K) {
        self.times += 1;
        if self.keys.len() == self.keys.capacity() {
            self.keep_each_once();
            // Where most are different there is room for as many again.
            if 2 * self.keys.len() > self.keys.capacity() {
                self.keys.reserve(self.keys.len());
            }
        }
        self.keys.push(key);
    }

    fn keep_each_once(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
    }
}
