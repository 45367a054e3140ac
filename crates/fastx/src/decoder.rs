//! Decompressing streams.

use std::io::{self, BufReader, Read};

use crate::gzip::Gzip;
use crate::options::Compression;

/// Bytes that are read from a compressed file at a time.
pub(crate) const BUFFER: usize = 256 << 10;

/// Any stream of bytes that may move between threads.
pub(crate) type Bytes = Box<dyn Read + Send>;

/// Any window that zstd can have.
pub(crate) const ANY_WINDOW: u64 = 1 << 31;

/// The text of a compressed stream; BGZF is read as the gzip that it is, zstd with windows of so
/// many bytes.
pub(crate) fn decompressed(
    input: Bytes,
    compression: Compression,
    most_window: u64,
) -> io::Result<Bytes> {
    let buffered = |input| BufReader::with_capacity(BUFFER, input);
    Ok(match compression {
        Compression::Plain => input,
        Compression::Gzip | Compression::Bgzf => Box::new(Gzip::new(buffered(input))),
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(buffered(input))?;
            // What `zstd --long` wrote can be read without a flag.
            decoder.window_log_max(most_window.max(1 << 10).next_power_of_two().ilog2().min(31))?;
            Box::new(decoder)
        }
        Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(buffered(input))),
        Compression::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(buffered(input))),
    })
}
