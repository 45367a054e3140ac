//! Tasks through many threads and out again in their order.

use std::sync::{Arc, Mutex};

use tracing::info_span;

use crate::in_parallel::spawn_worker;
use crate::window::{Stops, Window};
use crate::{Cancelled, Progress};

/// Tasks of a window beside two for each thread: one that it works on, one that waits for those
/// before it.
const ON_THE_WAY: usize = 4;

/// What threads do at the same time before each asks for a task.
pub type Fetching = Arc<dyn Fn() + Send + Sync>;

/// What gives tasks, one after the other.
pub trait Feed: Send {
    /// A task. Tasks that are done are filled again.
    type Task: Default + Send;
    /// Why there is none.
    type Error: From<Cancelled> + Send;

    /// Fills a task; false when there is no more.
    ///
    /// # Errors
    /// What it is made of cannot be read.
    fn next(&mut self, task: &mut Self::Task) -> Result<bool, Self::Error>;

    /// What threads may do for tasks ahead of [`Feed::next`], which only one is in at a time, such
    /// as reading their text.
    fn fetching(&self) -> Option<Fetching> {
        None
    }
}

/// Takes tasks, batches of reads mostly, lets `threads` threads make something of each (with a
/// state from `start`), and calls `emit` with the tasks and what was made of them, on the calling
/// thread, in the order of the tasks.
///
/// # Errors
/// The reads cannot be read, somebody cancelled, or the first error of `emit`.
pub fn in_order<F: Feed, S, R: Send, E: From<F::Error>>(
    threads: usize,
    mut feed: F,
    progress: &Progress,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &F::Task) -> R + Sync,
    mut emit: impl FnMut(&F::Task, R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.max(1);
    let (fetching, spare) = (feed.fetching(), Mutex::new(Vec::<F::Task>::new()));
    let filled = "nobody panics while it takes a task or gives it back";
    let next = || {
        if progress.is_cancelled() {
            return Err(Cancelled.into());
        }
        let mut task = spare.lock().expect(filled).pop().unwrap_or_default();
        Ok(feed.next(&mut task)?.then_some(task))
    };
    let through = Through {
        threads: vec![(); threads],
        begin: |()| start(),
        length: 2 * threads + ON_THE_WAY,
        ahead: || fetching.iter().for_each(|fetch| fetch()),
    };
    through.run(
        next,
        |state, task| {
            let _answer = info_span!(target: "gyrase::trace", "answer").entered();
            work(state, task)
        },
        |task, made| {
            emit(&task, made)?;
            spare.lock().expect(filled).push(task);
            Ok(())
        },
    )
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
    let mut all = items.iter();
    let through = Through {
        threads: states,
        begin: |state| state,
        length: ahead,
        ahead: || (),
    };
    through.run(
        || Ok::<_, W>(all.next()),
        |state, item| work(state, item),
        |_, made| emit(made?),
    )
}

/// How tasks go through threads.
struct Through<B, G, A> {
    /// What each thread begins with.
    threads: Vec<B>,
    /// Makes its state of that.
    begin: G,
    /// Tasks that are taken before the first of them is emitted, at most.
    length: usize,
    /// What each thread does before it asks for a task.
    ahead: A,
}

/// Where tasks come from, how many came, and whether more may.
struct Source<N> {
    next: N,
    taken: usize,
    ended: bool,
}

