//! Sheets of samples: a row a lane, its columns named by the first line, as nf-core's pipelines
//! take them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::lane::Lane;

const SAMPLE: &str = "sample";
/// Reads, or first mates; a row fills one of them.
const READS: [&str; 3] = ["fastq_1", "reads", "fasta"];
/// Second mates.
const MATES: [&str; 2] = ["fastq_2", "mates"];

/// The most bytes of a sample's name: with any ending it is still the name of a file.
const LONGEST: usize = 200;

/// A sample and its lanes, in the order of the sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleReads {
    /// Its name, which is also that of its files.
    pub name: String,
    /// Its reads.
    pub lanes: Vec<Lane>,
}

/// Why a sheet cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SheetError {
    /// The sheet cannot be read.
    #[error("cannot read the sheet of samples {}: {source}", path.display())]
    Read {
        /// The sheet.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The sheet as a whole is not what it should be.
    #[error("{}: {problem}", path.display())]
    Unfit {
        /// The sheet.
        path: PathBuf,
        /// What was expected and what was found.
        problem: String,
    },
    /// A line is not what it should be.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The sheet.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What was expected and what was found.
        problem: String,
    },
    /// A file that a line names cannot be read.
    #[error("{}, line {line}: {problem}", path.display())]
    File {
        /// The sheet.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The file, and why.
        problem: String,
    },
}

/// Reads the sheet `path`; its files must be there. Where `interleaved`, rows without a second file
/// have both mates in the first. Samples come in the order of their first rows.
///
/// # Errors
/// See [`SheetError`].
pub fn read(path: &Path, interleaved: bool) -> Result<Vec<SampleReads>, SheetError> {
    let named = || path.to_path_buf();
    let bytes = std::fs::read(path).map_err(|source| SheetError::Read {
        path: named(),
        source,
    })?;
    let unfit = |problem| SheetError::Unfit {
        path: named(),
        problem,
    };
    let text = decode(&bytes).map_err(unfit)?;
    let samples = parse(&text, path.parent().unwrap_or(Path::new("")), interleaved);
    samples.map_err(|(line, wrong)| match wrong {
        Wrong::Text(problem) if line == 0 => unfit(problem),
        Wrong::Text(problem) => SheetError::Line {
            path: named(),
            line,
            problem,
        },
        Wrong::File(problem) => SheetError::File {
            path: named(),
            line,
            problem,
        },
    })
}

/// What is wrong with a sheet.
#[derive(Debug)]
enum Wrong {
    /// Its text.
    Text(String),
    /// A file that it names.
    File(String),
}

/// A line, from 1, or 0 for all of the sheet, and what is wrong there.
type WrongLine = (usize, Wrong);

/// What is wrong with the sheet itself.
fn malformed(what: impl Into<String>) -> Wrong {
    Wrong::Text(what.into())
}

/// Text of spreadsheets: with or without a mark at its start, lines that end in any of the three
/// ways.
fn decode(bytes: &[u8]) -> Result<String, String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("it is in UTF-16; save it as UTF-8".into());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
            + 1;
        format!("line {line} is no UTF-8; save the sheet as text in UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok(if text.contains('\n') {
        text.to_string()
    } else {
        text.replace('\r', "\n")
    })
}

fn parse(text: &str, folder: &Path, interleaved: bool) -> Result<Vec<SampleReads>, WrongLine> {
    let mut lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let (first, header) = lines.next().ok_or((
        0,
        malformed("it is empty; its first line names the columns"),
    ))?;
    let separator = separator(header);
    let columns = fields(header, separator).and_then(|header| Columns::of(&header));
    let columns = columns.map_err(|what| (first, malformed(what)))?;
    let (mut samples, mut places, mut seen) =
        (Vec::<SampleReads>::new(), HashMap::new(), HashMap::new());
    for (line, row) in lines {
        let row = Row::of(&columns, row, separator).map_err(|what| (line, malformed(what)))?;
        let (name, lane) = row
            .read(folder, interleaved)
            .map_err(|wrong| (line, wrong))?;
        if let Some(before) = seen.insert((name.clone(), lane.reads.clone()), line) {
            let what = format!(
                "{} is a lane of {name} already, in line {before}",
                lane.reads.display()
            );
            return Err((line, malformed(what)));
        }
        let place = *places.entry(name.clone()).or_insert(samples.len());
        if place == samples.len() {
            samples.push(SampleReads {
                name,
                lanes: Vec::new(),
            });
        }
        samples[place].lanes.push(lane);
    }
    if samples.is_empty() {
        Err((0, malformed("it has no samples below its first line")))
    } else {
        Ok(samples)
    }
}

/// Tabs, commas, or the semicolons of spreadsheets where numbers have commas.
fn separator(header: &str) -> char {
    ['\t', ',', ';']
        .into_iter()
        .find(|&separator| header.contains(separator))
        .unwrap_or(',')
}

