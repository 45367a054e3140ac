//! Archives that have the same bytes whenever and wherever they are packed, and their checksums.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

use crate::Result;

/// A file of an archive.
#[derive(Clone)]
pub struct Entry {
    name: String,
    bytes: Vec<u8>,
    mode: u32,
}

impl Entry {
    /// A file with this text.
    pub fn text(name: &str, text: String) -> Entry {
        Entry {
            name: name.to_string(),
            bytes: text.into_bytes(),
            mode: 0o644,
        }
    }

    /// A file as it lies at `path`.
    pub fn of_file(name: &str, path: &Path) -> Result<Entry> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Entry {
            name: name.to_string(),
            bytes,
            mode: 0o644,
        })
    }

    /// A program that lies at `path`.
    pub fn program(name: &str, path: &Path) -> Result<Entry> {
        Ok(Entry {
            mode: 0o755,
            ..Entry::of_file(name, path)?
        })
    }
}

/// Writes the entries, below a folder named `stem`, to a `.tar.gz` at `path`.
pub fn write(path: &Path, stem: &str, entries: &[Entry]) -> Result<()> {
    let packed = || -> std::io::Result<()> {
        let mut archive = Builder::new(GzEncoder::new(File::create(path)?, Compression::best()));
        for entry in entries {
            let mut header = Header::new_gnu();
            header.set_size(entry.bytes.len() as u64);
            header.set_mode(entry.mode);
            archive.append_data(
                &mut header,
                format!("{stem}/{}", entry.name),
                entry.bytes.as_slice(),
            )?;
        }
        archive.into_inner()?.finish()?.sync_all()
    };
    packed().map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes `SHA256SUMS` of the files of these names, as `sha256sum -c` reads it.
pub fn checksums(folder: &Path, names: &[String]) -> Result<()> {
    let place = folder.join("SHA256SUMS");
    let mut sums = String::new();
    for name in names {
        sums += &format!("{}  {name}\n", sum_of(&folder.join(name))?);
    }
    std::fs::write(&place, sums).map_err(|error| format!("{}: {error}", place.display()))
}

/// The SHA-256 of a file.
pub fn sum_of(path: &Path) -> Result<String> {
    let output = Command::new("sha256sum").arg("--").arg(path).output();
    let output = output.map_err(|error| format!("sha256sum could not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.split_once(' ') {
        Some((sum, _)) if output.status.success() => Ok(sum.to_string()),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_the_same_bytes_twice() {
        let folder = std::env::temp_dir().join(format!("gyrase-archive-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let entries = [Entry::text("share/x", "words\n".into())];
        let bytes = ["a.tar.gz", "b.tar.gz"].map(|name| {
            write(&folder.join(name), "gyrase-0", &entries).expect("it is written");
            std::fs::read(folder.join(name)).expect("it is there")
        });
        std::fs::remove_dir_all(&folder).expect("it is ours");
        assert_eq!(bytes[0], bytes[1]);
        assert!(!bytes[0].is_empty());
    }
}
