//! Reads a database.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gyrase_files::container::{checked_part, expect};
use gyrase_kmer::{BINS, Key, Kmer, Shape, bin_of, with_words};
use memmap2::Mmap;

use super::bin::BinView;
use super::error::GykError;
use super::layout::{
    BinEntry, DIRECTORY_BYTES, ENTRY_BYTES, FORMAT, HEADER_BYTES, Header, Metadata,
};
use crate::map::{let_go_of, open};

/// An opened database. Its bins are read from the file when they are first used; threads share it.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    map: Mmap,
    header: Header,
    entries: Vec<BinEntry>,
    metadata: Metadata,
    /// For every bin whether its bytes were found to fit their checksum.
    sound: Vec<AtomicBool>,
}

impl Database {
    /// Opens a database and checks all of it but the bins: magic, version, lengths, header,
    /// directory, metadata.
    pub fn open(path: &Path) -> Result<Database, GykError> {
        let (_, map) = open(path)?;
        let header = header(path, &map)?;
        let corrupt = |what| FORMAT.corrupt(path, what);
        let entries = directory(&header, &map).map_err(corrupt)?;
        let metadata = metadata(&header, &map).map_err(corrupt)?;
        let sound = (0..BINS).map(|_| AtomicBool::new(false)).collect();
        Ok(Database {
            path: path.to_path_buf(),
            map,
            header,
            entries,
            metadata,
            sound,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Parameters and totals.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Length and strandedness of the k-mers.
    pub fn shape(&self) -> Shape {
        self.header.shape
    }

    /// What the database was made of.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// k-mers of a bin, without touching it.
    ///
    /// # Panics
    /// When `bin` is not below [`BINS`].
    pub fn bin_len(&self, bin: usize) -> usize {
        self.entries[bin].kmers as usize
    }

    /// One bin, whatever its checksum: nonsense when the file was damaged, but no panic. See
    /// [`Database::sound_bin`].
    ///
    /// # Panics
    /// When `bin` is not below [`BINS`].
    #[inline]
    pub fn bin(&self, bin: usize) -> BinView<'_> {
        let entry = &self.entries[bin];
        BinView::new(
            self.bin_bytes(entry),
            self.header.shape.words(),
            entry.kmers as usize,
        )
        .expect("the directory was checked when the database was opened, and maps are aligned")
    }

    /// One bin whose bytes fit their checksum. That is found out when the bin is first asked for;
    /// later it costs next to nothing.
    ///
    /// # Errors
    /// [`GykError::Container`] when they do not.
    ///
    /// # Panics
    /// When `bin` is not below [`BINS`].
    #[inline]
    pub fn sound_bin(&self, bin: usize) -> Result<BinView<'_>, GykError> {
        // Threads that meet here check twice and find the same; the file's bytes are nobody's to
        // publish.
        if !self.sound[bin].load(Relaxed) {
            self.check_bin(bin)?;
        }
        Ok(self.bin(bin))
    }

    /// Gives back the memory that a bin takes in this process; who asks for it again reads the file
    /// again.
    ///
    /// # Panics
    /// When `bin` is not below [`BINS`].
    pub fn let_go(&self, bin: usize) {
        let entry = &self.entries[bin];
        let end = entry.end(self.header.shape.words());
        let end = end.expect("the directory was checked");
        let_go_of(&self.map, entry.offset as usize..end as usize);
    }

    #[cold]
    fn check_bin(&self, bin: usize) -> Result<(), GykError> {
        self.check_crc(bin)
            .map_err(|what| self.corrupt(format!("bin {bin}: {what}")))?;
        self.sound[bin].store(true, Relaxed);
        Ok(())
    }

    fn check_crc(&self, bin: usize) -> Result<(), String> {
        let entry = &self.entries[bin];
        match crc32fast::hash(self.bin_bytes(entry)) {
            crc if crc == entry.crc => Ok(()),
            crc => Err(format!(
                "its checksum is {:08x}, its bytes give {crc:08x}",
                entry.crc
            )),
        }
    }

    fn bin_bytes(&self, entry: &BinEntry) -> &[u8] {
        let end = entry
            .end(self.header.shape.words())
            .expect("the directory was checked");
        &self.map[entry.offset as usize..end as usize]
    }

    /// The count of a k-mer in the form that the shape counts (see [`Kmer::form`]), or `None` where
    /// the database has it not.
    ///
    /// # Errors
    /// [`GykError::Container`] when its bin does not fit its checksum (see
    /// [`Database::sound_bin`]).
    ///
    /// # Panics
    /// When `W` is not the number of words of the shape.
    #[inline]
    pub fn get<const W: usize>(&self, kmer: Kmer<W>) -> Result<Option<u32>, GykError> {
        let bin = self.sound_bin(bin_of(kmer, self.header.shape))?;
        Ok(bin.find(&Key::from(kmer).0).map(|at| bin.count(at)))
    }

    /// Checks every bin: its checksum, the order of its keys, that they belong to it, and the
    /// totals of the header.
    pub fn verify(&self) -> Result<(), GykError> {
        let mut sum = Header {
            distinct: 0,
            total: 0,
            unique: 0,
            largest: 0,
            ..self.header
        };
        for bin in 0..BINS {
            self.verify_bin(bin, &mut sum)
                .map_err(|what| self.corrupt(format!("bin {bin}: {what}")))?;
        }
        let found = [sum.distinct, sum.total, sum.unique, u64::from(sum.largest)];
        let header = &self.header;
        let expected = [
            header.distinct,
            header.total,
            header.unique,
            u64::from(header.largest),
        ];
        for (name, (found, expected)) in ["k-mers", "total", "unique", "largest count"]
            .into_iter()
            .zip(found.into_iter().zip(expected))
        {
            expect(name, found, expected).map_err(|what| self.corrupt(what))?;
        }
        let saturated = self.header.largest == u32::MAX;
        expect(
            "saturated",
            u64::from(self.header.saturated),
            u64::from(saturated),
        )
        .map_err(|what| self.corrupt(what))
    }

    /// Checks one bin and adds it to the totals.
    fn verify_bin(&self, bin: usize, sum: &mut Header) -> Result<(), String> {
        self.check_crc(bin)?;
        let view = self.bin(bin);
        view.check()?;
        let stray = with_words!(self.header.shape, W => self.stray::<W>(bin, &view));
        if let Some(at) = stray {
            return Err(format!("k-mer {} does not belong there", at + 1));
        }
        sum.distinct += view.len() as u64;
        for count in view.counts() {
            sum.total = sum.total.saturating_add(u64::from(count));
            sum.unique += u64::from(count == 1);
            sum.largest = sum.largest.max(count);
        }
        Ok(())
    }

    /// The first key of a bin that is no k-mer of the shape in its counted form, or one of another
    /// bin.
    fn stray<const W: usize>(&self, bin: usize, view: &BinView) -> Option<usize> {
        let shape = self.header.shape;
        view.rows::<W>().iter().position(|&row| {
            let kmer = Kmer::from(Key(row));
            kmer != kmer.masked(shape.k()) || kmer != kmer.form(shape) || bin_of(kmer, shape) != bin
        })
    }

    /// The error of a file whose values contradict each other, though its checksums are right.
    pub fn corrupt(&self, what: String) -> GykError {
        FORMAT.corrupt(&self.path, what).into()
    }
}

/// The header of a file that is a database of this version and has the length that it should have.
fn header(path: &Path, bytes: &[u8]) -> Result<Header, GykError> {
    let header = FORMAT.header_of(path, bytes)?;
    let header = Header::decode(header).map_err(|what| FORMAT.corrupt(path, what))?;
    FORMAT.length(path, header.file_bytes, bytes.len())?;
    Ok(header)
}

/// The entries of the directory, once it is sure that they tile the file.
fn directory(header: &Header, bytes: &[u8]) -> Result<Vec<BinEntry>, String> {
    let section = checked_part(
        bytes,
        header.directory,
        DIRECTORY_BYTES as u64,
        header.directory_crc,
        "directory",
    )?;
    let entries: Option<Vec<_>> = section
        .chunks_exact(ENTRY_BYTES)
        .map(BinEntry::decode)
        .collect();
    let entries = entries.ok_or("a reserved field of the directory is not zero")?;
    let (mut end, mut kmers) = (HEADER_BYTES as u64, 0u64);
    for (bin, entry) in entries.iter().enumerate() {
        expect(format_args!("offset of bin {bin}"), entry.offset, end)?;
        let limit = |end: &u64| *end <= header.directory && entry.overflows <= entry.kmers;
        end = entry
            .end(header.shape.words())
            .filter(limit)
            .ok_or(format!("bin {bin} is longer than the file"))?;
        kmers += entry.kmers;
    }
    expect("end of the bins", end, header.directory)?;
    expect("k-mers in the directory", kmers, header.distinct)?;
    Ok(entries)
}

fn metadata(header: &Header, bytes: &[u8]) -> Result<Metadata, String> {
    expect(
        "offset of the metadata",
        header.metadata,
        header.directory + DIRECTORY_BYTES as u64,
    )?;
    let section = checked_part(
        bytes,
        header.metadata,
        header.metadata_bytes,
        header.metadata_crc,
        "metadata",
    )?;
    let end = (header.metadata + header.metadata_bytes).next_multiple_of(8);
    expect("end of the metadata", end, header.file_bytes)?;
    // The file has the length that it should have, so these are the last bytes.
    if bytes[(header.metadata + header.metadata_bytes) as usize..]
        .iter()
        .any(|&byte| byte != 0)
    {
        return Err("the bytes behind the metadata are not zero".to_string());
    }
    serde_json::from_slice(section)
        .map_err(|error| format!("its metadata is not what it should be: {error}"))
}
