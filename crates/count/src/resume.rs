//! What a run that is cut short leaves, and what a later one makes of it.

use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gyrase_fabric::{FabricError, LocalPartitions, Partitioning, Peer, SpillFolder, World};
use gyrase_kmer::BINS;
use gyrase_table::gyk::{BinEntry, Writer};

use crate::{Error, Scattered};

/// A text file in the spill folder: the job, what was read and by which run, how bins were cut
/// into partitions, then a line per finished bin.
pub(crate) struct Log {
    folder: PathBuf,
    open: Mutex<Option<(File, usize)>>,
}

/// What an earlier run left, as its log tells.
struct Logged {
    /// Of the run, the same in all its processes and no other: where each machine has a disk of its
    /// own, they may have kept different runs of one job.
    token: u64,
    read: Scattered,
    partitioning: Partitioning,
    bins: Vec<BinEntry>,
}

/// What an earlier run of the same job left of the partitions of this process.
pub(crate) struct Earlier {
    /// Of the run that left it.
    token: u64,
    pub(crate) partitioning: Partitioning,
    pub(crate) partitions: LocalPartitions,
    /// What it read; where several processes read, some of them may know it all and the others
    /// nothing.
    pub(crate) read: Scattered,
    /// The bins that it finished.
    pub(crate) bins: Vec<BinEntry>,
    /// Where the partitions are.
    pub(crate) folders: Vec<Arc<SpillFolder>>,
    /// There were as many processes, so that a run which is cut short again leaves them as they are
    /// and has only bins to add.
    pub(crate) same: bool,
}

impl Earlier {
    /// What processes left in the folder `root` of the run, if it is whole. All processes find
    /// something, or none does. Spill files may take up to `limit` bytes.
    pub(crate) fn find(
        world: &dyn World,
        root: &Path,
        limit: Option<u64>,
        job: &str,
    ) -> Result<Option<Earlier>, FabricError> {
        if let Some(same) = agreed(world, Earlier::of_as_many(world, root, limit, job))? {
            return Ok(Some(same));
        }
        agreed(world, Earlier::of_others(world, root, job))
    }

    fn of_as_many(
        world: &dyn World,
        root: &Path,
        limit: Option<u64>,
        job: &str,
    ) -> Option<Earlier> {
        let (rank, ranks) = (world.rank(), world.ranks());
        let folder = noted(
            root,
            &SpillFolder::path_of(root, Peer { rank, ranks }),
            limit,
            job,
        )?;
        if folder.noted(job)? != (rank, ranks) {
            return None;
        }
        let Logged {
            token,
            read,
            partitioning,
            bins,
        } = Log::new(folder.path().to_path_buf()).read(job)?;
        let place = partitioning.place(world.peer());
        let partitions = LocalPartitions::reopen_own(place, Arc::clone(&folder), job)?;
        Some(Earlier {
            token,
            partitioning,
            partitions,
            read,
            bins,
            folders: vec![folder],
            same: true,
        })
    }

    /// What another number of processes left, where all of it can be seen from here.
    fn of_others(world: &dyn World, root: &Path, job: &str) -> Option<Earlier> {
        let within = std::fs::read_dir(root)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()));
        let folders = within
            .chain([root.to_path_buf()])
            .filter_map(|path| noted(root, &path, None, job));
        let (_, ranks) = folders.last()?.noted(job)?;
        let folders: Vec<_> = (0..ranks)
            .map(|rank| {
                noted(
                    root,
                    &SpillFolder::path_of(root, Peer { rank, ranks }),
                    None,
                    job,
                )
            })
            .collect::<Option<_>>()?;
        let logs: Vec<Logged> = folders
            .iter()
            .map(|folder| Log::new(folder.path().to_path_buf()).read(job))
            .collect::<Option<_>>()?;
        let token = logs.first()?.token;
        logs.iter().all(|log| log.token == token).then_some(())?;
        let mut read = Scattered::default();
        if world.rank() == 0 {
            logs.iter().for_each(|log| read.add(log.read));
        }
        let partitioning = logs.into_iter().next()?.partitioning.owned_by_others();
        let place = partitioning.place(world.peer());
        let partitions = LocalPartitions::reopen_job(place, &folders, job)?;
        Some(Earlier {
            token,
            partitioning,
            partitions,
            read,
            bins: Vec::new(),
            folders,
            same: false,
        })
    }
}

