//! Spill files: partitions that outgrew memory.
//!
//! A partition's extents are chained on disk, each behind a link to the one before: what a process
//! remembers of its spill files does not grow with them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracing::field::Empty;
use tracing::info_span;

use crate::contract::Each;
use crate::{FabricError, Peer, Place, SLACK};

const MANIFEST: &str = "manifest";

/// Bytes gathered before a spill is written.
const SPILL_WRITE: usize = 4 << 20;

const LEVEL: i32 = 1;
/// Partitions of a write by which compression is judged: it must save a fifth, or it costs more
/// time than the disk.
const SAMPLE: usize = 16;

/// A folder for the spill files of one run, removed on drop unless it is to be kept and can be
/// reopened. By default there is none, and nothing is spilled.
#[derive(Debug, Default)]
pub struct SpillFolder {
    path: PathBuf,
    limit: u64,
    written: AtomicU64,
    keep: bool,
    /// The folder above, which goes with the last folder in it.
    above: Option<PathBuf>,
}

/// Records of one partition that were written together, behind a link to those before.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// Of the link.
    offset: u64,
    /// Bytes of records.
    bytes: u32,
    /// Bytes in the file behind the link: fewer where they are compressed.
    stored: u32,
    /// Of these.
    checksum: u32,
}

/// Bytes of a link: an [`Extent`].
const LINK: usize = 20;

impl Extent {
    fn link(self) -> [u8; LINK] {
        let mut link = [0; LINK];
        link[..8].copy_from_slice(&self.offset.to_le_bytes());
        for (place, number) in
            link[8..]
                .chunks_exact_mut(4)
                .zip([self.bytes, self.stored, self.checksum])
        {
            place.copy_from_slice(&number.to_le_bytes());
        }
        link
    }

    fn of(link: &[u8]) -> Extent {
        let number =
            |at: usize| u32::from_le_bytes(link[at..at + 4].try_into().expect("four bytes"));
        let offset = u64::from(number(4)) << 32 | u64::from(number(0));
        Extent {
            offset,
            bytes: number(8),
            stored: number(12),
            checksum: number(16),
        }
    }
}

/// All records of one partition in one spill file.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    last: Extent,
    /// Bytes of records.
    bytes: u64,
    /// Bytes in the file.
    stored: u64,
}

impl SpillFolder {
    /// Spills will go to the folder `path` (made with the first of them), up to `limit` bytes; what
    /// an earlier run left there is removed first unless `keep` is set, which also leaves the
    /// folder behind when the run fails after all was spilled and noted; what cannot be reopened is
    /// of no use to anybody.
    pub fn new(path: PathBuf, limit: Option<u64>, keep: bool) -> SpillFolder {
        let folder = SpillFolder {
            path,
            limit: limit.unwrap_or(u64::MAX),
            written: AtomicU64::new(0),
            keep,
            above: None,
        };
        if !keep {
            folder.remove();
        }
        folder
    }

    /// The folder of a process in that of its job ([`SpillFolder::path_of`]), which goes with the
    /// last of them; otherwise as [`SpillFolder::new`].
    pub fn of_process(root: &Path, peer: Peer, limit: Option<u64>, keep: bool) -> SpillFolder {
        let folder = SpillFolder::new(SpillFolder::path_of(root, peer), limit, keep);
        match peer.ranks {
            1 => folder,
            _ => folder.within(root),
        }
    }

    /// The folder of a process in that of its job, or the latter where it is alone.
    pub fn path_of(root: &Path, Peer { rank, ranks }: Peer) -> PathBuf {
        match ranks {
            1 => root.to_path_buf(),
            _ => root.join(format!("rank-{rank}")),
        }
    }

    /// The folder `path`, if an earlier process noted there what it spilled for `job`: it stays
    /// until it is removed. More may be spilled there, up to `limit` bytes with what there is.
    pub fn there(path: &Path, limit: Option<u64>, job: &str) -> Option<SpillFolder> {
        let path = path.to_path_buf();
        // Without a note the folder would go with what is dropped here, and it may be somebody
        // else's.
        path.join(MANIFEST).exists().then_some(())?;
        let folder = SpillFolder::new(path, limit, true);
        folder.noted(job).is_some().then_some(folder)
    }

    /// Lets the folder `above`, in which processes of a job have a folder each, go with the last of
    /// them.
    pub fn within(mut self, above: &Path) -> SpillFolder {
        self.above = Some(above.to_path_buf());
        self
    }

