//! What threads finish in about the right order, in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};

use tracing::info_span;

/// Items that threads bring in about the right order, and that leave in the right one.
///
/// ```text
/// thread 1 brings 0, 3 ──┐                    ┌─▶ left: 0, 1
/// thread 2 brings 1, 4 ──┼─▶ waiting: 3, 4 ───┤
/// thread 3 works on 2 ───┘                    └── next: 2
/// ```
///
/// An item that comes early waits here. When too much waits, the thread that brings more waits as
/// well, but never the one that brings the item whose turn it is. So take items in ascending order
/// (from a shared counter, say), bring every one of them, and call [`Ordered::stop`] when a thread
/// gives up. What is made of the items in their order, `S`, is kept here too.
///
/// ```
/// use gyrase_files::Ordered;
///
/// let words = Ordered::new(0, 1 << 20, String::new());
/// std::thread::scope(|scope| {
///     for (number, word) in ["many ", "finish, ", "leave ", "in order"].into_iter().enumerate() {
///         let words = &words;
///         let append = |text: &mut String, word| text.push_str(word);
///         scope.spawn(move || words.bring(number, word, word.len(), append));
///     }
/// });
/// assert_eq!(words.look(|text| text.clone()), "many finish, leave in order");
/// ```
#[derive(Debug)]
pub struct Ordered<T, S> {
    inner: Mutex<Inner<T, S>>,
    changed: Condvar,
    /// What the items that wait may cost.
    room: usize,
}

#[derive(Debug)]
struct Inner<T, S> {
    next: usize,
    /// Items that came early, each with its cost.
    waiting: BTreeMap<usize, (T, usize)>,
    cost: usize,
    stopped: bool,
    made: S,
}

/// Another thread called [`Ordered::stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another thread failed")]
pub struct Stopped;

impl<T, S> Ordered<T, S> {
    /// Begins with item number `first`. Items that came early may cost `room` together, in whatever
    /// unit [`Ordered::bring`] is told: bytes, mostly.
    pub fn new(first: usize, room: usize, made: S) -> Ordered<T, S> {
        let inner = Inner {
            next: first,
            waiting: BTreeMap::new(),
            cost: 0,
            stopped: false,
            made,
        };
        Ordered {
            inner: Mutex::new(inner),
            changed: Condvar::new(),
            room,
        }
    }

    /// The same with other room.
    pub fn with_room(self, room: usize) -> Ordered<T, S> {
        Ordered { room, ..self }
    }

    /// What the items that wait may cost.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Brings item `number`, and calls `leave` with each item whose turn it is now, in order: with
    /// this one and those behind it, or with none. No other thread is in `leave` meanwhile, so it
    /// should be short.
    ///
    /// # Errors
    /// Another thread called [`Ordered::stop`].
    ///
    /// # Panics
    /// When the item was brought before.
    pub fn bring(
        &self,
        number: usize,
        item: T,
        cost: usize,
        mut leave: impl FnMut(&mut S, T),
    ) -> Result<(), Stopped> {
        let mut inner = self.lock();
        assert!(number >= inner.next, "item {number} is brought once");
        while !inner.stopped && number != inner.next && inner.cost + cost > self.room {
            let _wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
            inner = self
                .changed
                .wait(inner)
                .expect("no thread panics while it holds the items");
        }
        if inner.stopped {
            return Err(Stopped);
        }
        inner.cost += cost;
        let before = inner.waiting.insert(number, (item, cost));
        assert!(before.is_none(), "item {number} is brought once");
        let first = inner.next;
        while let Some(item) = inner.take_next() {
            leave(&mut inner.made, item);
        }
        if inner.next > first {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// The item whose turn it is.
    pub fn next(&self) -> usize {
        self.lock().next
    }

    /// Looks at what is made of the items that left.
    pub fn look<R>(&self, with: impl FnOnce(&S) -> R) -> R {
        with(&self.lock().made)
    }

    /// Changes what is made of the items that left, and lets those look again that wait for it.
    pub fn change<R>(&self, with: impl FnOnce(&mut S) -> R) -> R {
        let changed = with(&mut self.lock().made);
        self.changed.notify_all();
        changed
    }

    /// Waits until `ready` finds what it looks for in what is made of the items that left.
    ///
    /// # Errors
    /// Another thread called [`Ordered::stop`].
    pub fn wait_for<R>(&self, mut ready: impl FnMut(&S) -> Option<R>) -> Result<R, Stopped> {
        let mut inner = self.lock();
        while !inner.stopped {
            if let Some(found) = ready(&inner.made) {
                return Ok(found);
            }
            inner = self
                .changed
                .wait(inner)
                .expect("no thread panics while it holds the items");
        }
        Err(Stopped)
    }

    /// Gives up: every thread that waits or comes later gets [`Stopped`].
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T, S>> {
        self.inner
            .lock()
            .expect("no thread panics while it holds the items")
    }
}

impl<T, S> Inner<T, S> {
    fn take_next(&mut self) -> Option<T> {
        let (item, cost) = self.waiting.remove(&self.next)?;
        self.cost -= cost;
        self.next += 1;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[test]
    fn items_leave_in_order_whoever_brings_them() {
        for (threads, room) in [(1, 0), (4, 0), (4, 3), (4, usize::MAX)] {
            let ordered = Ordered::new(5, room, Vec::new());
            let counter = AtomicUsize::new(5);
            let bring = || {
                loop {
                    let number = counter.fetch_add(1, Relaxed);
                    if number >= 1000 {
                        break;
                    }
                    ordered
                        .bring(number, number, 1, |left, item| left.push(item))
                        .unwrap();
                }
            };
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(bring))));
            assert!(ordered.look(|left| left.iter().copied().eq(5..1000)));
            assert_eq!(ordered.next(), 1000);
        }
    }

    #[test]
    fn whoever_waits_is_told_that_another_gave_up() {
        let ordered = Ordered::new(0, 1, 0);
        ordered.bring(1, (), 1, |left, ()| *left += 1).unwrap();
        std::thread::scope(|scope| {
            let full = scope.spawn(|| ordered.bring(2, (), 1, |left, ()| *left += 1));
            let waits = scope.spawn(|| ordered.wait_for(|&left| (left > 0).then_some(())));
            ordered.stop();
            assert_eq!(full.join().unwrap(), Err(Stopped));
            assert_eq!(waits.join().unwrap(), Err(Stopped));
        });
        assert_eq!(ordered.bring(0, (), 1, |_, ()| ()), Err(Stopped));
    }

    #[test]
    fn who_waits_for_what_is_made_gets_it() {
        let ordered = Ordered::new(0, 0, 0);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| ordered.wait_for(|&left| (left == 3).then_some(left)));
            ordered.bring(0, 1, 0, |left, item| *left += item).unwrap();
            ordered.change(|left| *left += 2);
            assert_eq!(waits.join().unwrap(), Ok(3));
        });
    }

    #[test]
    #[should_panic(expected = "brought once")]
    fn an_item_is_brought_once() {
        let ordered = Ordered::new(0, 10, ());
        for _ in 0..2 {
            let _ = ordered.bring(0, (), 1, |(), ()| ());
        }
    }
}
