//! What systems differ in: the pages that a machine keeps of a file, and which files a process may
//! open.

use std::fs::File;
use std::path::PathBuf;

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

/// What a thread, and those that it starts from now on, may open.
#[derive(Clone, Debug, Default)]
pub struct Confinement {
    /// Files and folders that may be read.
    pub read: Vec<PathBuf>,
    /// Folders in which anything may be done.
    pub write: Vec<PathBuf>,
    /// Ports of TCP that may be reached, on any machine.
    pub reach: Vec<u16>,
}

impl Confinement {
    /// Keeps this thread, and those that it starts from now on, from every other file, from
    /// reaching any other port of TCP, and from opening one. False where the kernel cannot, which
    /// changes nothing then (Landlock: <https://docs.kernel.org/userspace-api/landlock.html>).
    ///
    /// # Errors
    /// The kernel can, and refuses.
    #[cfg(target_os = "linux")]
    pub fn enforce(&self) -> std::io::Result<bool> {
        use landlock::{
            ABI, Access, AccessFs, AccessNet, NetPort, Ruleset, RulesetAttr, RulesetCreatedAttr,
            RulesetError, RulesetStatus, path_beneath_rules,
        };
        // What newer kernels know beside is left out where this one does not.
        const KNOWN: ABI = ABI::V5;
        let reach = |&port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp));
        let enforced = || -> Result<RulesetStatus, RulesetError> {
            let rules = Ruleset::default()
                .handle_access(AccessFs::from_all(KNOWN))?
                .handle_access(AccessNet::from_all(KNOWN))?
                .create()?
                .add_rules(path_beneath_rules(&self.read, AccessFs::from_read(KNOWN)))?
                .add_rules(path_beneath_rules(&self.write, AccessFs::from_all(KNOWN)))?
                .add_rules(self.reach.iter().map(reach))?;
            Ok(rules.restrict_self()?.ruleset)
        };
        let status = enforced().map_err(std::io::Error::other)?;
        Ok(status != RulesetStatus::NotEnforced)
    }

    /// Does nothing: only Linux can.
    #[cfg(not(target_os = "linux"))]
    pub fn enforce(&self) -> std::io::Result<bool> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_thread_opens_what_it_may_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "other"].map(|name| folder.path().join(name));
        for path in [&own, &other] {
            std::fs::create_dir(path).unwrap();
            std::fs::write(path.join("file"), "text").unwrap();
        }
        let read = other.join("file");
        let more = folder.path().join("more");
        std::fs::write(&more, "text").unwrap();
        let [listener, closed] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [port, other_port] = [&listener, &closed].map(|own| own.local_addr().unwrap().port());
        let confined = std::thread::spawn(move || {
            let confinement = Confinement {
                read: vec![read.clone()],
                write: vec![own.clone()],
                reach: vec![port],
            };
            if !confinement.enforce().unwrap() {
                return false;
            }
            assert!(File::open(&read).is_ok() && File::options().write(true).open(&read).is_err());
            assert!(File::create(own.join("new")).is_ok());
            assert!(File::open(&more).is_err());
            assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
            if let Err(error) = TcpStream::connect(("127.0.0.1", other_port)) {
                assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            } else {
                eprintln!("this kernel keeps nobody from ports");
            }
            // What it starts is kept from the same.
            std::thread::spawn(move || File::open(more).is_err())
                .join()
                .unwrap()
        });
        let confined = confined.join().unwrap();
        assert!(File::open(folder.path().join("more")).is_ok());
        if !confined {
            eprintln!("this kernel has no Landlock");
        }
    }
}
