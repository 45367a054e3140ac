//! Reading a text in every way that there is, to be compared.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gyrase_fastx::{Error, Inputs, Options, Reader};
use gyrase_seq::Batch;

use crate::oracle::Record;

/// What can be compared of a reading in parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub records: usize,
    pub letters: usize,
    pub kmers: BTreeMap<Vec<u8>, usize>,
    /// The records of FASTQ, which are never in parts.
    pub whole: BTreeMap<Record, usize>,
}

impl Summary {
    pub fn of(records: &[Record], k: usize) -> Summary {
        let mut summary = Summary::default();
        for record in records {
            summary.records += 1;
            summary.letters += record.1.len();
            summary.add_kmers(&record.1, k);
            if !record.2.is_empty() {
                *summary.whole.entry(record.clone()).or_default() += 1;
            }
        }
        summary
    }

    fn add_kmers(&mut self, letters: &[u8], k: usize) {
        for kmer in letters.windows(k) {
            *self.kmers.entry(kmer.to_vec()).or_default() += 1;
        }
    }

    pub fn add(&mut self, batch: &Batch, k: usize) {
        for record in &batch.records {
            let (name, letters) = (batch.bytes(record.name), batch.bytes(record.letters));
            self.records += usize::from(!record.continues);
            self.letters += letters.len() - record.overlap as usize;
            self.add_kmers(letters, k);
            if !record.qualities.is_empty() {
                let qualities = batch.bytes(record.qualities).to_vec();
                *self
                    .whole
                    .entry((name.to_vec(), letters.to_vec(), qualities))
                    .or_default() += 1;
            }
        }
    }
}

/// Reads a file with many threads, serially if it must be.
pub fn read_parallel(
    path: &Path,
    k: usize,
    batch_bytes: usize,
    threads: usize,
) -> Result<Summary, Error> {
    let options = Options {
        batch_bytes,
        ..Options::for_kmers(k)
    };
    match read_with(path, k, &options, threads) {
        Err(error) if error.needs_serial() => read_with(
            path,
            k,
            &Options {
                serial: true,
                ..options
            },
            threads,
        ),
        result => result,
    }
}

pub fn read_with(
    path: &Path,
    k: usize,
    options: &Options,
    threads: usize,
) -> Result<Summary, Error> {
    read_all(&[path.to_path_buf()], k, options, threads)
}

pub fn read_all(
    paths: &[PathBuf],
    k: usize,
    options: &Options,
    threads: usize,
) -> Result<Summary, Error> {
    let inputs = Inputs::open(paths, options.clone())?;
    let total = Mutex::new(Summary::default());
    let work = || {
        let mut batch = Batch::default();
        while inputs.next_batch(&mut batch)? {
            assert!(!batch.records.is_empty());
            total.lock().unwrap().add(&batch, k);
        }
        Ok(())
    };
    let results: Vec<Result<(), Error>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for result in results {
        result?;
    }
    Ok(total.into_inner().unwrap())
}

/// Reads whole records in order, and checks their numbers.
pub fn read_in_order(path: &Path, batch_bytes: usize) -> Result<Vec<Record>, Error> {
    let options = Options {
        batch_bytes,
        whole_records: true,
        ..Options::default()
    };
    rest_of(&mut Reader::open(path, &options)?)
}

/// The records that a reader of whole records has left.
pub fn rest_of(reader: &mut Reader) -> Result<Vec<Record>, Error> {
    let (mut batch, mut records) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch)? {
        assert_eq!(batch.first_record, Some(records.len() as u64));
        for record in &batch.records {
            assert!(!record.continues && record.overlap == 0);
            let part = |span| batch.bytes(span).to_vec();
            records.push((
                part(record.name),
                part(record.letters),
                part(record.qualities),
            ));
        }
    }
    Ok(records)
}

/// The text in every compression, in pieces where the compression knows pieces.
pub fn compressed(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let gzip = |piece: &[u8]| {
        sirocco::compress(
            sirocco::Format::Gzip,
            sirocco::deflate::Level::DEFAULT,
            piece,
        )
    };
    let pieces = |size: usize, pack: &dyn Fn(&[u8]) -> Vec<u8>| match text {
        [] => pack(text),
        _ => text.chunks(size).flat_map(pack).collect(),
    };
    vec![
        ("plain", text.to_vec()),
        ("gz", gzip(text)),
        ("members.gz", [pieces(70, &gzip), vec![0; 100]].concat()),
        ("bgzf.gz", [pieces(50, &block), block(b"")].concat()),
        (
            "bgzf_then.gz",
            [pieces(90, &block), gzip(b""), vec![0; 3]].concat(),
        ),
        ("zst", zstd(text)),
        ("frames.zst", pieces(120, &zstd)),
        ("bz2", bzip2(text)),
        ("streams.bz2", pieces(400, &bzip2)),
        ("xz", xz(text)),
        ("streams.xz", pieces(800, &xz)),
    ]
}

/// With a checksum, as the command line tool writes it.
fn zstd(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A block of BGZF.
pub fn block(text: &[u8]) -> Vec<u8> {
    let body = sirocco::compress(
        sirocco::Format::Deflate,
        sirocco::deflate::Level::DEFAULT,
        text,
    );
    let mut block = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0".to_vec();
    block.extend(((body.len() + 25) as u16).to_le_bytes());
    block.extend(body);
    block.extend(crc32fast::hash(text).to_le_bytes());
    block.extend((text.len() as u32).to_le_bytes());
    block
}
