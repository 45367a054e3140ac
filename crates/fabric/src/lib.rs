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
//!
//! A [`World`] is the processes of a job, and what they agree on. Beside fabrics it has what else
//! processes share work by: schedules of chunks ([`Schedule`]), messages ([`Mailbox`]), jobs of
//! some of the processes ([`Group`]), questions to others ([`ask`]), to the owners of keys
//! ([`look_up`]), and words to them ([`tell`]), what rank 0 takes from all ([`gather_in_pieces`]),
//! tasks whose results leave in order ([`Farm`]), and one fabric filled from another
//! ([`scatter_again`]).
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use gyrase_fabric::{Drain, Fabric, FabricError, LocalFabric, Sender, SpillFolder};
//!
//! let folder = tempfile::tempdir()?;
//! let spills = Arc::new(SpillFolder::new(folder.path().join("spills"), None, false));
//! let fabric = LocalFabric::new(4, 16 << 20, spills); // 4 partitions; beyond 16 MiB it spills
//! let mut sender = fabric.sender(); // each worker has its own
//! for number in 0..100u8 {
//!     let partition = usize::from(number % 4);
//!     sender.send(partition, &[number], 1)?; // a record of one byte
//! }
//! let partitions = fabric.close(vec![sender])?;
//!
//! let mut sums = [0u32; 4];
//! for partition in partitions.owned() {
//!     partitions.drain::<FabricError>(partition, &mut |bytes, used| {
//!         let records = bytes[..used].iter().copied();
//!         sums[partition] += records.map(u32::from).sum::<u32>();
//!         Ok(())
//!     })?;
//! }
//! assert_eq!(sums, [1200, 1225, 1250, 1275]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod again;
mod blocks;
mod carrier;
pub mod conformance;
mod contract;
mod error;
mod exchange;
mod farm;
mod finished;
mod group;
mod handover;
mod inbox;
mod local;
mod look_up;
mod mailbox;
mod memory;
mod numbers;
mod options;
mod outbox;
mod owners;
mod partitioning;
mod partitions;
mod piece;
mod schedule;
mod spill;
pub mod testing;
mod traffic;
mod wire;
mod world;

pub use again::scatter_again;
pub use contract::{Combiner, Drain, Each, Fabric, LONGEST, SLACK, Sender};
pub use error::FabricError;
pub use exchange::{Exchange, ExchangeFabric, exchange};
pub use farm::Farm;
pub use finished::Finished;
pub use group::Group;
pub use local::{LocalFabric, LocalSender};
pub use look_up::{
    all_to_all, all_to_all_part, ask, ask_part, gather_in_pieces, in_batches, look_up, tell,
};
pub use mailbox::{Mailbox, Message};
pub use memory::Pages;
pub use numbers::Numbers;
pub use options::{Combining, FabricOptions};
pub use owners::{Nth, OwnerTable, Owners, Peer, Place};
pub use partitioning::{KeyRange, Partitioning};
pub use partitions::LocalPartitions;
pub use schedule::{LocalSchedule, Schedule, Steal, Stealing, Window, window_numbers};
pub use spill::SpillFolder;
pub use traffic::Traffic;
pub use wire::{Exchanged, Wire};
pub use world::{Alone, Bounds, World};
