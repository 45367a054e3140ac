//! FASTA and FASTQ files, pipes and byte ranges, in any compression, to and from batches of reads.
//!
//! # The idea
//!
//! Whoever works on reads asks for a batch, works on it, and asks again with the same batch. Any
//! number of threads do so at once ([`Inputs::next_batch`]); there are no threads and no queues in
//! here, and no memory but the batches'. A thread that asks does the reading itself:
//!
//! ```text
//!  plain file    the next byte range of 1 MiB, by one read at its place       (ranges)
//!  gzip, zstd,   the next 1 MiB of text, decompressed while the file is held  (stream,
//!  bzip2, xz,                                                                  source, gzip)
//!  pipe
//!  BGZF          the next blocks; the file is let go, then they are decompressed  (stream, bgzf)
//!                                   |
//!                                   v
//!                parsed in place, where lines need not be joined without a copy  (fastq, fasta)
//! ```
//!
//! Where the inputs are shared by many processes they come in chunks instead ([`Inputs::chunks`],
//! module `chunks`): whoever takes chunks decides who reads what, and carries the bytes that cross
//! from one chunk to another.
//!
//! The bytes are read straight into the batch's text; names, letters and qualities are ranges of
//! it. Wrapped lines are joined by moving the letters to the front of their own text. Nothing is
//! allocated per record.
//!
//! # What is promised
//!
//! * *Byte ranges are exact.* Together they give what a reading from front to end gives, whatever
//!   the file looks like. Where this cannot be known beforehand it is checked afterwards, and
//!   [`Error::NeedsSerial`] asks for another reading with [`Options::serial`]. The module `ranges`
//!   says why this is enough.
//! * *No k-mer is lost or doubled.* A FASTA record that is longer than a batch comes in parts. Each
//!   part repeats the last [`Options::overlap`] letters of the part before (`Record::overlap` says
//!   how many there are), all but the last have `Record::continues`: records are counted by the
//!   parts that do not continue. Parts of byte ranges but for the first have no name. FASTQ records
//!   are always whole, FASTA records too with [`Options::whole_records`].
//! * *Memory is bounded* by about two batches for each thread, but for records that must be whole
//!   and are longer, up to a few times [`Options::longest_record`], and for what compressed inputs
//!   keep of their text ([`Input::window`]).
//! * *Bad input is named*: file, record, line, what was expected and what was found, the first in
//!   the file, and the same for every number of threads.
//!
//! # What is accepted
//!
//! Format and compression are known by content, never by name. Both formats may be wrapped; lines
//! end with `\n` or `\r\n`, the last with nothing; blank lines stand between records; a UTF-8 byte
//! order mark is skipped. `+` lines may repeat the name. Letters are kept as they are, in either
//! case: IUPAC letters, `U`, and the gaps `-`, `.`, `*`; a k-mer over a letter without a code does
//! not exist. Records may be empty, and so may files.
//!
//! Spaces and tabs in FASTA sequence lines mean nothing, as in NCBI's tools: dropping them loses no
//! k-mers, where other counters break the sequence or count them as letters. In FASTQ they are an
//! error, because the qualities would no longer belong to the letters. Lines of FASTA that start
//! with `;` are comments.
//!
//! Digits, control bytes, bytes above 126 and other marks in a sequence are errors, as is a record
//! of which more than a tenth are letters that only proteins have, unless [`Alphabet::Any`] is
//! chosen. A gzip file may end with zeros, not with anything else.
//!
//! # Example
//!
//! ```
//! use gyrase_fastx::{Inputs, Options};
//! use gyrase_seq::Batch;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("reads");
//! std::fs::write(&path, "@r1 first\nACGTA\n+\nIIIII\n@r2\nGG\n+\nII\n")?;
//!
//! let inputs = Inputs::open(&[path], Options::for_kmers(31))?;
//! let mut batch = Batch::default();
//! let mut reads = Vec::new();
//! while inputs.next_batch(&mut batch)? {
//!     reads.extend(batch.letters().map(|letters| letters.to_vec()));
//! }
//! assert_eq!(reads, [b"ACGTA".to_vec(), b"GG".to_vec()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ahead;
mod back;
mod bgzf;
mod chunks;
mod decoder;
mod error;
mod fasta;
mod fastq;
mod fetched;
mod gzip;
mod inputs;
mod letters;
mod list;
mod look;
mod options;
mod output;
mod pair_writer;
mod paired;
mod pairs;
mod parser;
mod plan;
mod ranges;
mod reader;
mod sample;
mod shared_file;
mod sniff;
mod source;
mod stream;
mod window;
mod writer;

pub use chunks::{Border, Chunk, Chunks, SentBack};
pub use error::{Error, Problem};
pub use inputs::Inputs;
pub use list::expand as expand_lists;
pub use options::{Alphabet, Compression, Format, Input, Options};
pub use output::{Complete, Output};
pub use pair_writer::{PairWriter, PairsWritten};
pub use paired::{MateNames, PairedReader};
pub use reader::Reader;
pub use sample::MeasuredStart;
pub use shared_file::SharedFile;
pub use source::decompress;
pub use writer::Writer;
