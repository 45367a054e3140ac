//! What the machine and its control group give a process (cores, memory, open files), and what it
//! took.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::system;
pub use crate::system::core_numbers;

/// Cores that this process may use: affinity and control group included.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Cores for each of so many processes that a launcher started on this machine: those that it is
/// bound to, or its part of those that the launcher may use.
pub fn cores_each(processes: usize) -> usize {
    let (own, bound) = (cores(), affinity("/proc/self/status"));
    let allotted = std::env::var("SLURM_CPUS_ON_NODE")
        .ok()
        .and_then(|cores| cores.parse().ok());
    let launcher = || {
        affinity(&format!(
            "/proc/{}/status",
            rustix::process::getppid()?.as_raw_nonzero()
        ))
    };
    let all = allotted.or_else(launcher).unwrap_or(own);
    // A quota of the control group is for all of its processes together.
    let all = if bound > Some(own) { all.min(own) } else { all };
    own.min(all / processes.max(1)).max(1)
}

/// Cores that a process may run on.
pub fn affinity(status: &str) -> Option<usize> {
    let status = std::fs::read_to_string(status).ok()?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    listed(list.trim())
}

/// How many numbers a list such as `0-3,8` has.
pub fn listed(list: &str) -> Option<usize> {
    list.split(',').try_fold(0, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + (last + 1).checked_sub(first)?)
    })
}

/// Bytes of memory that a run can count on: the smallest of what is available on the machine, the
/// control group's limit and the limit on address space (`ulimit -v`).
pub fn memory() -> u64 {
    let limits = [system::available_memory(), control_group(), address_space()];
    limits.into_iter().flatten().min().unwrap_or(4 << 30)
}

/// The limit on address space, less what the program and its threads' stacks map without touching
/// it.
pub fn address_space() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    Some(limit.saturating_sub(limit / 4))
}

/// The smallest limit on the way from this process's control group to the root, in version 1 or 2.
pub fn control_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().filter_map(group_limit).min()
}

/// The limit that one line of `/proc/self/cgroup` (`id:controllers:path`) leads to.
fn group_limit(line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        list if list.split(',').any(|name| name == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let group = Path::new(root).join(path.trim_start_matches('/'));
    let limits = group
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(|folder| folder.join(file));
    limits.filter_map(read_limit).min()
}

fn read_limit(path: PathBuf) -> Option<u64> {
    // "max", and version 1's huge number, mean no limit.
    let limit: u64 = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
    (limit < 1 << 60).then_some(limit)
}

/// The largest resident memory of this process so far, in bytes, never less than it was told
/// before; 0 where the system does not say.
pub fn peak_memory() -> u64 {
    // The system counts the pages of each core apart and adds them up now and then: what it says
    // may fall a little.
    static TOLD: AtomicU64 = AtomicU64::new(0);
    let peak = peak_by_the_system();
    TOLD.fetch_max(peak, Relaxed).max(peak)
}

fn peak_by_the_system() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix(" kB")?
            .parse()
            .ok()
    });
    peak.map_or(0, |kilobytes: u64| kilobytes << 10)
}

/// True when whoever started this process made it ignore a signal, as `nohup` does.
pub fn ignores(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Raises the number of files that may be open to what the system lets us have.
pub fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // A refusal changes nothing: the run then stays within the lower limit.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_memory_never_falls() {
        let mut before = 0;
        for round in 0..64 {
            let taken = vec![1u8; (64 - round) << 16];
            let with = peak_memory();
            drop(std::hint::black_box(taken));
            let without = peak_memory();
            assert!(
                before <= with && with <= without,
                "{before} {with} {without}"
            );
            before = without;
        }
        assert!(before > 0);
    }

    #[test]
    fn reads_the_kernel() {
        assert!(memory() > 1 << 20 && cores() >= 1);
        assert_eq!(group_limit("3:cpu,cpuacct:/x"), None);
        assert_eq!(group_limit("nonsense"), None);
        assert_eq!(
            (listed("0-3,8,10-11"), listed("5"), listed("x")),
            (Some(7), Some(1), None)
        );
        assert!(affinity("/proc/self/status") >= Some(1));
        assert!(cores_each(1) <= cores() && cores_each(1000) == 1);
    }
}