    /// Where the files are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes spilled so far, by this process or the one whose files were reopened.
    pub fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    /// Removes the folder and what is in it.
    pub fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.path);
        let _ = self.above.as_ref().map(std::fs::remove_dir);
    }

    /// Wraps an error of the system with the name of the folder.
    pub fn error(&self, source: io::Error) -> FabricError {
        FabricError::Spill {
            path: self.path.clone(),
            source: source.into(),
        }
    }

    /// Makes the folder.
    fn make(&self) -> Result<(), FabricError> {
        if self.path.as_os_str().is_empty() {
            return Err(FabricError::NoSpill);
        }
        std::fs::create_dir_all(&self.path).map_err(|source| self.error(source))
    }

    fn file(&self, number: usize) -> PathBuf {
        self.path.join(format!("spill-{number}"))
    }

    /// A file of that name in the folder, with what an earlier run left in it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(&self, name: &str) -> Result<File, FabricError> {
        let options = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .to_owned();
        let path = self.path.join(name);
        self.make()?;
        let file = options.open(&path);
        file.map_err(|source| FabricError::Spill {
            path,
            source: source.into(),
        })
    }

    /// A file without a name there: it is gone when it is dropped, or with the process.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn nameless(&self) -> Result<File, FabricError> {
        self.make()?;
        tempfile::tempfile_in(&self.path).map_err(|source| self.error(source))
    }

    /// Counts bytes that are about to be written to a file of the folder.
    ///
    /// # Errors
    /// When they are more than allowed.
    pub fn allow(&self, bytes: u64) -> Result<(), FabricError> {
        if self.written.fetch_add(bytes, Relaxed) + bytes > self.limit {
            return Err(FabricError::TooMuchSpill { limit: self.limit });
        }
        Ok(())
    }

    /// Notes where the records are in the spill files and whose they are, so that a later process
    /// can [`SpillFolder::reopen`] them. `job` names the run: what was asked for, of which inputs.
    pub(crate) fn write_manifest(
        &self,
        job: &str,
        place: &Place,
        files: &[SpillFile],
    ) -> Result<(), FabricError> {
        let mut text = format!("{job}\n{} {}\n", place.rank, place.ranks);
        for SpillFile { number, chains, .. } in files {
            for (partition, chain) in chains
                .iter()
                .enumerate()
                .filter(|(_, chain)| chain.bytes > 0)
            {
                let (
                    Extent {
                        offset,
                        bytes,
                        stored,
                        checksum,
                    },
                    all,
                    file,
                ) = (chain.last, chain.bytes, chain.stored);
                text += &format!(
                    "{number} {partition} {offset} {bytes} {stored} {checksum} {all} {file}\n"
                );
            }
        }
        text += &format!("{}\n", crc32fast::hash(text.as_bytes()));
        let partial = self.path.join("manifest.partial");
        let written = File::create(&partial).and_then(|mut file| file.write_all(text.as_bytes()));
        written
            .and_then(|()| std::fs::rename(&partial, self.path.join(MANIFEST)))
            .map_err(|source| self.error(source))
    }

    /// The rank of the process that noted its spill files for `job` here, and how many processes
    /// there were; `None` when none did.
    pub fn noted(&self, job: &str) -> Option<(usize, usize)> {
        Some(self.manifest(job)?.0)
    }

    /// Rank and ranks, and a line for every partition in every file.
    fn manifest(&self, job: &str) -> Option<((usize, usize), String)> {
        let text = std::fs::read_to_string(self.path.join(MANIFEST)).ok()?;
        let (body, checksum) = text.trim_end().rsplit_once('\n')?;
        if checksum.parse() != Ok(crc32fast::hash(format!("{body}\n").as_bytes())) {
            return None;
        }
        let body = body.strip_prefix(job)?.strip_prefix('\n')?;
        let (place, chains) = body.split_once('\n').unwrap_or((body, ""));
        let (rank, ranks) = place.split_once(' ')?;
        Some((
            (rank.parse().ok()?, ranks.parse().ok()?),
            chains.to_string(),
        ))
    }

    /// The spill files that an earlier process noted for the same `job`, if it came that far, with
    /// the records of the partitions of a process.
    pub(crate) fn reopen(&self, job: &str, place: &Place) -> Option<Vec<SpillFile>> {
        let (_, lines) = self.manifest(job)?;
        let (mut files, mut written) = (Vec::<SpillFile>::new(), 0);
        for line in lines.lines() {
            let fields: Vec<u64> = line
                .split(' ')
                .map(str::parse)
                .collect::<Result<_, _>>()
                .ok()?;
            let &[
                number,
                partition,
                offset,
                bytes,
                stored,
                checksum,
                all,
                file,
            ] = &fields[..]
            else {
                return None;
            };
            if partition >= place.partitions as u64 {
                return None;
            }
            if files
                .last()
                .is_none_or(|file| file.number != number as usize)
            {
                files.push(SpillFile::open(
                    self.file(number as usize),
                    number as usize,
                )?);
            }
            if place.owns(partition as usize) {
                let last = Extent {
                    offset,
                    bytes: bytes as u32,
                    stored: stored as u32,
                    checksum: checksum as u32,
                };
                *files.last_mut()?.chain(partition as u32) = Chain {
                    last,
                    bytes: all,
                    stored: file,
                };
                written += file;
            }
        }
        self.written.store(written, Relaxed);
        Some(files)
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        let there = !self.path.as_os_str().is_empty();
        if there && (!self.keep || !self.path.join(MANIFEST).exists()) {
            self.remove();
        }
    }
}

