//! Files that appear whole or not at all.
//!
//! [`OutputFile`] is built beside its target under another name; it takes the name of the target
//! when it is complete, and is gone when it never is.

mod output;

pub use output::{OutputError, OutputFile};
