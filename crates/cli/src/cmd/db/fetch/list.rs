//! Lists of files to download, in the forms that programs take.

use std::collections::HashSet;
use std::fmt::{Display, Write};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::ValueEnum;
use gyrase_taxonomy::Assembly;

use crate::failure::{Code, Failure, Result};

/// What NCBI calls the file of checksums in the folder of every assembly.
pub const SUMS: &str = "md5checksums.txt";

/// Which program takes the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Taker {
    // Variants without documentation keep `--help` in its short form.
    Aria2c,
    Wget,
    Curl,
}

/// What a list of each form has and no other.
const OF_ARIA2C: &str = "  out=";
const OF_CURL: &str = "url = \"";

impl Taker {
    /// How it takes a list.
    pub fn command(self, list: &impl Display) -> String {
        match self {
            Taker::Aria2c => format!("aria2c -i {list} -d refs/"),
            Taker::Wget => format!("wget -P refs/ -i {list}"),
            Taker::Curl => format!("curl --output-dir refs/ --config {list}"),
        }
    }
}

/// A file to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its address.
    pub address: String,
    /// Its name here.
    pub name: String,
}

/// Files of different names.
#[derive(Debug, Default)]
pub struct List {
    files: Vec<Listed>,
    names: HashSet<String>,
}

impl List {
    /// Files in all.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn add(&mut self, address: String, name: String) -> Result<()> {
        if !self.names.insert(name.clone()) {
            return Err(Failure::new(
                Code::Input,
                format!(
                    "two addresses end with {name}, {address} among them: one file would take the \
                     place of the other; make two lists, for two folders"
                ),
            ));
        }
        self.files.push(Listed { address, name });
        Ok(())
    }

    /// Adds addresses.
    pub fn add_all(&mut self, addresses: Vec<String>) -> Result<()> {
        addresses.into_iter().try_for_each(|address| {
            let name = last_part(&address).to_owned();
            self.add(address, name)
        })
    }

    /// Adds the genome of an assembly and, where it can have a name of its own, its checksums.
    pub fn add_assembly(&mut self, assembly: &Assembly, taker: Taker) -> Result<()> {
        let folder = assembly.folder.as_deref().unwrap_or_default();
        let base = last_part(folder);
        let genome = format!("{base}_genomic.fna.gz");
        self.add(format!("{folder}/{genome}"), genome)?;
        match taker {
            Taker::Wget => Ok(()),
            _ => self.add(format!("{folder}/{SUMS}"), format!("{base}_{SUMS}")),
        }
    }

    /// The text that the program takes.
    pub fn text(&self, taker: Taker) -> String {
        text(&self.files, taker)
    }
}

fn last_part(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

/// The text of a list that the program takes.
pub fn text(files: &[Listed], taker: Taker) -> String {
    let mut text = String::new();
    if taker == Taker::Curl {
        text += "fail\nlocation\nretry = 5\ncreate-dirs\n";
    }
    for Listed { address, name } in files {
        // Writing to a string cannot fail.
        let _ = match taker {
            Taker::Aria2c => writeln!(text, "{address}\n{OF_ARIA2C}{name}"),
            Taker::Wget => writeln!(text, "{address}"),
            Taker::Curl => writeln!(text, "{OF_CURL}{address}\"\noutput = \"{name}\""),
        };
    }
    text
}

/// The addresses of a list of such; nothing where it is a table of another kind.
pub fn addresses(path: &Path) -> Result<Option<Vec<String>>> {
    let text = match start(path)? {
        start if is_address(first_word(&start)) => read(path)?,
        _ => return Ok(None),
    };
    let mut addresses = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let word = line.trim();
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        if !is_address(word) || last_part(word).is_empty() {
            return Err(Failure::new(
                Code::Input,
                format!(
                    "{}, line {number}: expected the address of a file, as https://..., found \
                     {word:?}",
                    path.display()
                ),
            ));
        }
        addresses.push(word.to_owned());
    }
    Ok(Some(addresses))
}

/// The first word of the first line that is no comment.
fn first_word(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    lines
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .and_then(|line| line.split_whitespace().next())
        .unwrap_or_default()
}

fn is_address(word: &str) -> bool {
    ["https://", "http://", "ftp://", "file://"]
        .iter()
        .any(|scheme| word.starts_with(scheme))
        && !word.contains(char::is_whitespace)
}

/// Files of a list that an earlier run made, and for which program.
pub fn parse(path: &Path) -> Result<(Vec<Listed>, Taker)> {
    let text = read(path)?;
    let has = |start: &str| text.lines().any(|line| line.starts_with(start));
    let taker = match () {
        () if has(OF_CURL) => Taker::Curl,
        () if has(OF_ARIA2C) => Taker::Aria2c,
        () => Taker::Wget,
    };
    let mut files: Vec<Listed> = Vec::new();
    for line in text.lines() {
        let quoted = |key: &str| line.strip_prefix(key)?.strip_suffix('"');
        let name = match taker {
            Taker::Curl => quoted("output = \""),
            _ => line.strip_prefix(OF_ARIA2C),
        };
        let address = quoted(OF_CURL).or(Some(line).filter(|line| is_address(line)));
        if let (Some(name), Some(last)) = (name, files.last_mut()) {
            last.name = name.to_owned();
        } else if let Some(address) = address {
            files.push(Listed {
                address: address.to_owned(),
                name: last_part(address).to_owned(),
            });
        }
    }
    if files.is_empty() {
        let path = path.display();
        return Err(Failure::new(
            Code::Input,
            format!("{path}: there is no address in it; name a list that `gyrase db fetch` made"),
        ));
    }
    Ok((files, taker))
}

/// Bytes of a file that tell what it is.
const START: u64 = 4096;

fn start(path: &Path) -> Result<String> {
    let failure = |error| unreadable(path, &error);
    let file = File::open(path).map_err(failure)?;
    let mut start = Vec::new();
    let text = gyrase_fastx::decompress(file).map_err(failure)?;
    text.take(START).read_to_end(&mut start).map_err(failure)?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let code = match error.kind() {
        std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof => Code::Input,
        _ => Code::Usage,
    };
    Failure::new(code, format!("{}: cannot be read: {error}", path.display()))
}
