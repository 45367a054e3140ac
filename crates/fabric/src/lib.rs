//! Byte batches to the owner of a partition.
//!
//! Every program of Gyrase sends records to the owner of their key and then lets each owner work
//! alone on its partition. This crate is the sending: it knows bytes and partitions and no DNA. Its
//! contract is *scatter, then drain a partition*:
//!
//! 1. Each worker takes a [`Sender`] of the [`Fabric`] and sends records to partitions.
//! 2. The workers hand their senders back to [`Fabric::close`]. Nothing is sent any more.
//! 3. Owners [`Drain`] partitions, one after the other, in any order, on any thread.
//!
//! [`LocalFabric`] does it in the memory of one process (threads) and, when that is full, in spill
//! files (time). [`ExchangeFabric`] does it between processes (space), over whatever implements
//! [`Wire`]; the message library is another crate's. Whatever implements the contract passes
//! [`conformance`].

mod arch;
mod blocks;
pub mod conformance;
mod contract;
mod error;
mod exchange;
mod handover;
mod inbox;
mod local;
mod memory;
mod outbox;
mod partitions;
mod piece;
mod schedule;
mod spill;
pub mod threads;
mod wire;
mod world;

pub use arch::prefetch;
pub use contract::{Combiner, Drain, Each, Fabric, LONGEST, SLACK, Sender};
pub use error::FabricError;
pub use exchange::{Exchange, ExchangeFabric, Traffic, exchange};
pub use local::{LocalFabric, LocalSender};
pub use memory::Pages;
pub use partitions::LocalPartitions;
pub use schedule::{LocalSchedule, Post, Schedule, Steal, Stealing, Window, window_numbers};
pub use spill::SpillFolder;
pub use wire::{Exchanged, Wire};
pub use world::{Alone, Combining, Place, World};
