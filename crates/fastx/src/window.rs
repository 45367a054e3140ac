//! How much of its text a compressed input refers back to, and so keeps in memory: it says so in
//! its first bytes.

use crate::options::Compression;

/// Bytes that the decompressor of an input that begins so keeps; 0 where it is a few hundred KiB
/// for every input.
pub(crate) fn window(head: &[u8], compression: Compression) -> u64 {
    let found = match compression {
        Compression::Zstd => zstd(head),
        Compression::Xz => xz(head),
        _ => None,
    };
    found.unwrap_or(0)
}

/// The window of the first frame (RFC 8878, 3.1.1).
fn zstd(mut head: &[u8]) -> Option<u64> {
    loop {
        let (magic, rest) = head.split_first_chunk::<4>()?;
        if (magic[0] & 0xf0, &magic[1..]) != (0x50, &[0x2a, 0x4d, 0x18]) {
            return frame(rest);
        }
        let (length, rest) = rest.split_first_chunk::<4>()?;
        head = rest.get(u32::from_le_bytes(*length) as usize..)?;
    }
}

/// The window that the header of a frame behind its magic number asks for.
fn frame(header: &[u8]) -> Option<u64> {
    let (&flags, rest) = header.split_first()?;
    if flags & 0x20 == 0 {
        let base = 1 << (10 + (rest.first()? >> 3));
        return Some(base + base / 8 * u64::from(rest[0] & 7));
    }
    // All of it at once, with its length behind the number of a dictionary.
    let dictionary = [0, 1, 2, 4][usize::from(flags & 3)];
    let length = [1, 2, 4, 8][usize::from(flags >> 6)];
    let bytes = rest.get(dictionary..dictionary + length)?;
    let content = bytes
        .iter()
        .rev()
        .fold(0, |content, &byte| content << 8 | u64::from(byte));
    Some(if length == 2 { content + 256 } else { content })
}

/// The dictionary of the first block (the .xz file format 1.2.0, 3.1 and 5.3.1).
fn xz(head: &[u8]) -> Option<u64> {
    let (&flags, mut rest) = head.get(13..)?.split_first()?;
    for sizes in [0x40, 0x80] {
        if flags & sizes != 0 {
            rest = number(rest)?.1;
        }
    }
    for _ in 0..=flags & 3 {
        let (filter, after) = number(rest)?;
        let (length, after) = number(after)?;
        let properties = after.get(..length as usize)?;
        if filter == 0x21 {
            let bits = *properties.first()? & 0x3f;
            return Some((2 | u64::from(bits & 1)) << (bits / 2 + 11));
        }
        rest = &after[properties.len()..];
    }
    None
}

/// A number in groups of seven bits, and what follows it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take(9).position(|byte| byte & 0x80 == 0)? + 1;
    let number = bytes[..length]
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 7 | u64::from(byte & 0x7f));
    Some((number, &bytes[length..]))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn zstd_frame(log: u32, text: &[u8], single: bool) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        if single {
            encoder
                .set_pledged_src_size(Some(text.len() as u64))
                .unwrap();
        }
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_window_of_zstd_is_found() {
        for log in [10, 17, 23, 27] {
            let plain = zstd_frame(log, b"ACGT", false);
            assert_eq!(window(&plain, Compression::Zstd), 1 << log);
            let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9], &plain[..]].concat();
            assert_eq!(window(&skipped, Compression::Zstd), 1 << log);
            for length in 0..plain.len() {
                window(&plain[..length], Compression::Zstd);
            }
        }
        for length in [0, 1, 255, 256, 300, 65_791, 65_792, 100_000] {
            let frame = zstd_frame(20, &vec![b'A'; length], true);
            assert_eq!(window(&frame, Compression::Zstd), length as u64);
        }
        // What RFC 8878 gives as the largest: 3.75 TiB.
        assert_eq!(frame(&[0, 0xff]), Some((1 << 41) + 7 * (1 << 38)));
    }

    #[test]
    fn the_dictionary_of_xz_is_found() {
        for (preset, dictionary) in [(0, 256 << 10), (1, 1 << 20), (6, 8 << 20), (9, 64 << 20)] {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), preset);
            encoder.write_all(b"ACGT").unwrap();
            let file = encoder.finish().unwrap();
            assert_eq!(window(&file, Compression::Xz), dictionary);
            for length in 0..file.len() {
                window(&file[..length], Compression::Xz);
            }
        }
    }

    #[test]
    fn others_keep_little() {
        assert_eq!(window(b"\x1f\x8b\x08\0\0\0\0\0", Compression::Gzip), 0);
        assert_eq!(window(b"BZh9", Compression::Bzip2), 0);
        assert_eq!(
            window(b"", Compression::Zstd) + window(b"", Compression::Xz),
            0
        );
    }
}
