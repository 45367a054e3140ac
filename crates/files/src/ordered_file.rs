//! One file of segments that many threads, of many processes, finish in about the right order.
//!
//! ```text
//! threads of process 0 finish  0   2   4 ─┐      ┌──────┬───┬───────┬──┬────┬───┬──────┐
//!                                         ├────▶ │ head │ 0 │   1   │2 │  3 │ 4 │ tail │
//! threads of process 1 finish    1   3   ─┘      └──────┴───┴───────┴──┴────┴───┴──────┘
//! ```
//!
//! The offset of a segment is known when all segments before it have their lengths. What follows
//! from that depends on who writes:
//!
//! - **One process** writes a segment as soon as those before it are finished. Those that come
//!   early wait in memory, within a bound ([`Ordered`]).
//! - **Several processes** put their segments aside, in memory and then on a disk of their own.
//!   Meanwhile one thread of each is in [`OrderedFile::lay_out`]: for one wave of segments after
//!   the other the processes tell each other how long theirs are, and each writes its own.
//!
//! The processes may be on machines that mount a network file system, and such a machine sends
//! whole pages back: two of them must not write into one page. So each process writes those blocks
//! (64 KiB, aligned) that are its own from the first byte to the last. The other blocks are dealt,
//! and it sends the ends of its segments to those that write them. That is two blocks a segment at
//! most, whatever the number of processes. Before the file takes its name every process reads a
//! part of it back ([`OrderedFile::check`]).
//!
//! What a segment is made of is the business of the caller, who keeps a note `T` with each.

mod blocks;
mod check;
mod destination;
mod error;
mod file;
mod layout;
mod segment;
mod wave;

pub use destination::Spill;
pub use error::{Garbled, OrderedError};
pub use file::{OrderedFile, OwnSegments, Placed};
pub use segment::{Segment, read_through};
