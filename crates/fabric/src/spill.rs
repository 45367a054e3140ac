//! Spill files: partitions that outgrew memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tracing::field::Empty;
use tracing::info_span;

use crate::{FabricError, Place, SLACK};

const MANIFEST: &str = "manifest";

/// Bytes gathered before a spill is written.
const SPILL_WRITE: usize = 8 << 20;

const LEVEL: i32 = 1;
/// Partitions of a write by which compression is judged: it must save a fifth, or it costs more time than the disk.
const SAMPLE: usize = 16;

/// A folder for the spill files of one run, removed on drop unless it is to be kept and can be reopened.
#[derive(Debug)]
pub struct SpillFolder {
    path: PathBuf,
    limit: u64,
    written: AtomicU64,
    keep: bool,
    /// The folder above, which goes with the last folder in it.
    above: Option<PathBuf>,
}

/// Records of one partition in one spill file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub partition: u32,
    pub offset: u64,
    /// Bytes of records.
    pub bytes: u64,
    /// Bytes in the file: fewer where they are compressed.
    pub stored: u64,
    /// Of the bytes in the file.
    pub checksum: u32,
}

impl SpillFolder {
    /// Spills will go to the folder `path` (made with the first of them), up to `limit` bytes; what an earlier run left
    /// there is removed first unless `keep` is set, which also leaves the folder behind when the run fails after all
    /// was spilled and noted; what cannot be reopened is of no use to anybody.
    pub fn new(path: PathBuf, limit: Option<u64>, keep: bool) -> SpillFolder {
        let folder =
            SpillFolder { path, limit: limit.unwrap_or(u64::MAX), written: AtomicU64::new(0), keep, above: None };
        if !keep {
            folder.remove();
        }
        folder
    }

    /// The folder `path`, if an earlier process noted there what it spilled for `job`: it stays until it is removed. More may be spilled
    /// there, up to `limit` bytes with what there is.
    pub fn there(path: &Path, limit: Option<u64>, job: &str) -> Option<SpillFolder> {
        let path = path.to_path_buf();
        // Without a note the folder would go with what is dropped here, and it may be somebody else's.
        path.join(MANIFEST).exists().then_some(())?;
        let folder = SpillFolder::new(path, limit, true);
        folder.noted(job).is_some().then_some(folder)
    }