/// Records on their way to a spill file, partition after partition, in large writes.
pub(crate) struct Gathered<'a> {
    folder: &'a SpillFolder,
    file: &'a mut SpillFile,
    buffer: Vec<u8>,
    /// Partitions, and bytes of each in the buffer.
    partitions: Vec<(u32, usize)>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(folder: &'a SpillFolder, file: &'a mut SpillFile) -> Gathered<'a> {
        Gathered {
            folder,
            file,
            buffer: Vec::with_capacity(SPILL_WRITE),
            partitions: Vec::new(),
        }
    }

    /// Adds whole records, at most as many as a write takes, or one that is longer. What is
    /// gathered is written first where they do not fit, however large the partition: so what a
    /// spill takes besides the records stays bounded.
    pub(crate) fn add(&mut self, partition: usize, records: &[u8]) -> Result<(), FabricError> {
        if self.is_full(records.len()) {
            self.write()?;
        }
        if records.is_empty() {
            return Ok(());
        }
        match self.partitions.last_mut() {
            Some((last, bytes)) if *last == partition as u32 => *bytes += records.len(),
            _ => self.partitions.push((partition as u32, records.len())),
        }
        self.buffer.extend_from_slice(records);
        Ok(())
    }

    /// True when more records of `bytes` bytes are to wait for the next write.
    pub(crate) fn is_full(&self, bytes: usize) -> bool {
        !self.buffer.is_empty() && self.buffer.len() + bytes > SPILL_WRITE
    }

    /// Writes what is gathered.
    pub(crate) fn write(&mut self) -> Result<(), FabricError> {
        self.file
            .append(self.folder, &self.buffer, &self.partitions)?;
        self.buffer.clear();
        // A long record made it grow.
        self.buffer.shrink_to(SPILL_WRITE);
        self.partitions.clear();
        Ok(())
    }
}

/// The spill file of one sender, or of what came from other processes.
#[derive(Debug)]
pub(crate) struct SpillFile {
    path: PathBuf,
    pub number: usize,
    file: File,
    end: u64,
    /// By partition.
    chains: Vec<Chain>,
}

impl SpillFile {
    pub(crate) fn create(folder: &SpillFolder, number: usize) -> Result<SpillFile, FabricError> {
        let path = folder.file(number);
        let options = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .to_owned();
        folder.make()?;
        let file = options.open(&path).map_err(|source| folder.error(source))?;
        Ok(SpillFile {
            path,
            number,
            file,
            end: 0,
            chains: Vec::new(),
        })
    }

    fn open(path: PathBuf, number: usize) -> Option<SpillFile> {
        let file = File::open(&path).ok()?;
        let end = file.metadata().ok()?.len();
        Some(SpillFile {
            path,
            number,
            file,
            end,
            chains: Vec::new(),
        })
    }

    fn chain(&mut self, partition: u32) -> &mut Chain {
        let partition = partition as usize;
        if self.chains.len() <= partition {
            self.chains.resize(partition + 1, Chain::default());
        }
        &mut self.chains[partition]
    }

