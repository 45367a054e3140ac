//! Partitions of many processes on their way into one file.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Builder;

use gyrase_fabric::World;

/// What gives partitions their places in a file that several processes write, while their workers
/// reduce partitions.
pub struct Layout<L, A> {
    /// Gives them their places, until all have theirs. Collective.
    pub lay_out: L,
    /// Ends the waits of workers and of `lay_out` in this process.
    pub abandon: A,
}

impl<L, A: Fn()> Layout<L, A> {
    /// Runs `reduce` in this thread and the layout in another. `is_abandoned` knows the error of
    /// one that ended because of the other.
    ///
    /// Collective.
    ///
    /// # Errors
    /// The error of the one that failed first.
    pub fn beside<E: Send>(
        self,
        world: &dyn World,
        reduce: impl FnOnce() -> Result<(), E>,
        is_abandoned: impl Fn(&E) -> bool,
    ) -> Result<(), E>
    where
        L: FnOnce() -> Result<(), E> + Send,
    {
        let Layout { lay_out, abandon } = self;
        std::thread::scope(|scope| {
            let thread = Builder::new().name("layout".into());
            let laying_out = thread
                .spawn_scoped(scope, lay_out)
                .expect("the system has threads to give");
            let reduced = catch_unwind(AssertUnwindSafe(reduce));
            if !matches!(reduced, Ok(Ok(()))) {
                // The other thread waits for partitions of this process, or for other processes.
                abandon();
                world.give_up();
            }
            let laid_out = laying_out
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic));
            match reduced.unwrap_or_else(|panic| resume_unwind(panic)) {
                Err(error) if is_abandoned(&error) => laid_out,
                reduced => reduced.and(laid_out),
            }
        })
    }
}