/// What this process found, if all found something of one run.
fn agreed(world: &dyn World, found: Option<Earlier>) -> Result<Option<Earlier>, FabricError> {
    // No run has the token 0.
    let token = found.as_ref().map_or(0, |earlier| earlier.token);
    let same = match world.max(&[token, !token])?[..] {
        [most, least] => most == !least,
        _ => false,
    };
    Ok(found.filter(|_| same))
}

/// A token for a run, the same in all processes.
fn token(world: &dyn World) -> Result<u64, FabricError> {
    let own = match world.rank() {
        0 => RandomState::new().build_hasher().finish() | 1,
        _ => 0,
    };
    Ok(world.max(&[own])?[0])
}

/// The folder `path`, if a process noted there what it spilled for `job`.
fn noted(root: &Path, path: &Path, limit: Option<u64>, job: &str) -> Option<Arc<SpillFolder>> {
    let folder = SpillFolder::there(path, limit, job)?;
    Some(Arc::new(if path == root {
        folder
    } else {
        folder.within(root)
    }))
}

impl Log {
    pub(crate) fn new(folder: PathBuf) -> Log {
        Log {
            folder,
            open: Mutex::new(None),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("bins")
    }

    fn error(&self, source: io::Error) -> Error {
        FabricError::Spill {
            path: self.path(),
            source: source.into(),
        }
        .into()
    }

    /// Collective. Begins a log after all was read, with the bins that are in the file already; it
    /// goes before the manifest of the spill files, which makes it count.
    pub(crate) fn start(
        &self,
        world: &dyn World,
        job: &str,
        read: Scattered,
        partitioning: &Partitioning,
        writer: &Writer,
    ) -> Result<(), Error> {
        let token = token(world)?;
        let Scattered {
            reads,
            bases,
            kmers,
            super_kmers,
            bytes,
        } = read;
        let cuts: Vec<String> = partitioning
            .numbers(world.ranks())
            .iter()
            .map(u64::to_string)
            .collect();
        let cuts = cuts.join(" ");
        let head =
            format!("{job}\n{token} {reads} {bases} {kmers} {super_kmers} {bytes}\n{cuts}\n");
        let begun = File::create(self.path())
            .and_then(|mut file| file.write_all(head.as_bytes()).map(|()| file));
        let file = begun.map_err(|source| self.error(source))?;
        *self
            .open
            .lock()
            .expect("no thread panics while it holds the log") = Some((file, 0));
        self.append(writer)
    }

    /// Logs the bins that are in the file since the last call.
    pub(crate) fn append(&self, writer: &Writer) -> Result<(), Error> {
        let mut open = self
            .open
            .lock()
            .expect("no thread panics while it holds the log");
        let (file, logged) = open
            .as_mut()
            .expect("a log is started before bins are counted");
        let bins = writer.finished(*logged);
        let lines: String = bins
            .iter()
            .map(
                |BinEntry {
                     offset,
                     kmers,
                     overflows,
                     crc,
                 }| format!("{offset} {kmers} {overflows} {crc}\n"),
            )
            .collect();
        *logged += bins.len();
        file.write_all(lines.as_bytes())
            .map_err(|source| self.error(source))
    }

    /// The log of the same job; a last line that was cut short is left out.
    fn read(&self, job: &str) -> Option<Logged> {
        let text = std::fs::read_to_string(self.path()).ok()?;
        let whole = &text[..text.rfind('\n')? + 1];
        let mut lines = whole.strip_prefix(job)?.strip_prefix('\n')?.lines();
        let &[token, reads, bases, kmers, super_kmers, bytes] = &numbers(lines.next()?)?[..] else {
            return None;
        };
        let cuts = numbers(lines.next()?)?;
        let partitioning = Partitioning::of_numbers(BINS, &cuts)?;
        let bins = lines.map_while(|line| {
            let &[offset, kmers, overflows, crc] = &numbers(line)?[..] else {
                return None;
            };
            Some(BinEntry {
                offset,
                kmers,
                overflows,
                crc: crc as u32,
            })
        });
        Some(Logged {
            token,
            read: Scattered {
                reads,
                bases,
                kmers,
                super_kmers,
                bytes,
            },
            partitioning,
            bins: bins.collect(),
        })
    }
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    line.split_terminator(' ')
        .map(|field| field.parse().ok())
        .collect()
}