/// The fields of a line, without the spaces around them; those in quotes as they are.
fn fields(line: &str, separator: char) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (field, behind) = match text.trim_start_matches(' ').strip_prefix('"') {
            Some(text) => quoted(text).ok_or("a quote is not closed in the line")?,
            None => {
                let end = text.find(separator).unwrap_or(text.len());
                (text[..end].trim().to_string(), &text[end..])
            }
        };
        fields.push(field);
        let behind = behind.trim_start_matches(' ');
        rest = behind.strip_prefix(separator);
        if rest.is_none() && !behind.trim().is_empty() {
            return Err(format!(
                "there is text behind the quotes of {:?}",
                fields.pop().unwrap_or_default()
            ));
        }
    }
    Ok(fields)
}

/// What stands before the closing quote, two quotes made one, and what is behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut field, mut rest) = (String::new(), text);
    loop {
        let (before, behind) = rest.split_once('"')?;
        field.push_str(before);
        match behind.strip_prefix('"') {
            Some(behind) => {
                field.push('"');
                rest = behind;
            }
            None => return Some((field, behind)),
        }
    }
}

/// Which column is where.
#[derive(Debug)]
struct Columns {
    places: HashMap<String, usize>,
    /// How many there are, those that nobody asks for with them.
    all: usize,
}

impl Columns {
    fn of(header: &[String]) -> Result<Columns, String> {
        let mut places = HashMap::new();
        let ours = |name: &str| name == SAMPLE || READS.contains(&name) || MATES.contains(&name);
        for (place, name) in header.iter().enumerate() {
            let name = name.to_lowercase();
            if ours(&name) && places.insert(name.clone(), place).is_some() {
                return Err(format!("two columns are called {name}"));
            }
        }
        let found = header.join(", ");
        if !places.contains_key(SAMPLE) {
            return Err(format!("no column is called {SAMPLE}; found {found}"));
        }
        if !READS.iter().any(|&name| places.contains_key(name)) {
            return Err(format!(
                "no column is called {} (reads or first mates); found {found}",
                READS.join(" or ")
            ));
        }
        Ok(Columns {
            places,
            all: header.len(),
        })
    }
}

struct Row<'a> {
    columns: &'a Columns,
    fields: Vec<String>,
}

impl<'a> Row<'a> {
    /// The row that a line is. Text behind the last column is refused: more often than not, a name
    /// has a separator in it.
    fn of(columns: &'a Columns, line: &str, separator: char) -> Result<Row<'a>, String> {
        let fields = fields(line, separator)?;
        if fields.iter().skip(columns.all).all(String::is_empty) {
            return Ok(Row { columns, fields });
        }
        Err(format!(
            "it has {} fields, the first line names {}; write a name with {separator:?} in it in \
             double quotes",
            fields.len(),
            columns.all
        ))
    }

    /// The first of `names` that the row fills, and with what.
    fn field<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &str)> {
        let filled = |&name: &&'n str| {
            Some((
                name,
                self.fields.get(*self.columns.places.get(name)?)?.as_str(),
            ))
        };
        names
            .iter()
            .filter_map(filled)
            .find(|(_, text)| !text.is_empty())
    }

    fn read(&self, folder: &Path, interleaved: bool) -> Result<(String, Lane), Wrong> {
        let (_, name) = self
            .field(&[SAMPLE])
            .ok_or_else(|| malformed(format!("column {SAMPLE} is empty")))?;
        check_name(name).map_err(malformed)?;
        let none = || malformed(format!("no reads: column {} is empty", self.there(&READS)));
        let (column, reads) = self.field(&READS).ok_or_else(none)?;
        let reads = file(folder, column, reads)?;
        let mates = self
            .field(&MATES)
            .map(|(column, mates)| file(folder, column, mates))
            .transpose()?;
        if mates.as_ref() == Some(&reads) {
            return Err(malformed(format!(
                "first and second mates are the same file {}",
                reads.display()
            )));
        }
        let interleaved = interleaved && mates.is_none();
        Ok((
            name.to_string(),
            Lane {
                reads,
                mates,
                interleaved,
            },
        ))
    }

    fn there(&self, names: &[&str]) -> String {
        let there: Vec<_> = names
            .iter()
            .filter(|&&name| self.columns.places.contains_key(name))
            .copied()
            .collect();
        there.join(" or ")
    }
}

/// A name is also that of files in the folder of outputs.
fn check_name(name: &str) -> Result<(), String> {
    let wrong = match name {
        _ if name.contains('/') => "it has a slash",
        _ if name.starts_with('.') => "it begins with a point",
        _ if name.contains(char::is_control) => "it has a control character",
        _ if name.len() > LONGEST => "it is too long",
        _ => return Ok(()),
    };
    Err(format!(
        "column {SAMPLE}: {name:?} cannot be the name of a sample and its files: {wrong}"
    ))
}

