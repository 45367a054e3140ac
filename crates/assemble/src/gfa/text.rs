//! The text of a file, and its lines.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use super::GfaError;

/// Bytes that are read at a time.
const PORTION: u64 = 1 << 20;

/// The whole text of a file, compressed or not; `-` is standard input. At most `most` bytes.
pub fn whole(path: &Path, most: u64) -> Result<Vec<u8>, GfaError> {
    let open = |source| GfaError::Open {
        path: path.to_path_buf(),
        source,
    };
    let read = |source| GfaError::Read {
        path: path.to_path_buf(),
        source,
    };
    let mut stream = match path.as_os_str() == "-" {
        true => gyrase_fastx::decompress(io::stdin()).map_err(read)?,
        false => {
            let file = File::open(path).map_err(open)?;
            gyrase_fastx::decompress(file).map_err(read)?
        }
    };
    let mut text = Vec::new();
    while stream
        .by_ref()
        .take(PORTION)
        .read_to_end(&mut text)
        .map_err(read)?
        > 0
    {
        if text.len() as u64 > most {
            let path = path.to_path_buf();
            return Err(GfaError::Memory { path, most });
        }
    }
    Ok(text)
}

/// Where each line is, without its end, and its number from 1.
pub fn lines(text: &[u8]) -> impl Iterator<Item = (u64, Range<usize>)> {
    let mut from = 0;
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(move |(number, line)| {
            let start = from;
            from += line.len() + 1;
            let length = line.strip_suffix(b"\r").unwrap_or(line).len();
            (number as u64 + 1, start..start + length)
        })
}

/// Where the fields of a line are, which tabs separate.
pub fn fields(text: &[u8], line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut from = line.start;
    text[line].split(|&byte| byte == b'\t').map(move |field| {
        let start = from;
        from += field.len() + 1;
        start..start + field.len()
    })
}

/// Bytes as text that a message may hold.
pub fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 60;
    let text = String::from_utf8_lossy(bytes);
    let shown: String = text.chars().take(MOST).collect();
    shown.escape_debug().to_string()
}
