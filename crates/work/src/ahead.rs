//! Items through many threads and out again in their order, where some take much longer than
//! others.

use std::sync::{Condvar, Mutex, MutexGuard};

use crate::in_parallel::spawn_worker;

/// What the threads share.
struct Shared<R> {
    now: Mutex<Now<R>>,
    changed: Condvar,
}

/// How far they are.
struct Now<R> {
    /// Items that were taken, and that were emitted.
    taken: usize,
    emitted: usize,
    /// What was made of items that are not emitted, by their numbers modulo the length.
    made: Vec<Option<R>>,
    /// Nobody takes another item.
    stopped: bool,
}

/// Lets a thread for each state make something of the next item as soon as it is free, and calls
/// `emit` with what was made, on the calling thread, in the order of the items. No item is taken
/// before the one `ahead` places before it, 1 at least, is emitted.
///
/// # Errors
/// The first in the order of the items, of `work` or `emit`.
pub fn in_order_ahead<I: Sync, S: Send, R: Send, W: Send, E: From<W>>(
    states: Vec<S>,
    items: &[I],
    ahead: usize,
    work: impl Fn(&mut S, &I) -> Result<R, W> + Sync,
    mut emit: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let shared = Shared {
        now: Mutex::new(Now {
            taken: 0,
            emitted: 0,
            made: (0..ahead).map(|_| None).collect(),
            stopped: false,
        }),
        changed: Condvar::new(),
    };
    let lane = |mut state: S| {
        let stops = Stops(&shared);
        while let Some(number) = shared.take(items.len()) {
            shared.put(number, work(&mut state, &items[number]));
        }
        std::mem::forget(stops);
    };
    std::thread::scope(|scope| {
        let lane = &lane;
        let states = states.into_iter().enumerate();
        let lanes = states.map(|(number, state)| spawn_worker(scope, number, move || lane(state)));
        let lanes: Vec<_> = lanes.collect();
        let stops = Stops(&shared);
        let mut made = (0..items.len()).map_while(|number| shared.get(number));
        let outcome = made.try_for_each(|made| emit(made?));
        drop(stops);
        for lane in lanes {
            let ended = lane.expect("the system has threads to give").join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        outcome
    })
}

impl<R> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, Now<R>> {
        self.now.lock().expect("no thread panics while it holds it")
    }

    /// The number of the next of so many items; none where all are taken or it is stopped.
    fn take(&self, items: usize) -> Option<usize> {
        let is_far = |now: &mut Now<R>| {
            let ahead = now.taken - now.emitted;
            !now.stopped && now.taken < items && ahead >= now.made.len()
        };
        let now = self.changed.wait_while(self.lock(), is_far);
        let mut now = now.expect("no thread panics while it holds it");
        if now.stopped || now.taken == items {
            return None;
        }
        now.taken += 1;
        Some(now.taken - 1)
    }

    /// Leaves what was made of an item.
    fn put(&self, number: usize, made: R) {
        let mut now = self.lock();
        let place = number % now.made.len();
        now.made[place] = Some(made);
        if now.emitted == number {
            self.changed.notify_all();
        }
    }

    /// Waits for what was made of an item; none where a thread has ended before.
    fn get(&self, number: usize) -> Option<R> {
        let is_missing =
            |now: &mut Now<R>| !now.stopped && now.made[number % now.made.len()].is_none();
        let now = self.changed.wait_while(self.lock(), is_missing);
        let mut now = now.expect("no thread panics while it holds it");
        let place = number % now.made.len();
        let made = now.made[place].take();
        now.emitted = number + 1;
        self.changed.notify_all();
        made
    }
}

/// Stops all when it goes: a thread leaves early, be it by an error or by a panic, or nothing is
/// left.
struct Stops<'s, R>(&'s Shared<R>);

impl<R> Drop for Stops<'_, R> {
    fn drop(&mut self) {
        // The lock is of a thread that panics where nobody else needs it.
        if let Ok(mut now) = self.0.now.lock() {
            now.stopped = true;
        }
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_leave_in_order_and_few_are_ahead() {
        let items: Vec<u64> = (0..200).collect();
        let emitted = Mutex::new(0);
        let work = |_: &mut (), &item: &u64| {
            // One that is being emitted is not counted yet.
            assert!(item <= *emitted.lock().unwrap() + 8);
            if item % 50 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok::<u64, String>(item * item)
        };
        let emit = |made: u64| {
            let mut emitted = emitted.lock().unwrap();
            assert_eq!(made, *emitted * *emitted);
            *emitted += 1;
            Ok::<(), String>(())
        };
        assert_eq!(in_order_ahead(vec![(); 3], &items, 8, work, emit), Ok(()));
        assert_eq!(*emitted.lock().unwrap(), 200);
    }

    #[test]
    fn the_first_error_ends_all() {
        let items: Vec<u64> = (0..200).collect();
        let work = |_: &mut (), &item: &u64| match item {
            20.. => Err(format!("work {item}")),
            _ => Ok(item),
        };
        let ended: Result<(), String> = in_order_ahead(vec![(); 3], &items, 5, work, |_| Ok(()));
        assert_eq!(ended, Err("work 20".to_owned()));
        let emit = |made: u64| match made {
            10.. => Err(format!("emit {made}")),
            _ => Ok(()),
        };
        assert_eq!(
            in_order_ahead(vec![(); 3], &items, 5, work, emit),
            Err("emit 10".to_owned())
        );
        let none: Result<(), String> = in_order_ahead(vec![(); 3], &[], 5, work, |_| Ok(()));
        assert_eq!(none, Ok(()));
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn a_panic_ends_all() {
        let items: Vec<u64> = (0..200).collect();
        let work = |_: &mut (), &item: &u64| match item {
            7 => panic!("item 7"),
            _ => Ok::<(), String>(()),
        };
        let _ = in_order_ahead(vec![(); 3], &items, 5, work, |()| Ok::<(), String>(()));
    }
}
