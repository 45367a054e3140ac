//! What a file is that was taken for one of another format.

use super::{Container, u64_at};

/// What a file of this program is that begins with these bytes, and which verb takes it.
pub fn what_it_is(start: &[u8]) -> Option<&'static str> {
    const FORMATS: [(&[u8; 8], &str); 6] = [
        (
            b"GYRASEK\n",
            "a .gyk database of counted k-mers, for `gyrase kmers`",
        ),
        (
            b"GYRASED\n",
            "a .gydb database of references, for `gyrase classify --db`",
        ),
        (
            b"GYRASES\n",
            "a .gysd database of sequences, for `gyrase search --db`",
        ),
        (
            b"GYRASEX\n",
            "a .gysa of sorted suffixes, for `gyrase match`",
        ),
        (
            b"GYRASEC\n",
            "a .gyc of candidates of reads, for `gyrase classify --merge`",
        ),
        (
            b"GYRGYM\r\n",
            "a .gym of metadata of a search, for `gyrase regenerate`",
        ),
    ];
    let known = FORMATS.iter().find(|(magic, _)| start.starts_with(*magic));
    known.map(|(_, what)| *what)
}

impl Container {
    /// What a file that does not begin with the magic of this format seems to be, to follow "it".
    pub(super) fn foreign(&self, bytes: &[u8]) -> String {
        const BEGINNINGS: [(&[u8], &str); 9] = [
            (
                b"\x1f\x8b",
                "is compressed with gzip (decompress it first if it holds one)",
            ),
            (
                b"\x28\xb5\x2f\xfd",
                "is compressed with zstd (decompress it first if it holds one)",
            ),
            (
                b"BZh",
                "is compressed with bzip2 (decompress it first if it holds one)",
            ),
            (
                b"\xfd7zXZ",
                "is compressed with xz (decompress it first if it holds one)",
            ),
            (b"K2TAXDAT", "is the taxonomy of a Kraken 2 database"),
            (b"KMCP", "is a part of a KMC database"),
            (b"KMCS", "is a part of a KMC database"),
            (b">", "looks like a FASTA file"),
            (b"@", "looks like a FASTQ file"),
        ];
        if let Some(own) = what_it_is(bytes) {
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
                self.magic.trim_ascii().escape_ascii()
            ),
        }
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

    const FORMAT: Container = Container {
        magic: *b"GYRASED\n",
        version: 1,
        header_bytes: 64,
        ending: ".gydb",
        verb: "build",
        makers: "",
    };

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
            assert!(FORMAT.foreign(bytes).contains(word), "{word}");
        }
    }
}