    /// Lets the folder `above`, in which processes of a job have a folder each, go with the last of them.
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
        FabricError::Spill { path: self.path.clone(), source }
    }

    fn file(&self, number: usize) -> PathBuf {
        self.path.join(format!("spill-{number}"))
    }

    /// A file of that name in the folder, with what an earlier run left in it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(&self, name: &str) -> Result<File, FabricError> {
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).to_owned();
        let path = self.path.join(name);
        let file = std::fs::create_dir_all(&self.path).and_then(|()| options.open(&path));
        file.map_err(|source| FabricError::Spill { path, source })
    }

    /// A file without a name there: it is gone when it is dropped, or with the process.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn nameless(&self) -> Result<File, FabricError> {
        let made = std::fs::create_dir_all(&self.path).and_then(|()| tempfile::tempfile_in(&self.path));
        made.map_err(|source| self.error(source))
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

    /// Notes which extents the spill files hold and whose they are, so that a later process can [`SpillFolder::reopen`] them. `job`
    /// names the run: what was asked for, of which inputs.
    pub(crate) fn write_manifest(&self, job: &str, place: Place, files: &[SpillFile]) -> Result<(), FabricError> {
        let mut text = format!("{job}\n{} {}\n", place.rank, place.ranks);
        for SpillFile { number, extents, .. } in files {
            for Extent { partition, offset, bytes, stored, checksum } in extents {
                text += &format!("{number} {partition} {offset} {bytes} {stored} {checksum}\n");
            }
        }
        text += &format!("{}\n", crc32fast::hash(text.as_bytes()));
        let partial = self.path.join("manifest.partial");
        let written = File::create(&partial).and_then(|mut file| file.write_all(text.as_bytes()));
        written.and_then(|()| std::fs::rename(&partial, self.path.join(MANIFEST))).map_err(|source| self.error(source))
    }

    /// The rank of the process that noted its spill files for `job` here, and how many processes there were; `None` when none
    /// did.
    pub fn noted(&self, job: &str) -> Option<(usize, usize)> {
        Some(self.manifest(job)?.0)
    }

    /// Rank and ranks, and a line for every extent.
    fn manifest(&self, job: &str) -> Option<((usize, usize), String)> {
        let text = std::fs::read_to_string(self.path.join(MANIFEST)).ok()?;
        let (body, checksum) = text.trim_end().rsplit_once('\n')?;
        if checksum.parse() != Ok(crc32fast::hash(format!("{body}\n").as_bytes())) {
            return None;
        }
        let body = body.strip_prefix(job)?.strip_prefix('\n')?;
        let (place, extents) = body.split_once('\n').unwrap_or((body, ""));
        let (rank, ranks) = place.split_once(' ')?;
        Some(((rank.parse().ok()?, ranks.parse().ok()?), extents.to_string()))
    }

    /// The spill files that an earlier process noted for the same `job`, if it came that far, with the extents of the partitions
    /// of a process.
    pub(crate) fn reopen(&self, job: &str, place: Place) -> Option<Vec<SpillFile>> {
        let (_, lines) = self.manifest(job)?;
        let mut files: Vec<SpillFile> = Vec::new();
        for line in lines.lines() {
            let fields: Vec<u64> = line.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            let &[number, partition, offset, bytes, stored, checksum] = &fields[..] else { return None };
            if partition >= place.partitions as u64 {
                return None;
            }
            if files.last().is_none_or(|file| file.number != number as usize) {
                files.push(SpillFile::open(self.file(number as usize), number as usize)?);
            }
            let extent = Extent { partition: partition as u32, offset, bytes, stored, checksum: checksum as u32 };
            files.last_mut()?.extents.push(extent);
        }
        for file in &mut files {
            file.extents.retain(|extent| place.owns(extent.partition as usize));
        }
        let extents = files.iter().flat_map(|file| &file.extents);
        self.written.store(extents.map(|extent| extent.stored).sum(), Relaxed);
        Some(files)
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        if !self.keep || !self.path.join(MANIFEST).exists() {
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
        Gathered { folder, file, buffer: Vec::with_capacity(SPILL_WRITE), partitions: Vec::new() }
    }

    /// Adds whole records, at most as many as a write takes. What is gathered is written first where they do not fit, however large
    /// the partition: so what a spill takes besides the records stays bounded.
    pub(crate) fn add(&mut self, partition: usize, records: &[u8]) -> Result<(), FabricError> {
        if self.buffer.len() + records.len() > SPILL_WRITE {
            self.write()?;
        }
        match self.partitions.last_mut() {
            Some((last, bytes)) if *last == partition as u32 => *bytes += records.len(),
            _ => self.partitions.push((partition as u32, records.len())),
        }
        self.buffer.extend_from_slice(records);
        Ok(())
    }

    /// True when more records of `bytes` bytes do not fit.
    pub(crate) fn is_full(&self, bytes: usize) -> bool {
        self.buffer.len() + bytes > SPILL_WRITE
    }

    /// Writes what is gathered.
    pub(crate) fn write(&mut self) -> Result<(), FabricError> {
        self.file.append(self.folder, &self.buffer, &self.partitions)?;
        self.buffer.clear();
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
    pub extents: Vec<Extent>,
}

impl SpillFile {
    pub(crate) fn create(folder: &SpillFolder, number: usize) -> Result<SpillFile, FabricError> {
        let path = folder.file(number);
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(true).to_owned();
        let file = std::fs::create_dir_all(&folder.path).and_then(|()| options.open(&path));
        let file = file.map_err(|source| folder.error(source))?;
        Ok(SpillFile { path, number, file, end: 0, extents: Vec::new() })
    }

    fn open(path: PathBuf, number: usize) -> Option<SpillFile> {
        let file = File::open(&path).ok()?;
        let end = file.metadata().ok()?.len();
        Some(SpillFile { path, number, file, end, extents: Vec::new() })
    }

    /// Appends the gathered records of many partitions; `gathered` pairs each with its bytes in `buffer`, in order.
    fn append(&mut self, folder: &SpillFolder, buffer: &[u8], gathered: &[(u32, usize)]) -> Result<(), FabricError> {
        let spill = info_span!(target: "gyrase::trace", "spill", bytes = Empty).entered();
        let fail = |source| folder.error(source);
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(fail)?;
        let (mut stored, mut rest, mut pays) = (Vec::with_capacity(buffer.len()), buffer, true);
        for (number, &(partition, bytes)) in gathered.iter().enumerate() {
            let (records, after) = rest.split_at(bytes);
            if number == SAMPLE {
                pays = stored.len() * 5 < (buffer.len() - rest.len()) * 4;
            }
            let compressed = if pays { compressor.compress(records).map_err(fail)? } else { Vec::new() };
            let these = if pays && compressed.len() < bytes { &compressed } else { records };
            let (offset, checksum) = (self.end + stored.len() as u64, crc32fast::hash(these));
            let extent = Extent { partition, offset, bytes: bytes as u64, stored: these.len() as u64, checksum };
            self.extents.push(extent);
            stored.extend_from_slice(these);
            rest = after;
        }
        folder.allow(stored.len() as u64)?;
        spill.record("bytes", stored.len());
        self.file.write_all_at(&stored, self.end).map_err(fail)?;
        self.end += stored.len() as u64;
        Ok(())
    }

    /// The records of an extent, with [`SLACK`] bytes behind it.
    pub(crate) fn read(&self, extent: &Extent) -> Result<Vec<u8>, FabricError> {
        let _read = info_span!(target: "gyrase::trace", "spill", bytes = extent.stored).entered();
        let (bytes, mut stored) = (extent.bytes as usize, vec![0; extent.stored as usize]);
        let read = self.file.read_exact_at(&mut stored, extent.offset);
        let damaged = || FabricError::Damaged { path: self.path.clone() };
        read.map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => damaged(),
            _ => FabricError::Spill { path: self.path.clone(), source },
        })?;
        if crc32fast::hash(&stored) != extent.checksum {
            return Err(damaged());
        }
        if extent.stored < extent.bytes {
            stored = zstd::bulk::decompress(&stored, bytes).map_err(|_| damaged())?;
        }
        if stored.len() != bytes {
            return Err(damaged());
        }
        stored.resize(bytes + SLACK, 0);
        Ok(stored)
    }
}
