//! What a file is that was taken for a database.

use gyrase_files::container::{self, u64_at};

/// What a file that does not begin with the magic of a database seems to be, to follow "it".
pub fn what_it_is(bytes: &[u8], magic: [u8; 8]) -> String {
    const BEGINNINGS: [(&[u8], &str); 9] = [
        (
            b"\x1f\x8b",
            "is compressed with gzip (decompress it first if it is a database)",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            "is compressed with zstd (decompress it first if it is a database)",
        ),
        (
            b"BZh",
            "is compressed with bzip2 (decompress it first if it is a database)",
        ),
        (
            b"\xfd7zXZ",
            "is compressed with xz (decompress it first if it is a database)",
        ),
        (b"K2TAXDAT", "is the taxonomy of a Kraken 2 database"),
        (b"KMCP", "is a part of a KMC database"),
        (b"KMCS", "is a part of a KMC database"),
        (b">", "looks like a FASTA file"),
        (b"@", "looks like a FASTQ file"),
    ];
    if let Some(own) = container::what_it_is(bytes) {
        return format!("is {own}");
    }
    let known = BEGINNINGS
        .iter()
        .find(|(beginning, _)| bytes.starts_with(beginning));
    match known {
        Some((_, what)) => (*what).into(),
        None if bytes.is_empty() => "is empty".into(),
        None if is_kraken_hash(bytes) => "is the hash table of a Kraken 2 database".into(),
        None => format!(
            "does not begin with \"{}\"",
            magic.trim_ascii().escape_ascii()
        ),
    }
}

/// True for capacity, size, key bits and value bits of Kraken 2's table, whose cells have 32 bits.
fn is_kraken_hash(bytes: &[u8]) -> bool {
    if bytes.len() < 32 {
        return false;
    }
    let [capacity, size, key_bits, value_bits] = [0, 8, 16, 24].map(|at| u64_at(bytes, at));
    size <= capacity
        && key_bits > 0
        && value_bits > 0
        && key_bits.checked_add(value_bits) == Some(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_are_named() {
        let kraken: Vec<u8> = [1000u64, 700, 17, 15]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let cases: [(&[u8], &str); 7] = [
            (b"", "empty"),
            (b"GYRASEK\n\x01", "counted k-mers"),
            (b"GYRASES\n\x01", "gyrase search"),
            (b"\x1f\x8b\x08", "gzip"),
            (b">seq\nACGT", "FASTA"),
            (&kraken, "Kraken 2"),
            (b"hello", "GYRASED"),
        ];
        for (bytes, word) in cases {
            assert!(what_it_is(bytes, *b"GYRASED\n").contains(word), "{word}");
        }
    }
}
