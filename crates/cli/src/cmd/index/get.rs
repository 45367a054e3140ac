//! `gyrase index get`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gyrase_seqdb::gysd::{SeqDb, Strand, name_of};
use gyrase_seqdb::{Molecule, SeqDbError};
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::places;
use crate::session::Session;
use crate::sink::Sink;

/// Letters of a line.
const WIDTH: usize = 80;

const EXAMPLES: &str = "\
Examples:
  gyrase index get refs.gysd P12345
  gyrase index get genomes.gysd chr1:1001-2000 chr2:5- --strand minus
  gyrase index get refs.gysd --names hits.txt -o hits.faa.gz
  gyrase index get refs.gysd --all | head

A name is the first word of a title, or a longer part between the bars of one as
in sp|P12345|AATM_RABIT. Where several sequences have the name, all are printed.
Positions count from 1; what is behind the end is left out. The title of a part
is name:FROM-TO, of the other strand name:cTO-FROM, as blastdbcmd has it.";

/// Print sequences as FASTA.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Get {
    /// The database
    #[arg(value_name = "DATABASE.gysd")]
    database: PathBuf,

    /// Names of sequences, each alone or with positions: NAME:FROM-TO, NAME:FROM-
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "names"])]
    wanted: Vec<String>,

    /// File of more such names, one on a line; `-` for a pipe
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,

    /// Print all sequences, in their order
    #[arg(long, conflicts_with_all = ["wanted", "names"])]
    all: bool,

    /// Strand of nucleotides
    #[arg(long, value_name = "STRAND", default_value = "plus")]
    strand: Side,

    /// File to write, compressed if its name ends so [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// As it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    /// As it is stored
    Plus,
    /// The complement, backwards
    Minus,
}

/// Positions, from 1, as they were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Positions {
    from: u64,
    to: u64,
}

/// A name with positions behind it, if it has some.
fn with_positions(text: &str) -> Option<(&str, Positions)> {
    let (name, positions) = text.rsplit_once(':')?;
    let (from, to) = positions.split_once('-')?;
    let from = from.parse().ok().filter(|&from| from > 0)?;
    let to = match to {
        "" => u64::MAX,
        to => to.parse().ok()?,
    };
    Some((name, Positions { from, to }))
}

impl Get {
    /// Prints.
    pub fn run(self, session: &Session) -> Result<()> {
        let inputs = [&self.database].into_iter().chain(&self.names);
        session.keep_apart(inputs, [places::or_standard_output(&self.output)])?;
        let database = SeqDb::open(&self.database)?;
        if self.strand == Side::Minus && database.summary().molecule == Molecule::Protein {
            return Err(Failure::usage(
                "proteins have no strands; leave --strand out",
            ));
        }
        let wanted = self.wanted()?;
        // What is missing is said before the first byte.
        let parts = self.parts(&database, &wanted)?;
        let mut printer = Printer {
            database: &database,
            strand: match self.strand {
                Side::Plus => Strand::Plus,
                Side::Minus => Strand::Minus,
            },
            sink: Sink::open(self.output.as_deref())?,
            letters: Vec::new(),
        };
        for &(number, positions) in &parts {
            session.progress.go_on().map_err(SeqDbError::from)?;
            printer.print(number, positions)?;
        }
        for number in (0..database.len()).take_while(|_| self.all) {
            session.progress.go_on().map_err(SeqDbError::from)?;
            printer.print(number, None)?;
        }
        printer.sink.finish()?;
        let printed = if self.all {
            database.len()
        } else {
            parts.len()
        };
        session.note("inputs", self.database.display().to_string());
        session.note("counts", json!({"sequences": printed}));
        Ok(())
    }

    fn wanted(&self) -> Result<Vec<String>> {
        let mut wanted = self.wanted.clone();
        if let Some(path) = &self.names {
            let read = match path.as_os_str() == "-" {
                true => std::io::read_to_string(std::io::stdin()),
                false => std::fs::read_to_string(path),
            };
            let text = read.map_err(|error| {
                Failure::usage(format!("cannot read {}: {error}", path.display()))
            })?;
            let names = text.lines().map(str::trim).filter(|name| !name.is_empty());
            wanted.extend(names.map(String::from));
        }
        Ok(wanted)
    }

    /// The numbers of the sequences that are wanted, and the positions.
    fn parts(
        &self,
        database: &SeqDb,
        wanted: &[String],
    ) -> Result<Vec<(usize, Option<Positions>)>> {
        let mut parts = Vec::new();
        for text in wanted {
            // A name may have a colon itself.
            let mut found = (database.find(text.as_bytes())?, None);
            if let (true, Some((name, positions))) = (found.0.is_empty(), with_positions(text)) {
                found = (database.find(name.as_bytes())?, Some(positions));
            }
            if found.0.is_empty() {
                return Err(SeqDbError::NoName {
                    path: self.database.clone(),
                    name: text.clone(),
                }
                .into());
            }
            for number in found.0 {
                if let Some(positions) = found.1 {
                    within(database, number, positions)?;
                }
                parts.push((number, found.1));
            }
        }
        Ok(parts)
    }
}

/// The positions that a sequence has of those that were asked for.
fn within(
    database: &SeqDb,
    number: usize,
    positions: Positions,
) -> std::result::Result<Positions, SeqDbError> {
    let length = database.letters(number)?;
    let Positions { from, to } = positions;
    if from > to || from > length {
        let name = String::from_utf8_lossy(name_of(database.title(number)?)).into_owned();
        return Err(SeqDbError::NoRange {
            name,
            length,
            from,
            to,
        });
    }
    Ok(Positions {
        from,
        to: to.min(length),
    })
}

struct Printer<'d> {
    database: &'d SeqDb,
    strand: Strand,
    sink: Sink,
    letters: Vec<u8>,
}

impl Printer<'_> {
    fn print(&mut self, number: usize, positions: Option<Positions>) -> Result<()> {
        let (database, strand) = (self.database, self.strand);
        let title = database.title(number)?;
        let (name, rest) = title.split_at(name_of(title).len());
        let part = positions
            .map(|positions| within(database, number, positions))
            .transpose()?;
        let range = match part {
            Some(Positions { from, to }) => from - 1..to,
            None => 0..database.letters(number)?,
        };
        self.letters.clear();
        database.read(number, range, strand, &mut self.letters)?;
        let place = match (part, strand) {
            (None, _) => String::new(),
            (Some(Positions { from, to }), Strand::Plus) => format!(":{from}-{to}"),
            (Some(Positions { from, to }), Strand::Minus) => format!(":c{to}-{from}"),
        };
        let mut text = [b">", name, place.as_bytes(), rest, b"\n"].concat();
        for line in self.letters.chunks(WIDTH) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        let written = self.sink.write_all(&text);
        Ok(written.map_err(|source| self.sink.error(source))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_stand_behind_the_last_colon() {
        let positions = |from, to| Positions { from, to };
        assert_eq!(with_positions("a:3-9"), Some(("a", positions(3, 9))));
        assert_eq!(
            with_positions("a:b:3-"),
            Some(("a:b", positions(3, u64::MAX)))
        );
        for text in ["a", "a:3", "a:0-4", "a:-4", "a:x-y", "a:1-2-3"] {
            assert_eq!(with_positions(text), None, "{text}");
        }
    }
}
