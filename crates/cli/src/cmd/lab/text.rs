//! Texts that verbs of the laboratory are given.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::failure::{Failure, Result};

/// The text of a file, compressed or not.
pub fn text(path: &Path) -> Result<String> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let opened = File::open(path).and_then(gyrase_fastx::decompress);
    let mut text = String::new();
    opened
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(unreadable)?;
    Ok(text)
}
