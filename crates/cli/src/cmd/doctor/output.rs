//! The file system of an output, and whether all processes of a job can write one file there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use gyrase_fabric::World;
use gyrase_fabric_mpi::Job;
use gyrase_picture::words::bytes;

use super::disks::{Kind, kind, space};
use super::finding::Finding;
use crate::failure::Code;

const TOPIC: &str = "output";
/// What a process writes: a whole number of the pages and blocks of any file system.
const BLOCK: usize = 64 << 10;

/// What a file system means for the output of a job.
fn holds(name: &str, kind: Kind) -> &'static str {
    match (name, kind) {
        ("NFS", _) => {
            "machines keep pages of their own: the file must lie on one server, and all machines must see what others wrote"
        }
        ("Lustre", _) => "stripe large outputs over several targets: `lfs setstripe -c 8 FOLDER`",
        ("overlay", _) => {
            "it is a container's own: it goes with the container, and no other machine sees it"
        }
        (_, Kind::Memory) => "it is memory of this machine: no other machine sees it",
        (_, Kind::Local) => "it is a disk of this machine: no other machine sees it",
        (_, Kind::Network) => "machines share it",
    }
}

/// What the output lies on, and what that means.
pub fn file_system(output: &Path) -> Finding {
    let folder = folder(output);
    let free = bytes(space(folder).map_or(0, |space| space.1));
    let have = |on: &str| format!("{free} free in {} on {on}", folder.display());
    match kind(folder) {
        Some((name, kind)) => {
            Finding::fine(TOPIC, format!("{}; {}", have(name), holds(name, kind)))
        }
        None => Finding::fine(TOPIC, have("a file system that Gyrase does not know")),
    }
}

fn folder(output: &Path) -> &Path {
    let above = output
        .parent()
        .filter(|above| !above.as_os_str().is_empty());
    above.unwrap_or(Path::new("."))
}

/// Collective. Writes a file beside the output, each process a part, and reads what others wrote.
pub fn tried(job: Option<&Job>, output: &Path) -> Finding {
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".doctor");
    let path = folder(output).join(name);
    let trial = Trial { job, path: &path };
    let done = trial.run();
    if job.is_none_or(|job| job.rank() == 0) {
        // What was never made cannot be removed.
        let _ = std::fs::remove_file(&path);
    }
    match done {
        Ok(()) => Finding::fine(
            TOPIC,
            "every process wrote its part of a file there, and read another's",
        ),
        Err(what) => Finding::broken(TOPIC, Code::Output, what),
    }
}

/// A file that all processes write.
struct Trial<'a> {
    job: Option<&'a Job>,
    path: &'a PathBuf,
}

impl Trial<'_> {
    fn run(&self) -> Result<(), String> {
        let (rank, ranks) = self.job.map_or((0, 1), |job| (job.rank(), job.ranks()));
        let other = (rank + 1) % ranks;
        let made = if rank == 0 { self.make() } else { Ok(()) };
        self.all(made, "cannot make")?;
        self.all(self.write(rank), "cannot write")?;
        self.all(
            self.read(other),
            "cannot read back what another process wrote to",
        )
    }

    /// Goes on only if all processes can.
    fn all(&self, done: io::Result<()>, what: &str) -> Result<(), String> {
        let failed = u64::from(done.is_err());
        let failures = self.job.map_or(Ok(vec![failed]), |job| job.sum(&[failed]));
        let path = self.path.display();
        match (done, failures) {
            (Err(error), _) => Err(format!("{what} {path}: {error}")),
            (Ok(()), Ok(failures)) if failures[0] == 0 => Ok(()),
            (Ok(()), Ok(failures)) => Err(format!("{} processes {what} {path}", failures[0])),
            (Ok(()), Err(error)) => Err(error.to_string()),
        }
    }

    fn make(&self) -> io::Result<()> {
        File::create(self.path)?.sync_all()
    }

    fn write(&self, rank: usize) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(self.path)?;
        file.write_all_at(&block(rank), (rank * BLOCK) as u64)?;
        file.sync_all()
    }

    fn read(&self, rank: usize) -> io::Result<()> {
        let mut came = vec![0; BLOCK];
        File::open(self.path)?.read_exact_at(&mut came, (rank * BLOCK) as u64)?;
        let wrong = || io::Error::other(format!("the bytes of rank {rank} are not what it wrote"));
        if came == block(rank) {
            Ok(())
        } else {
            Err(wrong())
        }
    }
}

/// What a process writes.
fn block(rank: usize) -> Vec<u8> {
    let number = (rank as u64 + 1).to_le_bytes();
    number.into_iter().cycle().take(BLOCK).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn one_process_writes_and_reads_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("o.gyk");
        assert_eq!(tried(None, &output).state, State::Fine);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let broken = tried(None, &folder.path().join("nowhere/o.gyk"));
        assert_eq!(broken.state, State::Broken(Code::Output));
        assert!(broken.sentence.starts_with("cannot make "), "{broken:?}");
    }

    #[test]
    fn file_systems_say_what_holds() {
        assert!(holds("NFS", Kind::Network).contains("pages of their own"));
        assert!(holds("Lustre", Kind::Network).contains("setstripe"));
        assert!(holds("ext4", Kind::Local).contains("no other machine"));
        assert!(holds("GPFS", Kind::Network).contains("share it"));
        assert_eq!(file_system(Path::new("o.gyk")).state, State::Fine);
    }
}
