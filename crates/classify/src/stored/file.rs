//! Files of rows: a scratch file for a run's own use, or a file for later with what the database
//! says of its references.
//!
//! The layout is in `docs/formats.md`.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use gyrase_files::container::{Container, Unfit, u32_at, u64_at};
use gyrase_files::{OutputError, OutputFile};
use gyrase_table::gydb::Location;

use super::blocks::Block;
use super::row::{Kind, Row, read_hits, read_read};

const FORMAT: Container = Container {
    magic: *b"GYRASEC\n",
    version: VERSION,
    header_bytes: HEADER,
    ending: ".gyc",
    verb: "classify",
    makers: "`gyrase classify --candidates` writes them",
};
const END: [u8; 8] = *b"GYRASEc\n";
const VERSION: u32 = 1;
const HEADER: usize = 32;
const TRAILER: usize = 32;
const PLACE: usize = 24;

/// What is wrong with a file of stored candidates.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// It cannot be opened or read.
    #[error("cannot read the candidates {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no such file.
    #[error("{} is no file of candidates: it {found}; {}", path.display(), FORMAT.makers)]
    NotCandidates {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as its first bytes tell: "looks like a FASTA file".
        found: String,
    },
    /// It is of another version of the format.
    #[error(
        "{} is a file of candidates of version {found}, this program reads version {VERSION}; \
         classify again or use the program that made it",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A checksum or a value contradicts the rest.
    #[error(
        "the candidates {} are damaged: {what}; copy the file or classify again",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
    },
    /// Files of other reads.
    #[error(
        "{} and {} are not of the same reads: {what}; merge what was made of the same files in the \
         same order",
        first.display(),
        second.display()
    )]
    OtherReads {
        /// A file.
        first: PathBuf,
        /// One that has other reads.
        second: PathBuf,
        /// The difference.
        what: String,
    },
    /// The reads are not those that they were when their hits were stored.
    #[error(
        "the reads changed while they were read several times: read {read} was not there each \
         time; classify again"
    )]
    Changed {
        /// The first read that was not always there.
        read: u64,
    },
    /// A scratch file cannot be made or written.
    #[error("cannot write temporary files in {}: {source}", folder.display())]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// The scratch files are larger than they may be.
    #[error(
        "the candidates take more than the {limit} bytes that are left to them in {}",
        folder.display()
    )]
    Full {
        /// Bytes that were left for the file.
        limit: u64,
        /// The folder.
        folder: PathBuf,
    },
}

/// Where a block is.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    packed: u32,
    bytes: u32,
    rows: u32,
    crc: u32,
}

/// A file of rows that grows.
pub(crate) struct Store {
    target: Target,
    kind: Kind,
    places: Vec<Place>,
    end: u64,
}

/// What the rows are written to.
enum Target {
    /// Nobody else sees it.
    Scratch {
        file: File,
        folder: PathBuf,
        limit: Option<u64>,
    },
    /// It appears when it is whole.
    Named(OutputFile),
}

impl Store {
    /// A file of hits without a name in `folder`, of up to `limit` bytes.
    pub(crate) fn scratch(folder: &Path, limit: Option<u64>) -> Result<Store, StoredError> {
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|source| StoredError::Scratch {
            folder: folder.to_path_buf(),
            source,
        })?;
        let target = Target::Scratch {
            file,
            folder: folder.to_path_buf(),
            limit,
        };
        Ok(Store {
            target,
            kind: Kind::Hits,
            places: Vec::new(),
            end: 0,
        })
    }

    /// The file `path`, of reads and hits, with the catalogue of the database.
    pub(crate) fn create(path: &Path, catalogue: &[u8]) -> Result<Store, StoredError> {
        let target = Target::Named(OutputFile::create(path)?);
        let mut header = FORMAT.begin();
        header.extend(crc32fast::hash(catalogue).to_le_bytes());
        header.extend((catalogue.len() as u64).to_le_bytes());
        let header = FORMAT.seal(header);
        let mut store = Store {
            target,
            kind: Kind::Reads,
            places: Vec::new(),
            end: 0,
        };
        store.write(&header)?;
        store.write(catalogue)?;
        Ok(store)
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.end
    }

    /// Appends a block.
    pub(crate) fn append(&mut self, block: &Block) -> Result<(), StoredError> {
        let packed =
            u32::try_from(block.packed.len()).expect("packing does not blow blocks up to 4 GiB");
        let crc = crc32fast::hash(&block.packed);
        self.places.push(Place {
            offset: self.end,
            packed,
            bytes: block.bytes,
            rows: block.rows,
            crc,
        });
        self.write(&block.packed)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoredError> {
        self.end += bytes.len() as u64;
        match &mut self.target {
            Target::Scratch {
                folder,
                limit: Some(limit),
                ..
            } if self.end > *limit => Err(StoredError::Full {
                limit: *limit,
                folder: folder.clone(),
            }),
            Target::Scratch { file, folder, .. } => {
                file.write_all(bytes)
                    .map_err(|source| StoredError::Scratch {
                        folder: folder.clone(),
                        source,
                    })
            }
            Target::Named(output) => output
                .file()
                .write_all(bytes)
                .map_err(|source| output.error(source).into()),
        }
    }

    /// Ends a scratch file: from now on it can be read.
    ///
    /// # Panics
    /// When the file is to have a name.
    pub(crate) fn into_stored(self) -> Stored {
        let Target::Scratch { file, folder, .. } = self.target else {
            panic!("files with names are committed")
        };
        Stored::new(file, folder, self.kind, self.places)
    }

    /// Ends a file with a name, which it gets now.
    ///
    /// # Panics
    /// When it is a scratch file.
    pub(crate) fn commit(mut self) -> Result<(), StoredError> {
        let mut table = Vec::with_capacity(self.places.len() * PLACE + TRAILER);
        for place in &self.places {
            table.extend(place.offset.to_le_bytes());
            [place.packed, place.bytes, place.rows, place.crc]
                .iter()
                .for_each(|word| table.extend(word.to_le_bytes()));
        }
        let crc = crc32fast::hash(&table);
        table.extend(self.end.to_le_bytes());
        table.extend((self.places.len() as u64).to_le_bytes());
        table.extend(crc.to_le_bytes());
        table.extend([0; 4]);
        table.extend(END);
        self.write(&table)?;
        let Target::Named(output) = self.target else {
            panic!("a scratch file has no name")
        };
        Ok(output.commit()?)
    }
}

