//! Reading a taxonomy from dumps, archives of them and tables, each known by its content.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::error::TaxonomyError;
use crate::lines::{Lines, TAXONOMY};
use crate::map::TaxonMap;
use crate::source::TaxonomySource;
use crate::{dump, lines, table};

/// Where an archive says that it is one.
const TAR_MARK: std::ops::Range<usize> = 257..262;

/// Reads a taxonomy, known by its content:
///
/// * a folder with `nodes.dmp`, `names.dmp` and, where they are there, `merged.dmp` and
///   `delnodes.dmp`, each compressed or not, or with `taxdump.tar.gz`;
/// * the archive itself, or any other archive of these files;
/// * a table in GTDB's form: `accession<TAB>d__Bacteria;p__...;s__...`, with any further columns
///   after these;
/// * a table whose first line names its columns: an id, and ranks from high to low; where there is
///   one, `taxid` is of the lowest taxon, which may have a `name` and a `rank` of its own below the
///   last of the ranks.
///
/// Taxa without a taxid get one that depends on their lineage alone, as `docs/formats.md` says.
///
/// # Errors
/// What cannot be read or is no tree, with file and line.
pub fn read(path: &Path) -> Result<TaxonomySource, TaxonomyError> {
    if path.is_dir() {
        return Ok(TaxonomySource {
            taxonomy: dump::read_folder(path)?,
            map: TaxonMap::default(),
        });
    }
    let mut text = lines::open(path, TAXONOMY)?;
    let head = head(&mut text).map_err(|source| TaxonomyError::reading(path, source))?;
    let is_archive = head.get(TAR_MARK).is_some_and(|mark| mark == b"ustar");
    let whole = Cursor::new(head).chain(text);
    if is_archive {
        return Ok(TaxonomySource {
            taxonomy: dump::read_archive(whole, path)?,
            map: TaxonMap::default(),
        });
    }
    table::read(&mut Lines::new(whole, path, None))
}

/// The files that [`read`] takes a taxonomy from: `path`, or those of the folder `path`.
pub fn files(path: &Path) -> Vec<PathBuf> {
    match path.is_dir() {
        true => dump::files_of(path),
        false => vec![path.to_path_buf()],
    }
}

fn head(text: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    text.take(TAR_MARK.end as u64).read_to_end(&mut head)?;
    Ok(head)
}
