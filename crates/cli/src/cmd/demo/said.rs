//! What the demonstration says, on standard output.

use crate::failure::Result;
use crate::sink;

/// Prints lines.
pub fn print(text: &str) -> Result<()> {
    sink::write_all(None, format!("{text}\n").as_bytes())
}