/// A file of rows.
#[derive(Debug)]
pub(crate) struct Stored {
    file: File,
    /// For messages: the file, or the folder that it is in.
    path: PathBuf,
    kind: Kind,
    places: Vec<Place>,
    /// The number of the first row of each block, and of all rows.
    first_rows: Vec<u64>,
    /// Of all of a file that has a name.
    checksum: u64,
}

impl Stored {
    fn new(file: File, path: PathBuf, kind: Kind, places: Vec<Place>) -> Stored {
        let mut rows = 0;
        let mut first_rows = vec![0];
        first_rows.extend(places.iter().map(|place| {
            rows += u64::from(place.rows);
            rows
        }));
        Stored {
            file,
            path,
            kind,
            places,
            first_rows,
            checksum: 0,
        }
    }

    /// Opens a file that [`Store::commit`] gave its name; with the catalogue that is in it.
    pub(crate) fn open(path: &Path) -> Result<(Stored, Vec<u8>), StoredError> {
        let fail = |source| StoredError::Read {
            path: path.to_path_buf(),
            source,
        };
        let corrupt = |what: &str| StoredError::Corrupt {
            path: path.to_path_buf(),
            what: what.to_owned(),
        };
        let file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        let read = |offset: u64, bytes: u64| -> Result<Vec<u8>, StoredError> {
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= length);
            let mut buffer = vec![
                0;
                if fits {
                    bytes as usize
                } else {
                    return Err(corrupt("it is truncated"));
                }
            ];
            file.read_exact_at(&mut buffer, offset).map_err(fail)?;
            Ok(buffer)
        };
        let start = read(0, length.min(HEADER as u64))?;
        let header = FORMAT
            .header(&start)
            .map_err(|unfit| unfit_at(path, unfit))?;
        let catalogue = read(HEADER as u64, u64_at(header, 16))?;
        if crc32fast::hash(&catalogue) != u32_at(header, 12) {
            return Err(corrupt(
                "what it says of the references does not fit its checksum",
            ));
        }
        let trailer = read(length.saturating_sub(TRAILER as u64), TRAILER as u64)?;
        let (table, blocks) = (u64_at(&trailer, 0), u64_at(&trailer, 8));
        let bytes = blocks
            .checked_mul(PLACE as u64)
            .filter(|_| trailer[24..] == END);
        let table_bytes = read(table, bytes.ok_or_else(|| corrupt("it is truncated"))?)?;
        if crc32fast::hash(&table_bytes) != u32_at(&trailer, 16)
            || table + table_bytes.len() as u64 + TRAILER as u64 != length
        {
            return Err(corrupt("its table of blocks does not fit its checksum"));
        }
        let places: Vec<Place> = table_bytes.chunks_exact(PLACE).map(place_of).collect();
        // What is made room for is no more than there is, whatever the table says.
        let inside = |place: &Place| {
            let end = place.offset.checked_add(u64::from(place.packed));
            end.is_some_and(|end| end <= table) && place.rows <= place.bytes
        };
        if !places.iter().all(inside) {
            return Err(corrupt("a block is longer than the file"));
        }
        let stored = Stored::new(file, path.to_path_buf(), Kind::Reads, places);
        let checksum = u64::from(u32_at(header, 12)) << 32 | u64::from(u32_at(&trailer, 16));
        Ok((Stored { checksum, ..stored }, catalogue))
    }

    /// A checksum of all of the file, by those that it has of what it says of the references and of
    /// its blocks.
    pub(crate) fn checksum(&self) -> u64 {
        self.checksum
    }

    /// For messages: the file, or the folder that it is in.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        self.first_rows[self.places.len()]
    }

    /// Bytes of all blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.places
            .iter()
            .map(|place| u64::from(place.packed))
            .sum()
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        self.places.len()
    }

    /// The numbers of the rows of a block.
    pub(crate) fn rows_of(&self, block: usize) -> Range<u64> {
        self.first_rows[block]..self.first_rows[block + 1]
    }

    /// The block that a row is in.
    fn block_of(&self, row: u64) -> Result<usize, StoredError> {
        match self.kind {
            _ if row < self.rows() => {
                Ok(self.first_rows.partition_point(|&first| first <= row) - 1)
            }
            Kind::Reads => Err(self.corrupt(format!("it has no read {}", row + 1))),
            Kind::Hits => Err(StoredError::Changed { read: row + 1 }),
        }
    }

    fn corrupt(&self, what: String) -> StoredError {
        StoredError::Corrupt {
            path: self.path.clone(),
            what,
        }
    }

    /// Reads and unpacks a block.
    fn block(
        &self,
        number: usize,
        packed: &mut Vec<u8>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), StoredError> {
        let place = self.places[number];
        packed.resize(place.packed as usize, 0);
        let read = self.file.read_exact_at(packed, place.offset);
        read.map_err(|source| StoredError::Read {
            path: self.path.clone(),
            source,
        })?;
        if crc32fast::hash(packed) != place.crc {
            return Err(self.corrupt(format!("block {} does not fit its checksum", number + 1)));
        }
        let length = zstd::zstd_safe::get_frame_content_size(packed)
            .ok()
            .flatten();
        if length != Some(u64::from(place.bytes)) {
            return Err(self.corrupt(format!("block {} has another length", number + 1)));
        }
        bytes.resize(place.bytes as usize, 0);
        match zstd::bulk::decompress_to_buffer(packed, bytes.as_mut_slice()) {
            Ok(found) if found == bytes.len() => Ok(()),
            _ => Err(self.corrupt(format!("block {} cannot be unpacked", number + 1))),
        }
    }
}

