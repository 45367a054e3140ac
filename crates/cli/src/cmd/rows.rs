//! The rows that `gyrase plan` prints.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use gyrase_picture::words::{self, bytes};
use gyrase_tabulate::Estimate;
use serde_json::{Value, json};

use crate::failure::Result;
use crate::sink;

/// What stands for a figure that no upper bound is known of.
pub const PIPE: &str = "unknown: an input is a pipe";

/// A table of names and values.
#[derive(Default)]
pub struct Table(String);

impl Table {
    /// Adds a row.
    pub fn row(&mut self, name: &str, value: impl AsRef<str>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{name:<16}{}", value.as_ref());
    }

    /// Adds the memory that is expected, and that is allowed.
    pub fn memory(&mut self, expected: Estimate, allowed: u64, at_most: bool) {
        let up_to = if at_most { "up to " } else { "" };
        let (expected, allowed) = (shown(expected, bytes), bytes(allowed));
        self.row(
            "memory",
            format!("{up_to}{expected} of the {allowed} allowed"),
        );
    }

    /// Adds the size of what is written.
    pub fn output(&mut self, output: Estimate) {
        self.row("output", shown(output, bytes));
    }

    /// Adds the size of temporary files.
    pub fn temporary(&mut self, tmp: Estimate, folder: &Path) {
        let value = match tmp.most {
            Some(0) => "none".into(),
            _ => format!("{} in {}", shown(tmp, bytes), folder.display()),
        };
        self.row("temporary disk", value);
    }

    /// Adds the time, and what is to be said of it.
    pub fn time(&mut self, seconds: Option<f64>, more: &str) {
        let time = |seconds: f64| words::time(Duration::from_secs_f64(seconds.max(0.01)));
        let known = |seconds| format!("about {}{more}", time(seconds));
        self.row("time", seconds.map_or(PIPE.into(), known));
    }

    /// Prints it.
    pub fn print(self) -> Result<()> {
        sink::write_all(None, self.0.as_bytes())
    }
}

/// A figure in words.
pub fn shown(Estimate { least, most }: Estimate, word: impl Fn(u64) -> String) -> String {
    match most {
        Some(most) if word(most) == word(least) => word(most),
        Some(most) => format!("{} to {}", word(least), word(most)),
        None if least == 0 => PIPE.into(),
        None => format!("at least {}; an input is a pipe", word(least)),
    }
}

/// Both bounds; an upper one that nobody knows is null.
pub fn bounds(estimate: Estimate) -> Value {
    json!({"least": estimate.least, "most": estimate.most})
}