/// A file of the sheet, which must be there; one that is not is no better or worse than one on the
/// command line.
fn file(folder: &Path, column: &str, named: &str) -> Result<PathBuf, Wrong> {
    let path = folder.join(named);
    let why = match path.metadata() {
        Ok(there) if there.is_dir() => "it is a folder".to_string(),
        Ok(_) => return Ok(path),
        Err(error) => error.to_string(),
    };
    let hint = if Path::new(named).is_relative() {
        "; names in a sheet start from its folder"
    } else {
        ""
    };
    Err(Wrong::File(format!(
        "column {column}: cannot read {}: {why}{hint}",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a sheet in an empty folder but for the files a to f, as `name: reads mates, ..`;
    /// or line and message.
    fn parsed(text: &str) -> Result<Vec<String>, WrongLine> {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a", "b", "c", "d", "e f", "g\"h,i"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let shown = |path: &PathBuf| {
            path.strip_prefix(folder.path())
                .unwrap()
                .display()
                .to_string()
        };
        let lane = |lane: &Lane| {
            let mates = lane
                .mates
                .as_ref()
                .map_or(String::new(), |mates| format!("+{}", shown(mates)));
            format!(
                "{}{mates}{}",
                shown(&lane.reads),
                if lane.interleaved { "!" } else { "" }
            )
        };
        let sample = |one: &SampleReads| {
            format!(
                "{}: {}",
                one.name,
                one.lanes.iter().map(lane).collect::<Vec<_>>().join(" ")
            )
        };
        let text = decode(text.as_bytes()).map_err(|what| (0, malformed(what)))?;
        Ok(parse(&text, folder.path(), false)?
            .iter()
            .map(sample)
            .collect())
    }

    #[test]
    fn sheets_of_every_program_are_read() {
        for text in [
            "sample,fastq_1,fastq_2\ns,a,b\nt,c,\ns,d,\n",
            "\u{feff}sample,fastq_1,fastq_2\r\ns,a,b\r\n\r\nt,c,\r\ns,d,",
            "sample,fastq_1,fastq_2\rs,a,b\rt,c\rs,d\r",
            "fastq_2\tSample\tstrand\tfastq_1\nb\ts\tx\ta\n\tt\tx\tc\n\ts\t\td",
            "sample;reads;mates;\n s ;a;b;\nt;c;;;;\ns;\"d\";;",
            "\"sample\",\"fastq_1\",\"fasta\",\"fastq_2\"\n\"s\",\"a\",,\"b\"\nt,,c,\ns,d,,\n",
        ] {
            assert_eq!(parsed(text).unwrap(), ["s: a+b d", "t: c"], "{text:?}");
        }
        let quotes = "sample,reads\n\"a, \"\"b\"\"\", \"g\"\"h,i\" \nplain name,e f\n";
        assert_eq!(
            parsed(quotes).unwrap(),
            ["a, \"b\": g\"h,i", "plain name: e f"]
        );
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, line, words) in [
            ("", 0, "it is empty"),
            ("\n \n", 0, "it is empty"),
            ("sample,reads\n\n", 0, "no samples"),
            (
                "name,reads\ns,a\n",
                1,
                "no column is called sample; found name, reads",
            ),
            (
                "\nsample,file\ns,a\n",
                2,
                "no column is called fastq_1 or reads",
            ),
            (
                "sample,reads,Sample\ns,a,t\n",
                1,
                "two columns are called sample",
            ),
            ("sample,reads\ns,a\n,b\n", 3, "column sample is empty"),
            ("sample,reads,mates\ns,,a\n", 2, "column reads is empty"),
            (
                "sample,reads\n\ns,nowhere\n",
                3,
                "column reads: cannot read",
            ),
            ("sample,reads\ns,.\n", 2, "it is a folder"),
            ("sample,reads,mates\ns,a,a\n", 2, "the same file"),
            (
                "sample,reads\ns,a\nt,a\ns,a\n",
                4,
                "is a lane of s already, in line 2",
            ),
            ("sample,reads\n../s,a\n", 2, "slash"),
            (
                "sample,reads\ns,a,b\n",
                2,
                "it has 3 fields, the first line names 2",
            ),
            ("sample,reads\n.s,a\n", 2, "begins with a point"),
            ("sample,reads\ns\u{7},a\n", 2, "control character"),
            ("sample,reads\n\"s,a\n", 2, "a quote is not closed"),
            (
                "sample,reads\n\"s\"t,a\n",
                2,
                "text behind the quotes of \"s\"",
            ),
        ] {
            let (at, wrong) = parsed(text).unwrap_err();
            let (message, of_a_file) = match wrong {
                Wrong::Text(problem) => (problem, false),
                Wrong::File(problem) => (problem, true),
            };
            assert!(
                at == line && message.contains(words),
                "{text:?}: {at} {message}"
            );
            let expected = words.contains("cannot read") || words.contains("a folder");
            assert_eq!(of_a_file, expected, "{text:?}");
        }
        let long = format!("sample,reads\n{},a\n", "s".repeat(LONGEST + 1));
        let (_, wrong) = parsed(&long).unwrap_err();
        assert!(matches!(wrong, Wrong::Text(problem) if problem.contains("too long")));
    }

    #[test]
    fn only_utf_8_is_text() {
        assert!(decode(b"\xff\xfes\0a\0").unwrap_err().contains("UTF-16"));
        assert!(
            decode(b"sample,reads\nM\xfcller,a\n")
                .unwrap_err()
                .contains("line 2 is no UTF-8")
        );
    }
}