/// Reads rows one after the other. Make one for each thread: the block that it is in stays.
pub(crate) struct Cursor<'s> {
    stored: &'s Stored,
    /// The windows that hits can have; those of the file are counted from the first.
    windows: Range<Location>,
    /// The block that is unpacked; none yet where it is behind the last.
    block: usize,
    packed: Vec<u8>,
    bytes: Vec<u8>,
    at: usize,
    /// The number of the next row.
    next: u64,
}

impl<'s> Cursor<'s> {
    /// A cursor before the first row.
    pub(crate) fn new(stored: &'s Stored, windows: Range<Location>) -> Cursor<'s> {
        let block = stored.blocks();
        Cursor {
            stored,
            windows,
            block,
            packed: Vec::new(),
            bytes: Vec::new(),
            at: 0,
            next: 0,
        }
    }

    /// Goes to a row, if there is one of this number.
    pub(crate) fn seek(&mut self, row: u64) -> Result<(), StoredError> {
        let block = self.stored.block_of(row)?;
        if block != self.block || row < self.next {
            self.enter(block)?;
        }
        let mut skipped = Row::default();
        while self.next < row {
            self.next(&mut skipped)?;
            skipped.hits.clear();
        }
        Ok(())
    }

    /// Reads the next row: replaces the read in `row` where the file has reads, and appends to its
    /// hits.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<(), StoredError> {
        if self.block == self.stored.blocks() || self.next == self.stored.rows_of(self.block).end {
            let block = self.stored.block_of(self.next)?;
            self.enter(block)?;
        }
        let mut bytes = &self.bytes[self.at..];
        let features = match self.stored.kind {
            Kind::Reads => read_read(&mut bytes, row).map(|()| row.features.len()),
            Kind::Hits => Some(usize::MAX),
        };
        let done = features
            .and_then(|features| read_hits(&mut bytes, &self.windows, features, &mut row.hits));
        done.ok_or_else(|| {
            self.stored
                .corrupt(format!("read {} makes no sense", self.next + 1))
        })?;
        self.at = self.bytes.len() - bytes.len();
        self.next += 1;
        Ok(())
    }

    fn enter(&mut self, block: usize) -> Result<(), StoredError> {
        // Until it is whole, nothing is there.
        self.block = self.stored.blocks();
        self.stored
            .block(block, &mut self.packed, &mut self.bytes)?;
        (self.block, self.at, self.next) = (block, 0, self.stored.first_rows[block]);
        Ok(())
    }
}

fn place_of(entry: &[u8]) -> Place {
    let [packed, bytes, rows, crc] = [8, 12, 16, 20].map(|at| u32_at(entry, at));
    let offset = u64_at(entry, 0);
    Place {
        offset,
        packed,
        bytes,
        rows,
        crc,
    }
}

fn unfit_at(path: &Path, unfit: Unfit) -> StoredError {
    let path = path.to_path_buf();
    let corrupt = |path, what: String| StoredError::Corrupt { path, what };
    match unfit {
        Unfit::Foreign(found) => StoredError::NotCandidates { path, found },
        Unfit::Short => corrupt(path, "it is truncated".into()),
        Unfit::Version(found) => StoredError::Version { path, found },
        Unfit::Corrupt(what) => corrupt(path, what.to_string()),
    }
}
