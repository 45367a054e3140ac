//! `.gysd` databases: sequences, titles and taxids of a database, checksummed, used straight from a
//! memory map.
//!
//! [`Writer`] takes one sequence after the other, in constant memory; [`SeqDb`] opens in no
//! time, whatever its size, and checks the blocks that are read. `docs/formats.md` describes the
//! bytes.

mod database;
mod layout;
mod masks;
mod names;
mod packed;
mod section;
mod spool;
mod verify;
mod writer;

pub use database::{SeqDb, Strand};
pub use layout::{MAGIC, Summary, VERSION};
pub use names::name_of;
pub(crate) use packed::unpack;
pub use writer::Writer;
