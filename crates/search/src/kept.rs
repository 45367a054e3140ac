//! Answers of batches of queries that are kept until the report is whole, for a run that goes on
//! where an earlier one was cut short.
//!
//! Each process has two files in the folder of the run: the text of the batches that it finished,
//! one behind the other, and a log, whose first line is what was asked. Each further line is a
//! batch: its number, where its text begins, how long it is, its CRC-32, queries with hits, hits.
//! A line that was cut short is none, and text that is not what its line says is made again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gyrase_fabric::{FabricError, SpillFolder, World};

/// How the names of logs and of texts end.
const LOG: &str = "batches";
const TEXT: &str = "text";

/// What was found for a batch of queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Queries with a hit.
    pub with_hits: u64,
    /// Subjects of all queries.
    pub hits: u64,
    /// Their part of the report.
    pub text: Vec<u8>,
}

impl Found {
    /// As one process tells another: the text, then both numbers.
    pub(crate) fn into_message(self) -> Vec<u8> {
        let mut bytes = self.text;
        let numbers = [self.with_hits, self.hits].map(u64::to_le_bytes);
        bytes.extend(numbers.as_flattened());
        bytes
    }

    /// What [`Found::into_message`] made.
    pub(crate) fn of_message(mut bytes: Vec<u8>) -> Found {
        let numbers = bytes.split_off(bytes.len() - 16);
        let number = |at: usize| {
            let bytes = numbers[at..at + 8].try_into();
            u64::from_le_bytes(bytes.expect("a number in eight bytes"))
        };
        Found {
            with_hits: number(0),
            hits: number(8),
            text: bytes,
        }
    }
}

/// Where the text of a batch is.
#[derive(Clone, Debug)]
struct Place {
    file: Arc<File>,
    offset: u64,
    length: u64,
    crc: u32,
    with_hits: u64,
    hits: u64,
}

/// The answers that processes keep.
pub(crate) struct Kept {
    folder: Arc<SpillFolder>,
    root: PathBuf,
    /// What earlier runs left, by batch.
    earlier: HashMap<usize, Place>,
    own: Mutex<Own>,
    path: PathBuf,
}

/// The files of this process.
struct Own {
    log: File,
    text: File,
    end: u64,
}

impl Kept {
    /// Finds what earlier runs of the same `question` left in the folder `root`, and removes what
    /// others did. What is kept from now on counts against what `folder` may take.
    ///
    /// Collective.
    pub(crate) fn open(
        world: &dyn World,
        root: &Path,
        question: &str,
        folder: Arc<SpillFolder>,
    ) -> Result<Kept, FabricError> {
        let path = root.join(format!("kept-{}", world.rank()));
        let failed = |source: io::Error| FabricError::Spill {
            path: path.clone(),
            source: source.into(),
        };
        fs::create_dir_all(root).map_err(failed)?;
        if world.rank() == 0 {
            let others = logs(root).filter(|log| read(log, question).is_none());
            others.for_each(|log| remove(&log));
        }
        world.sum(&[0])?;
        let earlier = logs(root)
            .flat_map(|log| found_in(&log, question))
            .collect();
        let own = Own::open(&path, question).map_err(failed)?;
        Ok(Kept {
            folder,
            root: root.to_path_buf(),
            earlier,
            own: Mutex::new(own),
            path,
        })
    }

    /// What an earlier run found for a batch.
    pub(crate) fn get(&self, batch: usize) -> Option<Found> {
        let place = self.earlier.get(&batch)?;
        let mut text = vec![0; usize::try_from(place.length).ok()?];
        place.file.read_exact_at(&mut text, place.offset).ok()?;
        (crc32fast::hash(&text) == place.crc).then_some(Found {
            with_hits: place.with_hits,
            hits: place.hits,
            text,
        })
    }

    /// Keeps what was found for a batch.
    pub(crate) fn put(&self, batch: usize, found: &Found) -> Result<(), FabricError> {
        self.folder.allow(found.text.len() as u64)?;
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.put(batch, found).map_err(|source| FabricError::Spill {
            path: self.path.clone(),
            source: source.into(),
        })
    }

    /// Removes all that processes kept.
    pub(crate) fn remove(&self) {
        clear(&self.root);
    }
}

