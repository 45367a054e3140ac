//! Files that appear whole or not at all, also where many write them.
//!
//! [`OutputFile`] is built beside its target under another name; it takes the name of the target
//! when it is complete, and is gone when it never is. [`OrderedFile`] is one whose segments many
//! threads of many processes finish in about the right order; [`Ordered`] is that order by itself,
//! for threads. [`container`] is what the binary formats of the house have in common.
//!
//! # Example
//!
//! ```
//! use std::io::Write;
//!
//! use gyrase_files::OutputFile;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("counts.tsv");
//! let mut file = OutputFile::create(&path)?;
//! file.write_all(b"GATTACA\t2\n")?;
//! assert!(!path.exists()); // whoever looks now sees nothing
//! file.commit()?;
//! assert_eq!(std::fs::read(&path)?, b"GATTACA\t2\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod container;
mod folder;
mod ordered;
mod ordered_file;
mod output;
mod system;
mod unfinished;
mod write_back;

pub use folder::OutputFolder;
pub use ordered::{Ordered, Stopped};
pub use ordered_file::{
    Garbled, OrderedError, OrderedFile, OwnSegments, Placed, Segment, Spill, read_through,
};
pub use output::{OutputError, OutputFile, keep_in_folder};
pub use system::Confinement;
pub use unfinished::remove_unfinished;
pub use write_back::WriteBack;
