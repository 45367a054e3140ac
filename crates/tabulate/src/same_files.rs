//! Whether all processes of a job see the same files: a copy on a machine's own disk may be stale.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use gyrase_fabric::{FabricError, World};

use crate::TabulateError;

/// Bytes of a block that is looked at.
const BLOCK: u64 = 4096;
/// Blocks between the first and the last one of a file, at most.
const BETWEEN: u64 = 64;
/// The same of all files together, about, so that a shared file system hardly notices.
const ALTOGETHER: u64 = 4096;
/// Instead of a digest, where reading failed.
const UNREADABLE: u64 = u64::MAX;

/// Collective. Refuses files that are not the same in all processes, as far as a few blocks of
/// 4 KiB tell: the first, the last and up to 64 between them, evenly spaced. Of hundreds of files
/// fewer blocks are read, so that terabytes take no longer than megabytes. What is no file, such as
/// a pipe, is not looked at.
///
/// # Errors
/// [`TabulateError::Differs`], in all processes; or another process failed.
pub fn same_files<P: AsRef<Path>>(world: &dyn World, files: &[P]) -> Result<(), TabulateError> {
    if world.ranks() == 1 {
        return Ok(());
    }
    let between = (ALTOGETHER / files.len().max(1) as u64).min(BETWEEN);
    let digests: Vec<u64> = files
        .iter()
        .map(|file| digest(file.as_ref(), between).unwrap_or(UNREADABLE))
        .collect();
    if world.all_equal(&[of_all(&digests)])? {
        return Ok(());
    }
    different(files, &gathered(world, &digests)?).map_or(Ok(()), Err)
}

fn gathered(world: &dyn World, digests: &[u64]) -> Result<Vec<Vec<u64>>, FabricError> {
    let own: Vec<u8> = digests.iter().flat_map(|one| one.to_le_bytes()).collect();
    let numbers = |bytes: &Vec<u8>| {
        let numbers = bytes.as_chunks().0.iter();
        numbers.map(|&bytes| u64::from_le_bytes(bytes)).collect()
    };
    Ok(world.all_gather(&own)?.iter().map(numbers).collect())
}

/// What is wrong with the digests of all ranks. Of a file that one cannot read nothing: that rank
/// says so when it reads it.
fn different<P: AsRef<Path>>(files: &[P], of_ranks: &[Vec<u64>]) -> Option<TabulateError> {
    let differs = |(number, file): (usize, &P)| {
        let of_file: Vec<_> = of_ranks.iter().map(|all| all.get(number)).collect();
        let readable = !of_file.contains(&Some(&UNREADABLE));
        let (like, ranks) = odd_ones(of_file.into_iter()).filter(|_| readable)?;
        Some(TabulateError::Differs {
            path: file.as_ref().to_path_buf(),
            ranks,
            like,
        })
    };
    let found = files.iter().enumerate().find_map(differs);
    let as_many = of_ranks.iter().all(|all| all.len() == files.len());
    found.or((!as_many).then_some(TabulateError::OtherFiles))
}

/// What a file is known by. Whoever opens what is not there says more of it.
fn digest(path: &Path, between: u64) -> io::Result<u64> {
    let there = path.metadata().ok().filter(|there| there.is_file());
    match (there, File::open(path)) {
        (Some(there), Ok(file)) => sampled(&file, there.len(), between),
        _ => Ok(0),
    }
}

fn sampled(file: &File, bytes: u64, between: u64) -> io::Result<u64> {
    let mut digest = DefaultHasher::new();
    digest.write_u64(bytes);
    let mut block = [0; BLOCK as usize];
    for at in offsets(bytes, between) {
        let block = &mut block[..BLOCK.min(bytes - at) as usize];
        file.read_exact_at(block, at)?;
        digest.write(block);
    }
    Ok(digest.finish())
}

