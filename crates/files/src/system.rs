//! What systems differ in: the pages that a machine keeps of a file.

use std::fs::File;

/// The types of file systems of one machine as `statfs` tells them: ext2 to 4, XFS, Btrfs, tmpfs,
/// overlayfs, F2FS, ZFS.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 7] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x794c_7630,
    0xf2f5_2010,
    0x2fc1_2fc1,
];

/// Drops what this machine keeps of a file of a network file system, so that it is read again from
/// there; on file systems of one machine all who see the file share what is in its memory.
#[cfg(target_os = "linux")]
pub fn forget(file: &File) {
    use rustix::fs::{Advice, fadvise, fstatfs};
    let is_local = fstatfs(file).is_ok_and(|stat| LOCAL.contains(&(stat.f_type as u32)));
    if !is_local {
        // A system that refuses has only kept the pages.
        let _ = fadvise(file, 0, None, Advice::DontNeed);
    }
}

/// Drops nothing: only Linux is asked to.
#[cfg(not(target_os = "linux"))]
pub fn forget(_: &File) {}
