//! What a run finished and keeps until all is whole, for a run that goes on where an earlier one
//! was cut short.
//!
//! What is done has numbers: batches of queries, stages. Each process has two files in the folder
//! of the run: what it finished, one behind the other, and a log, whose first line is what was
//! asked. Each further line is one of them: its number, where it begins, how long it is, its
//! CRC-32. A line that was cut short is none, and what is not what its line says is made again.

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

/// Where something is.
#[derive(Clone, Debug)]
struct Place {
    file: Arc<File>,
    offset: u64,
    length: u64,
    crc: u32,
}

/// What processes keep.
pub struct KeptWork {
    folder: Arc<SpillFolder>,
    root: PathBuf,
    /// What earlier runs left, by number.
    earlier: HashMap<usize, Place>,
    /// Earlier runs left something for another question.
    other: bool,
    own: Mutex<Own>,
    path: PathBuf,
}

/// The files of this process.
struct Own {
    log: File,
    text: File,
    end: u64,
}

impl KeptWork {
    /// Finds what earlier runs of the same `question` left in the folder `root`, and removes what
    /// others did. What is kept from now on counts against what `folder` may take.
    ///
    /// Collective.
    ///
    /// # Errors
    /// The files cannot be made, or another process failed.
    pub fn open(
        world: &dyn World,
        root: &Path,
        question: &str,
        folder: Arc<SpillFolder>,
    ) -> Result<KeptWork, FabricError> {
        let path = root.join(format!("kept-{}", world.rank()));
        let failed = |source: io::Error| FabricError::Spill {
            path: path.clone(),
            source: source.into(),
        };
        fs::create_dir_all(root).map_err(failed)?;
        let mut others = 0;
        if world.rank() == 0 {
            let of_others = logs(root).filter(|log| read(log, question).is_none());
            of_others.for_each(|log| {
                remove(&log);
                others += 1;
            });
        }
        let other = world.sum(&[others])?[0] > 0;
        let earlier = logs(root)
            .flat_map(|log| found_in(&log, question))
            .collect();
        let own = Own::open(&path, question).map_err(failed)?;
        Ok(KeptWork {
            folder,
            root: root.to_path_buf(),
            earlier,
            other,
            own: Mutex::new(own),
            path,
        })
    }

    /// True where an earlier run left something for another question, which is gone now.
    pub fn had_other(&self) -> bool {
        self.other
    }

    /// What an earlier run finished as this number.
    pub fn get(&self, number: usize) -> Option<Vec<u8>> {
        let place = self.earlier.get(&number)?;
        let mut bytes = vec![0; usize::try_from(place.length).ok()?];
        place.file.read_exact_at(&mut bytes, place.offset).ok()?;
        (crc32fast::hash(&bytes) == place.crc).then_some(bytes)
    }

    /// The numbers of all that earlier runs finished, in no order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.earlier.keys().copied()
    }

    /// Keeps what is finished.
    ///
    /// # Errors
    /// It cannot be written, or is more than the folder may take.
    pub fn put(&self, number: usize, bytes: &[u8]) -> Result<(), FabricError> {
        self.folder.allow(bytes.len() as u64)?;
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.put(number, bytes).map_err(|source| FabricError::Spill {
            path: self.path.clone(),
            source: source.into(),
        })
    }

    /// Removes all that processes kept.
    pub fn remove(&self) {
        clear_kept(&self.root);
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

    fn put(&mut self, number: usize, bytes: &[u8]) -> io::Result<()> {
        self.text.write_all(bytes)?;
        let (offset, length, crc) = (self.end, bytes.len(), crc32fast::hash(bytes));
        self.end += length as u64;
        // In one write, so that a line is whole or torn.
        let line = format!("{number} {offset} {length} {crc}\n");
        self.log.write_all(line.as_bytes())
    }
}

/// Removes all that processes of any run kept in a folder.
pub fn clear_kept(root: &Path) {
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

/// What a log tells of.
fn found_in(log: &Path, question: &str) -> Vec<(usize, Place)> {
    let lines = read(log, question);
    let Some((lines, file)) = lines.zip(File::open(log.with_extension(TEXT)).ok()) else {
        return Vec::new();
    };
    let file = Arc::new(file);
    let place = |line: &str| {
        let numbers = line.split(' ').map(|number| number.parse().ok());
        let &[number, offset, length, crc] = &numbers.collect::<Option<Vec<u64>>>()?[..] else {
            return None;
        };
        let place = Place {
            file: Arc::clone(&file),
            offset,
            length,
            crc: u32::try_from(crc).ok()?,
        };
        Some((usize::try_from(number).ok()?, place))
    };
    lines.lines().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Alone;

    use super::*;

    #[test]
    fn what_is_whole_and_of_the_same_question_comes_back() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("kept");
        let folder = || Arc::new(SpillFolder::new(root.join("rank-0"), None, false));
        let open = |question: &str| KeptWork::open(&Alone, &root, question, folder()).unwrap();
        let kept = open("one question");
        assert_eq!(kept.get(3), None);
        kept.put(3, b"three").unwrap();
        kept.put(1, b"").unwrap();
        kept.put(5, b"five").unwrap();
        drop(kept);
        // The last line is torn, and the text of the first is not what it was.
        let (log, text) = (root.join("kept-0.batches"), root.join("kept-0.text"));
        let lines = fs::read_to_string(&log).unwrap();
        fs::write(&log, &lines[..lines.len() - 3]).unwrap();
        let again = open("one question");
        assert_eq!(again.get(3), Some(b"three".to_vec()));
        assert_eq!(again.get(1), Some(b"".to_vec()));
        assert_eq!(again.get(5), None);
        again.put(5, b"five").unwrap();
        drop(again);
        let damaged = fs::read_to_string(&text).unwrap().replace("three", "throe");
        fs::write(&text, damaged).unwrap();
        let again = open("one question");
        assert_eq!(again.get(3), None);
        assert_eq!(again.get(5), Some(b"five".to_vec()));
        drop(again);
        let other = open("another question");
        assert_eq!((other.get(5), other.had_other()), (None, true));
        other.remove();
        assert!(!root.exists());
    }
}