impl<B: Send, S, G: Fn(B) -> S + Sync, A: Fn() + Sync> Through<B, G, A> {
    /// Takes tasks from `next`, makes something of each with `work`, and calls `emit` in their
    /// order.
    fn run<T: Send, R: Send, W: Send, E: From<W>>(
        self,
        next: impl FnMut() -> Result<Option<T>, W> + Send,
        work: impl Fn(&mut S, &T) -> R + Sync,
        mut emit: impl FnMut(T, R) -> Result<(), E>,
    ) -> Result<(), E> {
        let window = Window::new(self.length);
        let source = Mutex::new(Source {
            next,
            taken: 0,
            ended: false,
        });
        let (begin, ahead) = (self.begin, self.ahead);
        // Whoever is stopped is stopped by somebody with an error of his own.
        let lane = |first: B| -> Result<(), W> {
            let stops = Stops(&window);
            let mut state = begin(first);
            while window.reserve() {
                ahead();
                let Some((number, task)) = take(&source, &window)? else {
                    break;
                };
                let made = work(&mut state, &task);
                window.put(number, (task, made));
            }
            std::mem::forget(stops);
            Ok(())
        };
        std::thread::scope(|scope| {
            let lane = &lane;
            let stops = Stops(&window);
            let firsts = self.threads.into_iter().enumerate();
            let lanes = firsts.map(|(number, first)| {
                spawn_worker(scope, number, move || lane(first))
                    .expect("the system has threads to give")
            });
            let lanes: Vec<_> = lanes.collect();
            let mut made = std::iter::from_fn(|| window.pass());
            let mut outcome = made.try_for_each(|(task, made)| emit(task, made));
            drop(stops);
            for lane in lanes {
                let ended = lane.join();
                let done = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                outcome = outcome.and(done.map_err(E::from));
            }
            outcome
        })
    }
}

/// The next task and its number, or `None` at the end.
fn take<T, R, W>(
    source: &Mutex<Source<impl FnMut() -> Result<Option<T>, W>>>,
    window: &Window<R>,
) -> Result<Option<(usize, T)>, W> {
    let wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
    let mut source = source
        .lock()
        .expect("no thread panics while it takes a task");
    drop(wait);
    if source.ended {
        return Ok(None);
    }
    // Until there is a task: whoever comes after an error finds the end.
    source.ended = true;
    let Some(task) = (source.next)()? else {
        window.end(source.taken);
        return Ok(None);
    };
    source.ended = false;
    source.taken += 1;
    Ok(Some((source.taken - 1, task)))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// The numbers up to one.
    struct Numbers(usize, usize);

    impl Feed for Numbers {
        type Task = usize;
        type Error = Cancelled;

        fn next(&mut self, task: &mut usize) -> Result<bool, Cancelled> {
            *task = self.0;
            self.0 += 1;
            Ok(*task < self.1)
        }
    }

    #[test]
    fn a_thread_goes_on_while_a_task_before_its_own_takes_long() {
        for threads in [2, 3, 8] {
            let (done, awaited) = channel();
            let awaited = Mutex::new(awaited);
            let mut emitted = Vec::new();
            let work = |_: &mut (), &task: &usize| match task {
                // Long enough for the others to fill what is held.
                0 => awaited
                    .lock()
                    .unwrap()
                    .recv_timeout(Duration::from_secs(60))
                    .is_ok(),
                _ if task == threads => done.send(()).is_ok(),
                _ => true,
            };
            let progress = Progress::default();
            let emit = |&task: &usize, made| {
                emitted.push((task, made));
                Ok::<_, Cancelled>(())
            };
            in_order(threads, Numbers(0, 50), &progress, || (), work, emit).unwrap();
            assert!(
                emitted.into_iter().eq((0..50).map(|task| (task, true))),
                "{threads}"
            );
        }
    }

    #[test]
    fn what_fails_ends_all() {
        let progress = Progress::default();
        let mut last = 0;
        let failed = in_order(
            3,
            Numbers(0, 500),
            &progress,
            || (),
            |(), _| (),
            |&task, ()| {
                last = task;
                if task == 70 { Err(Cancelled) } else { Ok(()) }
            },
        );
        assert!(failed.is_err());
        assert_eq!(last, 70);
    }

    #[test]
    fn a_feed_that_fails_ends_all() {
        let progress = Progress::default();
        // It is asked until somebody cancels, which is an error of the feed.
        let emit = |&task: &usize, ()| {
            if task == 70 {
                progress.cancel();
            }
            Ok::<_, Cancelled>(())
        };
        let numbers = Numbers(0, usize::MAX);
        let failed = in_order(3, numbers, &progress, || (), |(), _| (), emit);
        assert!(failed.is_err());
    }

    #[test]
    fn items_leave_in_order_and_few_are_ahead() {
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
