//! What a build leaves that was stopped after it had read everything, for a later one to go on
//! from.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_fabric::{FabricError, LocalPartitions, SpillFolder};
use gyrase_table::gydb::PARTITIONS;

use super::{BuildError, Config};
use crate::references::Numbers;
use crate::targets::Targets;
use gyrase_taxonomy::Taxonomy;

/// The file beside the spill files: what else of the references is needed.
const READ: &str = "read";

/// What an earlier run left for the same database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Earlier {
    /// Nothing that was asked for.
    #[default]
    Nothing,
    /// All that it had read: this run went on from there.
    TakenUp,
    /// What it had read of other references, or with other parameters: this run began anew.
    OfAnother,
}

/// What the run is about, in a line; `None` when it is not to be resumed, or cannot be: nothing
/// tells whether a pipe brings what it brought before.
pub(super) fn job(config: &Config, targets: &Targets, taxonomy: &Taxonomy) -> Option<String> {
    let resume = config.resume.as_ref()?;
    let (version, parameters) = (env!("CARGO_PKG_VERSION"), config.parameters);
    let [targets, taxonomy] =
        [targets.to_bytes(), taxonomy.to_bytes()].map(|bytes| crc32fast::hash(&bytes));
    let mut job = format!("gyrase build {version} {parameters:?} {targets} {taxonomy} {resume:?}");
    for file in &config.references {
        let there = file.metadata().ok().filter(fs::Metadata::is_file)?;
        job += &format!(" {file:?} {} {:?}", there.len(), there.modified().ok());
    }
    Some(job)
}

/// Notes in the folder what was read, before the manifest of the spill files makes it count.
pub(super) fn note(
    folder: &SpillFolder,
    partitions: &LocalPartitions,
    (targets, numbers): (&Targets, &Numbers),
    job: &str,
) -> Result<(), BuildError> {
    if !partitions.spilled() {
        return Ok(());
    }
    let numbers = numbers.to_bytes();
    let mut bytes = (numbers.len() as u64).to_le_bytes().to_vec();
    bytes.extend(numbers);
    bytes.extend(targets.to_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    let path = folder.path().join(READ);
    fs::write(&path, bytes).map_err(|source| FabricError::Spill { path, source })?;
    Ok(partitions.note(job)?)
}

/// What an earlier run noted for the same job; otherwise whatever it left is removed.
pub(super) fn reopen(
    folder: &Arc<SpillFolder>,
    job: &str,
) -> Result<(LocalPartitions, Targets, Numbers), Earlier> {
    // Spill files count only with their manifest.
    let left = folder.path().join(READ);
    let partitions = LocalPartitions::reopen(PARTITIONS, Arc::clone(folder), job);
    let reopened = partitions.and_then(|partitions| {
        let (targets, numbers) = read(&left)?;
        Some((partitions, targets, numbers))
    });
    reopened.ok_or_else(|| {
        let earlier = if left.exists() {
            Earlier::OfAnother
        } else {
            Earlier::Nothing
        };
        folder.remove();
        earlier
    })
}

fn read(path: &Path) -> Option<(Targets, Numbers)> {
    let bytes = fs::read(path).ok()?;
    let (body, checksum) = bytes.split_last_chunk()?;
    if u32::from_le_bytes(*checksum) != crc32fast::hash(body) {
        return None;
    }
    let (length, rest) = body.split_first_chunk()?;
    let (numbers, targets) =
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((
        Targets::from_bytes(targets).ok()?,
        Numbers::from_bytes(numbers)?,
    ))
}

/// A name for a folder that nobody else has, however many containers share `tmp` and number their
/// processes alike.
pub(super) fn unique(tmp: &Path) -> PathBuf {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(std::process::id());
    tmp.join(format!("gyrase-build-{random:016x}"))
}
