//! What an input is, by its first bytes and never by its name.

use std::io::{self, Cursor, Read};

use gyrase_files::container::what_it_is;
use memchr::memchr;

use crate::bgzf::is_bgzf;
use crate::decoder::{ANY_WINDOW, Bytes, decompressed};
use crate::error::{Fault, Problem, shown};
use crate::fastq::is_wrapped;
use crate::letters::is_space;
use crate::options::{Compression, Format};

/// Bytes of a compressed file that are looked at: a whole block of any compression.
const HEAD: u64 = 1 << 20;

/// Bytes of text that are looked at.
const TEXT: usize = 64 << 10;

/// Reads the first bytes, as many as tell what they are.
pub(crate) fn head(bytes: &mut Bytes) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(TEXT as u64).read_to_end(&mut head)?;
    if compression(&head) != Compression::Plain {
        bytes.take(HEAD).read_to_end(&mut head)?;
    }
    Ok(head)
}

/// The compression that these first bytes show.
pub(crate) fn compression(head: &[u8]) -> Compression {
    let zstd = head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
        || head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18];
    match head {
        _ if is_bgzf(head) => Compression::Bgzf,
        _ if zstd => Compression::Zstd,
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Bzip2,
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
        _ => Compression::Plain,
    }
}

/// As much of the text behind the first bytes as can be had; damage shows later, when it is read in
/// earnest.
pub(crate) fn text(head: Vec<u8>, compression: Compression) -> Vec<u8> {
    if compression == Compression::Plain {
        return head;
    }
    let mut text = Vec::new();
    if let Ok(reader) = decompressed(Box::new(Cursor::new(head)), compression, ANY_WINDOW) {
        // An error keeps what came before it.
        let _ = reader.take(TEXT as u64).read_to_end(&mut text);
    }
    text
}

/// The byte order mark that some editors of Windows put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether more text could make a byte order mark of this one.
pub(crate) fn may_become_mark(text: &[u8]) -> bool {
    text.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(text)
}

/// What a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Records of this format, from this place on (comments of FASTA are part of it).
    Records(Format, usize),
    /// Only white space.
    Blank,
    /// Something else, in words.
    Other(String),
}

/// What the text begins with, told from formats that are often given by mistake.
pub(crate) fn look(text: &[u8]) -> Start {
    match foreign(text.trim_ascii_start()) {
        Some(found) => Start::Other(found.to_owned()),
        None => start(text),
    }
}

/// What the text begins with, after a byte order mark and white space.
pub(crate) fn start(text: &[u8]) -> Start {
    let skipped = if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let Some(place) = text[skipped..].iter().position(|&byte| !is_space(byte)) else {
        return Start::Blank;
    };
    let text = &text[skipped + place..];
    match text[0] {
        b'>' | b';' => Start::Records(Format::Fasta, skipped + place),
        b'@' => Start::Records(Format::Fastq, skipped + place),
        byte => Start::Other(format!("a line that starts with {}", shown(byte))),
    }
}

/// Where the first record of a text starts, if byte ranges can start there; no more than `length`
/// bytes are looked at for wrapped records.
pub(crate) fn range_start(
    format: Format,
    text: &mut [u8],
    at: usize,
    length: usize,
) -> Option<usize> {
    let end = text.len().min(at + length.min(TEXT));
    match format {
        Format::Fasta => first_header(text, at),
        Format::Fastq => (!is_wrapped(&mut text[at..end])).then_some(at),
    }
}

/// The first header of a FASTA text, after the comments from `at` on; `None` when it lies behind
/// the text.
fn first_header(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *text.get(at)? {
            b';' => at += memchr(b'\n', &text[at..])? + 1,
            byte if is_space(byte) => at += 1,
            byte => return (byte == b'>').then_some(at),
        }
    }
}

