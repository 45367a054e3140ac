//! The folder for temporary files, and shared memory.

use std::path::Path;

use gyrase_picture::words::bytes;
use rustix::fs::{statfs, statvfs};

use super::finding::Finding;
use crate::failure::Code;

/// Where processes of one machine share memory.
const SHARED: &str = "/dev/shm";
/// Less than this is too little for a few ranks: what containers give by default is 64 MiB.
const LITTLE_SHARED: u64 = 128 << 20;
/// Less free space than this is soon spilled.
const LITTLE_FREE: u64 = 10 << 30;

/// What a file system is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Local,
    Memory,
    Network,
}

/// File systems by the number that the system gives them.
const KINDS: [(u64, &str, Kind); 20] = [
    (0x0102_1994, "tmpfs", Kind::Memory),
    (0x8584_58f6, "ramfs", Kind::Memory),
    (0x6969, "NFS", Kind::Network),
    (0x0bd0_0bd0, "Lustre", Kind::Network),
    (0x4750_4653, "GPFS", Kind::Network),
    (0x1983_0326, "BeeGFS", Kind::Network),
    (0x00c3_6400, "CephFS", Kind::Network),
    (0xff53_4d42, "CIFS", Kind::Network),
    (0xfe53_4d42, "SMB", Kind::Network),
    (0x5346_414f, "AFS", Kind::Network),
    (0xaad7_aaea, "PanFS", Kind::Network),
    (0x2030_528d, "OrangeFS", Kind::Network),
    (0x0102_1997, "9p", Kind::Network),
    (0xef53, "ext4", Kind::Local),
    (0x5846_5342, "XFS", Kind::Local),
    (0x9123_683e, "Btrfs", Kind::Local),
    (0x2fc1_2fc1, "ZFS", Kind::Local),
    (0xf2f5_2010, "F2FS", Kind::Local),
    (0x794c_7630, "overlay", Kind::Local),
    (0x4d44, "FAT", Kind::Local),
];

/// The name and kind of the file system that `path` is on, where they are known.
pub fn kind(path: &Path) -> Option<(&'static str, Kind)> {
    named(statfs(path).ok()?.f_type as u64)
}

fn named(number: u64) -> Option<(&'static str, Kind)> {
    // Some systems extend the sign.
    let number = number & u64::from(u32::MAX);
    KINDS
        .iter()
        .find(|entry| entry.0 == number)
        .map(|entry| (entry.1, entry.2))
}

/// All and free bytes of the file system that `path` is on.
pub fn space(path: &Path) -> Option<(u64, u64)> {
    let space = statvfs(path).ok()?;
    Some((
        space.f_blocks * space.f_frsize,
        space.f_bavail * space.f_frsize,
    ))
}

/// `/dev/shm`, through which ranks on one machine talk.
pub fn shared_memory() -> Finding {
    judge_shared(space(Path::new(SHARED)))
}

fn judge_shared(space: Option<(u64, u64)>) -> Finding {
    let topic = "shared memory";
    let mend = "start containers with --shm-size=1g (Docker), or with the host's /dev/shm";
    match space {
        None => Finding::warning(
            topic,
            format!(
                "there is no {SHARED}, through which MPI's processes on one machine talk; {mend}"
            ),
        ),
        Some((all, free)) if free < LITTLE_SHARED => Finding::warning(
            topic,
            format!(
                "{} of {} free in {SHARED}: MPI with some ranks on one machine may fail or be slow; {mend}",
                bytes(free),
                bytes(all)
            ),
        ),
        Some((all, free)) => Finding::fine(
            topic,
            format!("{} of {} free in {SHARED}", bytes(free), bytes(all)),
        ),
    }
}

/// The folder for temporary files.
pub fn temporary(folder: &Path) -> Finding {
    let there = if folder.is_dir() {
        folder
    } else {
        folder.parent().unwrap_or(Path::new("."))
    };
    if let Err(error) = tempfile::tempfile_in(there) {
        let what = format!(
            "{} cannot be written: {error}; name another folder with --tmp",
            folder.display()
        );
        return Finding::broken("temporary files", Code::Output, what);
    }
    judge_temporary(
        &folder.display().to_string(),
        kind(there),
        space(there).map_or(0, |space| space.1),
    )
}

fn judge_temporary(folder: &str, kind: Option<(&'static str, Kind)>, free: u64) -> Finding {
    let topic = "temporary files";
    let on = kind.map_or(String::new(), |kind| format!(" on {}", kind.0));
    let have = format!("{} free in {folder}{on}", bytes(free));
    match kind {
        Some((_, Kind::Memory)) => Finding::warning(
            topic,
            format!(
                "{have}, which is memory: what is written there the run does not have; name a disk with --tmp"
            ),
        ),
        Some((_, Kind::Network)) => Finding::warning(
            topic,
            format!(
                "{have}, which is reached over a network; a local disk, named with --tmp, is faster for temporary files"
            ),
        ),
        _ if free < LITTLE_FREE => Finding::warning(
            topic,
            format!("{have}, which is little; name a folder with more room with --tmp"),
        ),
        _ => Finding::fine(topic, have),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn file_systems_have_names() {
        assert_eq!(named(0xef53), Some(("ext4", Kind::Local)));
        assert_eq!(named(0x0bd0_0bd0), Some(("Lustre", Kind::Network)));
        assert_eq!(named(0xffff_ffff_ff53_4d42), Some(("CIFS", Kind::Network)));
        assert_eq!(named(1), None);
        assert!(kind(Path::new("/proc/self/nowhere")).is_none());
    }

    #[test]
    fn places_are_judged_by_room_and_kind() {
        let judged = |kind, free| judge_temporary("/x", kind, free);
        let fine = judged(Some(("XFS", Kind::Local)), 1 << 40);
        assert!(
            fine.state == State::Fine && fine.sentence == "1.0 TiB free in /x on XFS",
            "{fine:?}"
        );
        assert!(
            judged(Some(("tmpfs", Kind::Memory)), 1 << 40)
                .sentence
                .contains("which is memory")
        );
        assert!(
            judged(Some(("NFS", Kind::Network)), 1 << 40)
                .sentence
                .contains("local disk")
        );
        assert_eq!(judged(None, 1 << 30).state, State::Warning);
        assert_eq!(judged(None, 1 << 40).state, State::Fine);
        let small = judge_shared(Some((64 << 20, 64 << 20)));
        assert!(
            small.state == State::Warning && small.sentence.contains("--shm-size"),
            "{small:?}"
        );
        assert_eq!(judge_shared(Some((8 << 30, 8 << 30))).state, State::Fine);
        assert_eq!(judge_shared(None).state, State::Warning);
        let nowhere = temporary(Path::new("/proc/self"));
        assert_eq!(nowhere.state, State::Broken(Code::Output));
    }
}