/// Where the blocks of a file begin; of a short one all.
fn offsets(bytes: u64, between: u64) -> Vec<u64> {
    let blocks = between + 2;
    if bytes <= blocks * BLOCK {
        return (0..bytes).step_by(BLOCK as usize).collect();
    }
    let room = u128::from(bytes - BLOCK);
    let at = |block: u64| (room * u128::from(block) / u128::from(blocks - 1)) as u64;
    (0..blocks).map(at).collect()
}

fn of_all(digests: &[u64]) -> u64 {
    let mut all = DefaultHasher::new();
    digests.iter().for_each(|&digest| all.write_u64(digest));
    all.finish()
}

/// The first of most ranks, and those that have something else; nothing where all are equal.
fn odd_ones<T: Ord>(of_ranks: impl Iterator<Item = T>) -> Option<(usize, Vec<usize>)> {
    let mut groups: BTreeMap<T, Vec<usize>> = BTreeMap::new();
    for (rank, of_rank) in of_ranks.enumerate() {
        groups.entry(of_rank).or_default().push(rank);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_by_key(|ranks| (std::cmp::Reverse(ranks.len()), ranks[0]));
    let most = groups.first()?[0];
    let mut others = groups.split_off(1).concat();
    others.sort_unstable();
    (!others.is_empty()).then_some((most, others))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use gyrase_fabric::{Steal, testing};

    use super::*;

    /// Writes a file of each rank, and compares them.
    fn compared(contents: &[Vec<u8>]) -> Vec<Result<(), String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = |rank: usize| -> PathBuf { folder.path().join(format!("{rank}.fq")) };
        for (rank, bytes) in contents.iter().enumerate() {
            std::fs::write(path(rank), bytes).unwrap();
        }
        testing::run(contents.len(), Steal::Off, |world| {
            let files = [folder.path().join("nowhere"), path(world.rank())];
            same_files(world, &files).map_err(|error| error.to_string())
        })
    }

    #[test]
    fn any_changed_byte_of_a_short_file_is_noticed() {
        let same = vec![b'A'; 3 * BLOCK as usize + 17];
        assert!(
            compared(&[same.clone(), same.clone()])
                .iter()
                .all(Result::is_ok)
        );
        for at in [0, 4095, 4096, 9000, same.len() - 1] {
            let mut other = same.clone();
            other[at] = b'C';
            let told = compared(&[same.clone(), other, same.clone()]);
            for (rank, told) in told.into_iter().enumerate() {
                let told = told.unwrap_err();
                let file = format!("{rank}.fq is not the same on rank 1 as on rank 0:");
                assert!(told.contains(&file), "{told}");
            }
        }
    }

    #[test]
    fn the_ends_of_a_long_file_and_blocks_between_are_looked_at() {
        let bytes = 10_000_000_000_000;
        let offsets = offsets(bytes, BETWEEN);
        assert_eq!((offsets[0], offsets[65]), (0, bytes - BLOCK));
        assert_eq!(offsets.len(), 66);
        let steps: Vec<u64> = offsets.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(steps.iter().max().unwrap() - steps.iter().min().unwrap() <= 1);
        assert_eq!(super::offsets(0, BETWEEN), []);
        assert_eq!(super::offsets(BLOCK * 66, BETWEEN).len(), 66);
    }

    #[test]
    fn lengths_and_missing_files_differ_too() {
        let told = compared(&[vec![b'A'; 10], vec![b'A'; 11]]);
        assert!(told.iter().all(Result::is_err));
        let told = testing::run(2, Steal::Off, |world| {
            let files = vec!["x.fq"; 1 + world.rank()];
            same_files(world, &files).map_err(|error| error.to_string())
        });
        assert!(told.iter().all(Result::is_err), "{told:?}");
    }

    #[test]
    fn the_ranks_that_differ_from_most_are_named() {
        let odd = |of_ranks: &[u8]| odd_ones(of_ranks.iter());
        assert_eq!(odd(&[1, 1, 1]), None);
        assert_eq!(odd(&[1, 2]), Some((0, vec![1])));
        assert_eq!(odd(&[9, 2, 2, 7]), Some((1, vec![0, 3])));
    }
}