/// Formats that are often given by mistake.
fn foreign(text: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 17] = [
        (b"KMCP", "a KMC database; `gyrase kmers import` reads it"),
        (b"KMCS", "a KMC database; `gyrase kmers import` reads it"),
        (b"KFF", "a KFF file; `gyrase kmers import` reads it"),
        (b"BAM\x01", "a BAM file; convert it with `samtools fastq`"),
        (b"CRAM", "a CRAM file; convert it with `samtools fastq`"),
        (b"@HD\tVN:", "a SAM file; convert it with `samtools fastq`"),
        (b"@SQ\tSN:", "a SAM file; convert it with `samtools fastq`"),
        (
            b"NCBI.sra",
            "an SRA archive; convert it with `fasterq-dump`",
        ),
        (b"PK\x03\x04", "a zip archive; unpack it first"),
        (b"\x1f\x9d", "a file of `compress` (.Z); unpack it first"),
        (
            b"\x89HDF",
            "an HDF5 (fast5) file; FASTQ comes from a basecaller",
        ),
        (b"POD5", "a POD5 file; FASTQ comes from a basecaller"),
        (b"LOCUS", "a GenBank file; convert it to FASTA first"),
        (b"\xff\xfe", "UTF-16 text; save it as plain text (UTF-8)"),
        (b"\xfe\xff", "UTF-16 text; save it as plain text (UTF-8)"),
        (
            b"<",
            "a line that starts with '<' (a web page instead of the download?)",
        ),
        (b".sra", "an SRA archive; convert it with `fasterq-dump`"),
    ];
    // The length of the JSON object behind it, in nine digits.
    if text.get(9) == Some(&b'{') && text[..9].iter().all(u8::is_ascii_digit) {
        return Some(
            "a binary file of Jellyfish; give `jellyfish dump -c FILE` to `gyrase kmers import -`",
        );
    }
    if text.get(257..262) == Some(b"ustar") {
        return Some("a tar archive; unpack it first");
    }
    if memchr(b'\n', text).is_none()
        && memchr(b'\r', text).is_some_and(|place| place + 1 < text.len())
    {
        return Some(
            "line ends of old Macs (carriage return alone); convert them first, as with `tr '\\r' \
             '\\n'`",
        );
    }
    KNOWN
        .iter()
        .find(|(magic, _)| text.starts_with(magic))
        .map(|&(_, name)| name)
        .or_else(|| what_it_is(text))
}

/// The fault of a text that starts with neither format, found where it had to be known.
pub(crate) fn unknown(text: &[u8], line: u64) -> Fault {
    let found = text.first().copied().unwrap_or(b'\n');
    Fault {
        record: 1,
        line,
        name: Vec::new(),
        problem: Problem::NoHeader {
            format: Format::Fasta,
            found,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_content() {
        assert_eq!(
            start(b"\xef\xbb\xbf\r\n >a"),
            Start::Records(Format::Fasta, 6)
        );
        assert_eq!(start(b"; comment\n>a"), Start::Records(Format::Fasta, 0));
        assert_eq!(start(b"@a\nA\n+\nI\n"), Start::Records(Format::Fastq, 0));
        assert_eq!(start(b" \n\t\r\n"), Start::Blank);
        assert_eq!(start(b""), Start::Blank);
        assert!(
            matches!(look(b"@HD\tVN:1.6\n"), Start::Other(found) if found.contains("samtools"))
        );
        for (text, verb) in [
            (&b"GYRASEK\n\x01"[..], "gyrase kmers"),
            (b"GYRASES\n\x01", "gyrase search"),
            (b"KMCP\0", "import"),
            (b"KMCS\0", "import"),
            (b"KFF\x01", "import"),
            (b"000000123{\"a\":1}", "jellyfish dump"),
        ] {
            assert!(
                matches!(look(text), Start::Other(found) if found.contains(verb)),
                "{text:?}"
            );
        }
        assert!(matches!(look(b"ACGT\n"), Start::Other(found) if found.contains("'A'")));
        assert!(matches!(look(b">a\rACGT\r"), Start::Other(found) if found.contains("Mac")));
        assert!(matches!(look(b"\0\0"), Start::Other(found) if found.contains("0x00")));
    }

    #[test]
    fn compressions_are_known_by_content() {
        assert_eq!(compression(&[0x1f, 0x8b, 8, 0]), Compression::Gzip);
        assert_eq!(compression(b"BZh91AY"), Compression::Bzip2);
        assert_eq!(compression(&[0x52, 0x2a, 0x4d, 0x18]), Compression::Zstd);
        assert_eq!(compression(b">BZh"), Compression::Plain);
        assert_eq!(compression(b""), Compression::Plain);
    }
}
