//! Our own numbers as a table of MultiQC: what it calls custom content.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::failure::{Failure, Result};

/// MultiQC knows its custom content by this end of a name.
pub const ENDING: &str = "_mqc.json";

/// Refuses a name by which MultiQC would not find the file.
pub fn keep_name(path: &Path) -> Result<()> {
    let name = path.to_string_lossy();
    if name == "-" || name.ends_with(ENDING) {
        return Ok(());
    }
    let name = name.strip_suffix(".json").unwrap_or(&name);
    Err(Failure::usage(format!(
        "MultiQC finds its tables by names that end with {ENDING}; name it {name}{ENDING}"
    )))
}

/// A column of numbers: key, title, description, how MultiQC writes a number.
pub type Column = (&'static str, &'static str, &'static str, &'static str);

/// Whole numbers, and percent.
pub const WHOLE: &str = "{:,.0f}";
pub const PERCENT: &str = "{:,.2f}";
/// Words.
pub const WORDS: &str = "";

/// A table with a row for each sample, as a file. Tables of one name in several files are one in
/// the report of MultiQC.
pub fn table(name: &str, about: &str, columns: &[Column], rows: Map<String, Value>) -> Vec<u8> {
    let id = format!("gyrase_{name}");
    let header = |(place, &(key, title, description, format)): (usize, &Column)| {
        let mut header = json!({
            "title": title,
            "description": description,
            // The keys of an object have no order.
            "placement": 10 * (place + 1),
        });
        let fields = header.as_object_mut().expect("it was made one");
        if format != WORDS {
            fields.insert("format".into(), format.into());
            fields.insert("min".into(), 0.into());
        }
        if format == PERCENT {
            fields.insert("max".into(), 100.into());
            fields.insert("suffix".into(), "%".into());
        }
        (key.to_owned(), header)
    };
    let headers: Map<String, Value> = columns.iter().enumerate().map(header).collect();
    let table = json!({
        "id": id,
        "section_name": format!("Gyrase: {name}"),
        "description": about,
        "plot_type": "table",
        "pconfig": {"id": format!("{id}_table"), "title": format!("Gyrase: {name}")},
        "headers": headers,
        "data": rows,
    });
    format!("{table:#}\n").into_bytes()
}

/// A percentage with four digits behind the point.
pub fn percent(part: u64, whole: u64) -> f64 {
    let share = if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    };
    (1e6 * share).round() / 1e4
}
