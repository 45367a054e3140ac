//! Key to value: in memory, and sorted on disk under a memory map.
//!
//! # The idea
//!
//! Every structure here is asked the same question, "here is a key: what is its value?", and every
//! key begins with a uniform word. So nobody hashes: the upper bits of a key say where it stands.
//!
//! ```text
//!  key 0x1...    0x5...  0x6...          0xc...   0xf...      uniform over 0 .. 2^64
//!        |         |       |               |        |
//!        v         v       v               v        v
//!      +---+---+---+---+---+---+---+---+---+---+---+---+
//!      | 3 |   |   | 1 |   | 7 |   |   |   | 1 |   | 2 |      counts, nearly in order of key
//!      +---+---+---+---+---+---+---+---+---+---+---+---+
//! ```
//!
//! - *While counting*: [`CountTable`], open addressing as in the picture. A walk over its slots
//!   meets the keys almost in order, so sorting them costs next to nothing. [`Cardinality`]
//!   (HyperLogLog) tells beforehand how many keys there will be, [`Bloom`] which of them came more
//!   than once.
//! - *Afterwards*: [`gyk`], counts of k-mers, sorted, checksummed, under a memory map. A look-up
//!   computes where a key must stand, and finds it within a cache line or two.
//! - *For classification*: [`gydb`], lists of locations of features, and sections that this crate
//!   carries and does not read.
//!
//! `docs/formats.md` describes the bytes of both files. Where keys come from this crate does not
//! know.
//!
//! # Example
//!
//! ```
//! use gyrase_fabric::KeyRange;
//! use gyrase_kmer::{Key, Kmer};
//! use gyrase_table::CountTable;
//!
//! let mut table = CountTable::<Key<1>>::default();
//! table.clear(3, KeyRange::ALL); // room for about three keys
//! for letters in [b"GATTACA", b"CATTAGA", b"GATTACA"] {
//!     let kmer = Kmer::<1>::from_letters(letters).expect("bases alone");
//!     table.add(Key::from(kmer), 1);
//! }
//!
//! let (mut keys, mut counts) = (Vec::new(), Vec::new());
//! table.append_sorted(0, 1..=u32::MAX, &mut keys, &mut counts);
//! assert!(keys.is_sorted());
//! let first = Kmer::from(Key(keys[0])).letters(7);
//! assert_eq!(counts, if first == b"GATTACA" { [2, 1] } else { [1, 2] });
//! ```

mod bloom;
mod cardinality;
pub mod gydb;
pub mod gyk;
mod location;
mod map;
mod memory;
mod share;

pub use bloom::Bloom;
pub use cardinality::Cardinality;
pub use map::{let_go, map, open};
pub use memory::{CountTable, TableKey};
pub use share::WriterShare;
