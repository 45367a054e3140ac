//! JSON: BLAST's format 15, one document of all queries, 13, one for each, and lines of JSON.

use std::io::{self, Write};

use super::document::{Value, report, search};
use super::layout::{About, End, Layout, QueryHits};

/// One document of all queries.
pub(super) struct Json;

impl Layout for Json {
    fn head(&self, out: &mut dyn Write, _: &About, _: Option<&QueryHits>) -> io::Result<()> {
        writeln!(out, "{{\n\"BlastOutput2\": [")
    }

    fn query(&self, out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()> {
        if answer.query > 0 {
            writeln!(out, ",")?;
        }
        write!(out, "{{\n    \"report\": ")?;
        indented(out, &report(about, answer), 4)?;
        writeln!(out, "\n  }}")
    }

    fn tail(&self, out: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        writeln!(out, "]\n}}")
    }
}

/// Writes the document of one query.
pub(super) fn document(out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()> {
    write!(out, "{{\n  \"BlastOutput2\": {{\n    \"report\": ")?;
    indented(out, &report(about, answer), 4)?;
    writeln!(out, "\n  }}\n}}")
}

/// A line for each query, with what format 15 has in `search`.
pub(super) struct Lines;

impl Layout for Lines {
    fn head(&self, _: &mut dyn Write, _: &About, _: Option<&QueryHits>) -> io::Result<()> {
        Ok(())
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        compact(out, &search(answer))?;
        writeln!(out)
    }

    fn tail(&self, _: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        Ok(())
    }
}

/// A value over several lines; its last is so far from the left.
fn indented(out: &mut dyn Write, value: &Value, indent: usize) -> io::Result<()> {
    let within = indent + 2;
    match value {
        Value::Object(_, members) => {
            write!(out, "{{")?;
            for (number, (name, value)) in members.iter().enumerate() {
                let before = if number > 0 { "," } else { "" };
                let name = name.replace('-', "_");
                write!(out, "{before}\n{:within$}\"{name}\": ", "")?;
                indented(out, value, within)?;
            }
            write!(out, "\n{:indent$}}}", "")
        }
        Value::List(values) => {
            write!(out, "[")?;
            for (number, value) in values.iter().enumerate() {
                let before = if number > 0 { "," } else { "" };
                write!(out, "{before}\n{:within$}", "")?;
                indented(out, value, within)?;
            }
            write!(out, "\n{:indent$}]", "")
        }
        Value::Number(number) => write!(out, "{number}"),
        Value::Text(text) => quoted(out, text),
    }
}

/// A value in one line.
fn compact(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    match value {
        Value::Object(_, members) => {
            for (number, (name, value)) in members.iter().enumerate() {
                let before = if number > 0 { "," } else { "{" };
                write!(out, "{before}\"{}\":", name.replace('-', "_"))?;
                compact(out, value)?;
            }
            write!(out, "}}")
        }
        Value::List(values) => {
            write!(out, "[")?;
            for (number, value) in values.iter().enumerate() {
                if number > 0 {
                    write!(out, ",")?;
                }
                compact(out, value)?;
            }
            write!(out, "]")
        }
        Value::Number(number) => write!(out, "{number}"),
        Value::Text(text) => quoted(out, text),
    }
}

/// A text in quotes. What is not UTF-8 becomes U+FFFD.
pub(super) fn quoted(out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
    write!(out, "\"")?;
    for symbol in String::from_utf8_lossy(text).chars() {
        match symbol {
            '"' => write!(out, "\\\"")?,
            '\\' => write!(out, "\\\\")?,
            '\0'..' ' | '\u{7f}' => write!(out, "\\u{:04x}", u32::from(symbol))?,
            symbol => write!(out, "{symbol}")?,
        }
    }
    write!(out, "\"")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn any_text_is_json() {
        let mut out = Vec::new();
        quoted(&mut out, b"a\"b\\c\td\x01\xff\xc3\xa4/").unwrap();
        assert_eq!(out, "\"a\\\"b\\\\c\\u0009d\\u0001\u{fffd}ä/\"".as_bytes());
    }
}
