//! BLAST's second XML, by `NCBI_BlastOutput2.xsd`: one document of all queries (format 16), or one
//! for each (14).

use std::io::{self, Write};

use super::document::{Value, report};
use super::layout::{About, End, Layout, QueryHits};
use super::xml::escape;

const XML: &str = "<?xml version=\"1.0\"?>\n";
const SCHEMA: &str = r#"
    xmlns="http://www.ncbi.nlm.nih.gov"
    xmlns:xs="http://www.w3.org/2001/XMLSchema-instance"
    xs:schemaLocation="http://www.ncbi.nlm.nih.gov http://www.ncbi.nlm.nih.gov/data_specs/schema_alt/NCBI_BlastOutput2.xsd"
>
"#;

/// What stands before the names of documents in a list of them.
pub(super) const LIST_HEAD: &str = r#"<?xml version="1.0"?>
<BlastXML2
xmlns="http://www.ncbi.nlm.nih.gov"
xmlns:xi="http://www.w3.org/2003/XInclude"
xmlns:xs="http://www.w3.org/2001/XMLSchema-instance"
xs:schemaLocation="http://www.ncbi.nlm.nih.gov http://www.ncbi.nlm.nih.gov/data_specs/schema_alt/NCBI_BlastOutput2.xsd">
"#;

/// One document of all queries.
pub(super) struct Xml2;

impl Layout for Xml2 {
    fn head(&self, out: &mut dyn Write, _: &About, _: Option<&QueryHits>) -> io::Result<()> {
        write!(out, "{XML}<BlastXML2{SCHEMA}")
    }

    fn query(&self, out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()> {
        if answer.query > 0 {
            writeln!(out)?;
        }
        writeln!(out, "<BlastOutput2>")?;
        element(out, "report", &report(about, answer), 2)?;
        writeln!(out, "</BlastOutput2>")
    }

    fn tail(&self, out: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        writeln!(out, "</BlastXML2>")
    }
}

/// Writes the document of one query.
pub(super) fn document(out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()> {
    write!(out, "{XML}<BlastOutput2{SCHEMA}")?;
    element(out, "report", &report(about, answer), 2)?;
    writeln!(out, "</BlastOutput2>")
}

/// A value in an element of that name, so far from the left.
fn element(out: &mut dyn Write, name: &str, value: &Value, indent: usize) -> io::Result<()> {
    write!(out, "{:indent$}<{name}>", "")?;
    match value {
        Value::Number(number) => write!(out, "{number}")?,
        Value::Text(text) => escape(out, text)?,
        Value::List(values) if values.is_empty() => {}
        Value::List(values) => {
            writeln!(out)?;
            for value in values {
                object(out, value, indent + 2)?;
            }
            write!(out, "{:indent$}", "")?;
        }
        Value::Object(..) => {
            writeln!(out)?;
            object(out, value, indent + 2)?;
            write!(out, "{:indent$}", "")?;
        }
    }
    writeln!(out, "</{name}>")
}

/// The members of an object in an element of its kind.
fn object(out: &mut dyn Write, value: &Value, indent: usize) -> io::Result<()> {
    let Value::Object(kind, members) = value else {
        return Ok(());
    };
    writeln!(out, "{:indent$}<{kind}>", "")?;
    for (name, value) in members {
        element(out, name, value, indent + 2)?;
    }
    writeln!(out, "{:indent$}</{kind}>", "")
}
