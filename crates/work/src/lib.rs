//! Threads that work: in parallel, in order, until they are done or stopped.
//!
//! - [`in_parallel`] runs a piece of work on a thread for each item.
//! - [`in_order`] lets threads work on tasks and hands on what they make of them in the order of
//!   the tasks; [`in_order_ahead`] the same where some take much longer than others.
//! - [`run_of`] gives each of several processes its run of many things.
//! - [`Progress`] tells how far a run is, and whether it should stop.
//! - [`machine`] tells what cores, memory and open files a run can have, [`Vectors`] what a core
//!   computes with.
//! - [`give_back_what_is_freed`] and [`give_back_pieces`] have freed memory go back to the system,
//!   [`prefer_large_pages`] and [`prefetch`] have memory there when it is used.
//!
//! ```
//! let squares = gyrase_work::in_parallel(vec![1, 2, 3], |n| Ok::<_, ()>(n * n));
//! assert_eq!(squares, Ok(vec![1, 4, 9]));
//! ```

mod arch;
mod in_order;
mod in_parallel;
pub mod machine;
mod progress;
mod runs;
mod system;
mod turn;
mod vectors;
mod window;

pub use arch::{give_back_pieces, give_back_what_is_freed, prefer_large_pages, prefetch};
pub use in_order::{Checking, Feed, Fetching, in_order, in_order_ahead, tasks_at_once};
pub use in_parallel::{in_parallel, in_threads};
pub use progress::{Cancelled, Progress, Stage};
pub use runs::{run_of, runner};
pub use turn::Turn;
pub use vectors::Vectors;