impl Own {
    fn open(path: &Path, question: &str) -> io::Result<Own> {
        let append = |ending| {
            let mut options = File::options();
            let options = options.read(true).append(true).create(true);
            options.open(path.with_extension(ending))
        };
        let (mut log, text) = (append(LOG)?, append(TEXT)?);
        match log.metadata()?.len() {
            0 => writeln!(log, "{question}")?,
            // The last line may have been cut short.
            _ => writeln!(log)?,
        }
        let end = text.metadata()?.len();
        Ok(Own { log, text, end })
    }

    fn put(&mut self, batch: usize, found: &Found) -> io::Result<()> {
        let Found {
            with_hits,
            hits,
            text,
        } = found;
        self.text.write_all(text)?;
        let (offset, length, crc) = (self.end, text.len(), crc32fast::hash(text));
        self.end += length as u64;
        // In one write, so that a line is whole or torn.
        let line = format!("{batch} {offset} {length} {crc} {with_hits} {hits}\n");
        self.log.write_all(line.as_bytes())
    }
}

/// Removes all that processes of any search kept in a folder.
pub(crate) fn clear(root: &Path) {
    logs(root).for_each(|log| remove(&log));
    // Others may have the folder.
    let _ = fs::remove_dir(root);
}

/// The logs in a folder.
fn logs(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == LOG))
}

fn remove(log: &Path) {
    // What cannot be removed is of another question to whoever comes next.
    let _ = fs::remove_file(log.with_extension(TEXT));
    let _ = fs::remove_file(log);
}

/// The whole lines of a log behind the question.
fn read(log: &Path, question: &str) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    let whole = &text[..text.rfind('\n')? + 1];
    let lines = whole.strip_prefix(question)?.strip_prefix('\n')?;
    Some(lines.into())
}

/// The batches of a log.
fn found_in(log: &Path, question: &str) -> Vec<(usize, Place)> {
    let lines = read(log, question);
    let Some((lines, file)) = lines.zip(File::open(log.with_extension(TEXT)).ok()) else {
        return Vec::new();
    };
    let file = Arc::new(file);
    let place = |line: &str| {
        let numbers = line.split(' ').map(|number| number.parse().ok());
        let &[batch, offset, length, crc, with_hits, hits] =
            &numbers.collect::<Option<Vec<u64>>>()?[..]
        else {
            return None;
        };
        let place = Place {
            file: Arc::clone(&file),
            offset,
            length,
            crc: u32::try_from(crc).ok()?,
            with_hits,
            hits,
        };
        Some((usize::try_from(batch).ok()?, place))
    };
    lines.lines().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Alone;

    use super::*;

    fn found(text: &str) -> Found {
        Found {
            with_hits: 2,
            hits: 7,
            text: text.into(),
        }
    }

    #[test]
    fn what_is_whole_and_of_the_same_question_comes_back() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("kept");
        let folder = || Arc::new(SpillFolder::new(root.join("rank-0"), None, false));
        let open = |question: &str| Kept::open(&Alone, &root, question, folder()).unwrap();
        let kept = open("one question");
        assert_eq!(kept.get(3), None);
        kept.put(3, &found("three")).unwrap();
        kept.put(1, &found("")).unwrap();
        kept.put(5, &found("five")).unwrap();
        drop(kept);
        // The last line is torn, and the text of the first is not what it was.
        let (log, text) = (root.join("kept-0.batches"), root.join("kept-0.text"));
        let lines = fs::read_to_string(&log).unwrap();
        fs::write(&log, &lines[..lines.len() - 3]).unwrap();
        let again = open("one question");
        assert_eq!(again.get(3), Some(found("three")));
        assert_eq!(again.get(1), Some(found("")));
        assert_eq!(again.get(5), None);
        again.put(5, &found("five")).unwrap();
        drop(again);
        let damaged = fs::read_to_string(&text).unwrap().replace("three", "throe");
        fs::write(&text, damaged).unwrap();
        let again = open("one question");
        assert_eq!(again.get(3), None);
        assert_eq!(again.get(5), Some(found("five")));
        drop(again);
        let other = open("another question");
        assert_eq!(other.get(5), None);
        other.remove();
        assert!(!root.exists());
    }
}
