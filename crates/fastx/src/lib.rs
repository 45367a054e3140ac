//! FASTA and FASTQ files, pipes and byte ranges, in any compression, to and from batches of reads.

mod back;
mod bgzf;
mod error;
mod fasta;
mod fastq;
mod gzip;
mod inputs;
mod letters;
mod list;
mod options;
mod paired;
mod parser;
mod ranges;
mod reader;
mod sniff;
mod source;
mod stream;
mod writer;

pub use error::{Error, Problem};
pub use inputs::Inputs;
pub use options::{Alphabet, Compression, Format, Input, Options};
pub use paired::PairedReader;
pub use reader::Reader;
pub use writer::Writer;