    /// Bytes in the file.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of records of a partition.
    pub(crate) fn bytes(&self, partition: usize) -> u64 {
        self.chains.get(partition).map_or(0, |chain| chain.bytes)
    }

    /// Appends the gathered records of many partitions; `gathered` pairs each with its bytes in
    /// `buffer`, in order.
    fn append(
        &mut self,
        folder: &SpillFolder,
        buffer: &[u8],
        gathered: &[(u32, usize)],
    ) -> Result<(), FabricError> {
        let spill = info_span!(target: "gyrase::trace", "spill", bytes = Empty).entered();
        let fail = |source| folder.error(source);
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(fail)?;
        let (mut stored, mut rest, mut pays) = (Vec::with_capacity(buffer.len()), buffer, true);
        for (number, &(partition, bytes)) in gathered.iter().enumerate() {
            let (records, after) = rest.split_at(bytes);
            if number == SAMPLE {
                pays = stored.len() * 5 < (buffer.len() - rest.len()) * 4;
            }
            let compressed = if pays {
                compressor.compress(records).map_err(fail)?
            } else {
                Vec::new()
            };
            let these = if pays && compressed.len() < bytes {
                &compressed
            } else {
                records
            };
            let (from, offset) = (stored.len(), self.end + stored.len() as u64);
            let chain = self.chain(partition);
            stored.extend_from_slice(&chain.last.link());
            stored.extend_from_slice(these);
            let checksum = crc32fast::hash(these);
            chain.last = Extent {
                offset,
                bytes: bytes as u32,
                stored: these.len() as u32,
                checksum,
            };
            chain.bytes += bytes as u64;
            chain.stored += (stored.len() - from) as u64;
            rest = after;
        }
        folder.allow(stored.len() as u64)?;
        spill.record("bytes", stored.len());
        self.file.write_all_at(&stored, self.end).map_err(fail)?;
        self.end += stored.len() as u64;
        Ok(())
    }

    /// Hands out the records of a partition, an extent at a time in the order of their writing,
    /// each with [`SLACK`] bytes behind it.
    pub(crate) fn drain<E: From<FabricError>>(
        &self,
        partition: usize,
        each: &mut Each<E>,
    ) -> Result<(), E> {
        for extent in self.extents(partition)?.into_iter().rev() {
            each(&self.read(extent)?, extent.bytes as usize)?;
        }
        Ok(())
    }

    /// Where the records of a partition are, the last first.
    fn extents(&self, partition: usize) -> Result<Vec<Extent>, FabricError> {
        let Chain {
            last: mut extent,
            bytes: mut rest,
            ..
        } = self.chains.get(partition).copied().unwrap_or_default();
        let (mut extents, mut end) = (Vec::new(), self.end);
        while rest > 0 {
            let behind = extent
                .offset
                .checked_add(LINK as u64 + u64::from(extent.stored));
            if behind.is_none_or(|behind| behind > end) {
                return Err(self.damaged());
            }
            rest = rest
                .checked_sub(u64::from(extent.bytes))
                .ok_or_else(|| self.damaged())?;
            end = extent.offset;
            extents.push(extent);
            let mut link = [0; LINK];
            self.read_at(&mut link, extent.offset)?;
            extent = Extent::of(&link);
        }
        Ok(extents)
    }

    /// The records of an extent, with [`SLACK`] bytes behind them.
    fn read(&self, extent: Extent) -> Result<Vec<u8>, FabricError> {
        let _read = info_span!(target: "gyrase::trace", "spill", bytes = extent.stored).entered();
        let mut records = vec![0; extent.stored as usize];
        self.read_at(&mut records, extent.offset + LINK as u64)?;
        if crc32fast::hash(&records) != extent.checksum {
            return Err(self.damaged());
        }
        let bytes = extent.bytes as usize;
        if records.len() < bytes {
            records = zstd::bulk::decompress(&records, bytes).map_err(|_| self.damaged())?;
        }
        if records.len() != bytes {
            return Err(self.damaged());
        }
        records.resize(bytes + SLACK, 0);
        Ok(records)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), FabricError> {
        self.file
            .read_exact_at(bytes, offset)
            .map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => self.damaged(),
                _ => FabricError::Spill {
                    path: self.path.clone(),
                    source: source.into(),
                },
            })
    }

    fn damaged(&self) -> FabricError {
        FabricError::Damaged {
            path: self.path.clone(),
        }
    }
}
