//! Small files that are read whole.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use crate::failure::{Failure, Result};

/// The text of a file, compressed or not; `-` is standard input.
pub fn text(path: &Path) -> Result<String> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut text = String::new();
    let opened = match path.as_os_str() == "-" {
        true => gyrase_fastx::decompress(stdin()),
        false => File::open(path).and_then(gyrase_fastx::decompress),
    };
    opened
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(unreadable)?;
    Ok(text)
}
