//! What a build leaves that was stopped after it had read everything, for a later one to go on
//! from.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_fabric::{FabricError, LocalPartitions, Place, SpillFolder, World};
use gyrase_table::gydb::PARTITIONS;

use super::config::Config;
use super::earlier::Earlier;
use super::error::BuildError;
use super::records::Read;
use crate::bytes::{Reader, put_section};
use crate::references::Numbers;
use crate::targets::Targets;
use gyrase_taxonomy::Taxonomy;

/// The file beside the spill files: what else of the references is needed.
const READ: &str = "read";

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

/// Notes in the folder of each process what was read, before the manifest of the spill files makes
/// it count. Where one process has spilled, all do: a later run goes on from what all have on disk.
///
/// Collective.
pub(super) fn note(
    world: &dyn World,
    folder: &SpillFolder,
    (partitions, targets, numbers): &mut Read,
    job: &str,
) -> Result<(), BuildError> {
    let own = match world.rank() {
        0 => RandomState::new().hash_one(job) | 1,
        _ => 0,
    };
    let &[spilled, token] = &world.max(&[u64::from(partitions.spilled()), own])?[..] else {
        unreachable!("two numbers were compared")
    };
    if spilled == 0 {
        return Ok(());
    }
    if !partitions.spilled() {
        partitions.spill()?;
    }
    let numbers = numbers.to_bytes();
    let mut bytes = token.to_le_bytes().to_vec();
    put_section(&mut bytes, &numbers);
    put_section(&mut bytes, &targets.to_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    let path = folder.path().join(READ);
    fs::write(&path, bytes).map_err(|source| FabricError::Spill {
        path,
        source: source.into(),
    })?;
    Ok(partitions.note(job)?)
}

/// What as many processes noted in an earlier run of the same job, if all of them find what they
/// noted in one run; otherwise whatever is left in the folder `root` of all of them is removed.
///
/// Collective.
pub(super) fn reopen(
    world: &dyn World,
    folder: &Arc<SpillFolder>,
    root: &Path,
    job: &str,
) -> Result<Result<Read, Earlier>, FabricError> {
    // Spill files count only with their manifest.
    let left = folder.path().join(READ);
    let was_there = left.exists();
    let place = Place::among(PARTITIONS, world.peer());
    let partitions = LocalPartitions::reopen_own(place, Arc::clone(folder), job);
    let found = partitions.and_then(|partitions| {
        let (token, targets, numbers) = read(&left)?;
        Some((token, (partitions, targets, numbers)))
    });
    // No run has the token 0.
    let token = found.as_ref().map_or(0, |found| found.0);
    let of_one_run = world.all_equal(&[token])?;
    if let Some((_, read)) = found.filter(|_| of_one_run) {
        return Ok(Ok(read));
    }
    let _ = fs::remove_dir_all(root);
    // Nobody spills before all have removed what they found.
    Ok(Err(match world.max(&[u64::from(was_there)])?[0] {
        0 => Earlier::Nothing,
        _ => Earlier::OfAnother,
    }))
}

fn read(path: &Path) -> Option<(u64, Targets, Numbers)> {
    let bytes = fs::read(path).ok()?;
    let (body, checksum) = bytes.split_last_chunk()?;
    if u32::from_le_bytes(*checksum) != crc32fast::hash(body) {
        return None;
    }
    let mut reader = Reader::new(body);
    let (token, numbers, targets) = (reader.u64()?, reader.section()?, reader.section()?);
    Some((
        token,
        Targets::from_bytes(targets).ok()?,
        Numbers::from_bytes(numbers)?,
    ))
}

/// A name for a folder that nobody else has, however many containers share `tmp` and number their
/// processes alike.
pub(super) fn unique(tmp: &Path) -> PathBuf {
    let random = RandomState::new().hash_one(std::process::id());
    tmp.join(format!("gyrase-build-{random:016x}"))
}
