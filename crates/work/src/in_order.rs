//! Tasks through many threads and out again in their order.

use std::sync::{Arc, Mutex, MutexGuard};

use tracing::info_span;

use crate::in_parallel::spawn_worker;
use crate::window::{Stops, Window};
use crate::{Cancelled, Progress};

/// Tasks that [`in_order`] has taken and not emitted yet, at most: two for each thread, one that it
/// works on and one that waits for those before it, one on the way, and the one that is emitted.
pub const fn tasks_at_once(threads: usize) -> usize {
    2 * threads + 2
}

/// What threads do at the same time for the tasks to come.
pub type Fetching = Arc<dyn Fn() + Send + Sync>;

/// What a thread finds wrong with a task.
pub type Checking<T, E> = Arc<dyn Fn(&T) -> Result<(), E> + Send + Sync>;

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

    /// What each of several threads does for the tasks to come before it asks for one, outside of
    /// [`Feed::next`], which only one is in at a time: such as reading their text.
    fn fetching(&self) -> Option<Fetching> {
        None
    }

    /// What is to be asked of every task behind [`Feed::next`], by any thread, before something is
    /// made of it.
    fn checking(&self) -> Option<Checking<Self::Task, Self::Error>> {
        None
    }
}

/// Takes tasks, batches of reads mostly, lets `threads` threads make something of each (with a
/// state from `start`), and calls `emit` with the tasks and what was made of them, on the calling
/// thread, in the order of the tasks.
///
/// What was made of one task is given to `work` again for another, which makes that of it in the
/// same memory: to free on one thread what others allocated stops them all.
///
/// # Errors
/// The first in the order of the tasks: of one that is not as it must be, of `work`, or of `emit`;
/// else that of the feed, or somebody cancelled.
pub fn in_order<F: Feed, S, R: Default + Send, E: From<F::Error> + Send>(
    threads: usize,
    mut feed: F,
    progress: &Progress,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &F::Task, &mut R) -> Result<(), E> + Sync,
    mut emit: impl FnMut(&F::Task, &mut R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.max(1);
    // A thread alone gains nothing by a task that waits.
    let fetching = feed.fetching().filter(|_| threads > 1);
    let checking = feed.checking();
    let spare = Mutex::new(Vec::<(F::Task, R)>::new());
    let filled = "nobody panics while it takes a task or gives it back";
    let next = || {
        if progress.is_cancelled() {
            return Err(Cancelled.into());
        }
        let (mut task, made) = spare.lock().expect(filled).pop().unwrap_or_default();
        Ok(feed.next(&mut task)?.then_some((task, made)))
    };
    let through = Through {
        threads: vec![(); threads],
        begin: |()| start(),
        // What is being emitted has left the window.
        length: tasks_at_once(threads) - 1,
        ahead: || fetching.iter().for_each(|fetch| fetch()),
    };
    through.run(
        next,
        |state, (task, mut made)| {
            let _answer = info_span!(target: "gyrase::trace", "answer").entered();
            let checked = checking.as_ref().map_or(Ok(()), |check| check(&task));
            let worked = checked
                .map_err(E::from)
                .and_then(|()| work(state, &task, &mut made));
            (task, made, worked)
        },
        |(task, mut made, worked)| {
            let _emit = info_span!(target: "gyrase::trace", "emit").entered();
            worked?;
            emit(&task, &mut made)?;
            spare.lock().expect(filled).push((task, made));
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
        |made| emit(made?),
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

/// Where tasks come from, how many came, whether more may, and why not.
struct Source<N, W> {
    next: N,
    taken: usize,
    ended: bool,
    error: Option<W>,
}

impl<B: Send, S, G: Fn(B) -> S + Sync, A: Fn() + Sync> Through<B, G, A> {
    /// Takes tasks from `next`, makes something of each with `work`, and calls `emit` in their
    /// order.
    fn run<T: Send, R: Send, W: Send, E: From<W>>(
        self,
        next: impl FnMut() -> Result<Option<T>, W> + Send,
        work: impl Fn(&mut S, T) -> R + Sync,
        emit: impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        let window = Window::new(self.length);
        let source = Mutex::new(Source {
            next,
            taken: 0,
            ended: false,
            error: None,
        });
        let (begin, ahead) = (self.begin, self.ahead);
        let lane = |first: B| {
            let stops = Stops(&window);
            let mut state = begin(first);
            while window.reserve() {
                ahead();
                let Some((number, task)) = take(&source, &window) else {
                    break;
                };
                window.put(number, work(&mut state, task));
            }
            std::mem::forget(stops);
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
            let outcome = made.try_for_each(emit);
            drop(stops);
            for lane in lanes {
                let ended = lane.join();
                ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            let mut source = lock(&source);
            outcome.and(
                source
                    .error
                    .take()
                    .map_or(Ok(()), |error| Err(error.into())),
            )
        })
    }
}

/// The next task and its number, or `None` at the end. Where there is none because of an error,
/// what was taken before goes on: there may be something wrong with it that comes first.
fn take<T, R, W>(
    source: &Mutex<Source<impl FnMut() -> Result<Option<T>, W>, W>>,
    window: &Window<R>,
) -> Option<(usize, T)> {
    let wait = info_span!(target: "gyrase::trace", "wait", at = "turn").entered();
    let mut source = lock(source);
    drop(wait);
    if source.ended {
        return None;
    }
    let _next = info_span!(target: "gyrase::trace", "next").entered();
    match (source.next)() {
        Ok(Some(task)) => {
            source.taken += 1;
            return Some((source.taken - 1, task));
        }
        Ok(None) => {}
        Err(error) => source.error = Some(error),
    }
    source.ended = true;
    window.end(source.taken);
    None
}

fn lock<N, W>(source: &Mutex<Source<N, W>>) -> MutexGuard<'_, Source<N, W>> {
    let source = source.lock();
    source.expect("no thread panics while it takes a task")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
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
            let work = |_: &mut (), &task: &usize, made: &mut bool| {
                *made = match task {
                    // Long enough for the others to fill what is held.
                    0 => awaited
                        .lock()
                        .unwrap()
                        .recv_timeout(Duration::from_secs(60))
                        .is_ok(),
                    _ if task == threads => done.send(()).is_ok(),
                    _ => true,
                };
                Ok(())
            };
            let progress = Progress::default();
            let emit = |&task: &usize, made: &mut bool| {
                emitted.push((task, *made));
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
            |(), _, ()| Ok(()),
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
        let emit = |&task: &usize, (): &mut ()| {
            if task == 70 {
                progress.cancel();
            }
            Ok::<_, Cancelled>(())
        };
        let numbers = Numbers(0, usize::MAX);
        let work = |(): &mut (), _: &usize, (): &mut ()| Ok(());
        let failed = in_order(3, numbers, &progress, || (), work, emit);
        assert!(failed.is_err());
    }

    /// Numbers, of which some are wrong by themselves, up to where no more can be read.
    struct Faulty {
        numbers: Numbers,
        wrong: Vec<usize>,
        fetched: Arc<AtomicUsize>,
    }

    /// What went wrong: in reading, in a number, in what is made of it.
    #[derive(Clone, Debug, PartialEq)]
    enum Fault {
        Read,
        Number(usize),
        Work(usize),
    }

    impl From<Cancelled> for Fault {
        fn from(_: Cancelled) -> Fault {
            Fault::Read
        }
    }

    impl Feed for Faulty {
        type Task = usize;
        type Error = Fault;

        fn next(&mut self, task: &mut usize) -> Result<bool, Fault> {
            match self.numbers.next(task) {
                Ok(true) => Ok(true),
                _ => Err(Fault::Read),
            }
        }

        fn fetching(&self) -> Option<Fetching> {
            let fetched = self.fetched.clone();
            Some(Arc::new(move || {
                fetched.fetch_add(1, Relaxed);
            }))
        }

        fn checking(&self) -> Option<Checking<usize, Fault>> {
            let wrong = self.wrong.clone();
            Some(Arc::new(move |task| match wrong.contains(task) {
                true => Err(Fault::Number(*task)),
                false => Ok(()),
            }))
        }
    }

    #[test]
    fn what_comes_first_in_the_order_of_tasks_is_what_went_wrong() {
        for (wrong, unworkable, first) in [
            (vec![], None, Fault::Read),
            (vec![49], None, Fault::Number(49)),
            (vec![48, 30], Some(40), Fault::Number(30)),
            (vec![48], Some(40), Fault::Work(40)),
            (vec![40], Some(40), Fault::Number(40)),
        ] {
            for threads in [1, 2, 5] {
                let fetched = Arc::<AtomicUsize>::default();
                let feed = Faulty {
                    numbers: Numbers(0, 50),
                    wrong: wrong.clone(),
                    fetched: fetched.clone(),
                };
                let work = |(): &mut (), &task: &usize, made: &mut Vec<usize>| {
                    made.push(task);
                    match unworkable == Some(task) {
                        true => Err(Fault::Work(task)),
                        false => Ok(()),
                    }
                };
                let mut emitted = 0;
                let emit = |&task: &usize, made: &mut Vec<usize>| {
                    assert_eq!((task, made.last()), (emitted, Some(&task)));
                    emitted += 1;
                    Ok(())
                };
                let ended = in_order(threads, feed, &Progress::default(), || (), work, emit);
                let emitted_first = match first {
                    Fault::Read => 50,
                    Fault::Number(task) | Fault::Work(task) => task,
                };
                assert_eq!((ended, emitted), (Err(first.clone()), emitted_first));
                let fetched = fetched.load(Relaxed);
                assert!(if threads == 1 {
                    fetched == 0
                } else {
                    fetched >= emitted
                });
            }
        }
    }

    #[test]
    fn what_was_made_of_a_task_is_made_anew_of_another() {
        let all = Mutex::new(0);
        let work = |(): &mut (), &task: &usize, made: &mut Vec<usize>| {
            if made.is_empty() {
                *all.lock().unwrap() += 1;
            }
            made.push(task);
            Ok(())
        };
        let emit = |_: &usize, _: &mut Vec<usize>| Ok::<_, Cancelled>(());
        let numbers = Numbers(0, 500);
        in_order(2, numbers, &Progress::default(), || (), work, emit).unwrap();
        assert!(*all.lock().unwrap() <= tasks_at_once(2));
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
