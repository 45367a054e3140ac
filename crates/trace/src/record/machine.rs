//! What the system says of a thread, of this process and of its cores.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::time::{ClockId, clock_gettime};

/// So many nanoseconds without a core are worth a note of their own.
pub const LATE: u64 = 20_000_000;

/// Nanoseconds of processor time of the calling thread.
pub fn thread_cpu() -> u64 {
    clock(ClockId::ThreadCPUTime)
}

/// Nanoseconds of processor time of this process.
pub fn process_cpu() -> u64 {
    clock(ClockId::ProcessCPUTime)
}

fn clock(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How long the thread that opened it was ready to run and waited for a core. Kernels that keep no
/// such statistics say 0.
#[derive(Debug)]
pub struct RunQueue(Option<File>);

impl RunQueue {
    /// That of the calling thread.
    pub fn of_this_thread() -> RunQueue {
        RunQueue(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Nanoseconds so far.
    pub fn waited(&self) -> u64 {
        let mut text = [0; 96];
        let length = self.0.as_ref().map(|file| file.read_at(&mut text, 0));
        let text = &text[..length.and_then(Result::ok).unwrap_or(0)];
        let second = text.split(|byte| *byte == b' ').nth(1);
        let digits = second.and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }
}

/// How long the control groups of this process, and those above, kept it from its cores.
#[derive(Debug)]
pub struct Throttling(Vec<PathBuf>);

impl Throttling {
    /// Finds the control groups of either version.
    pub fn of_this_process() -> Throttling {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut files = Vec::new();
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, group) = (parts.next(), parts.next());
            let Some((controllers, group)) = controllers.zip(group) else {
                continue;
            };
            let roots: &[&str] = if controllers.is_empty() {
                &["/sys/fs/cgroup"]
            } else if controllers.split(',').any(|name| name == "cpu") {
                &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"]
            } else {
                continue;
            };
            let group = Path::new(group.trim_start_matches('/'));
            for (root, above) in roots
                .iter()
                .flat_map(|root| group.ancestors().map(move |above| (root, above)))
            {
                files.push(Path::new(root).join(above).join("cpu.stat"));
            }
        }
        files.retain(|file| file.is_file());
        Throttling(files)
    }

    /// Nanoseconds so far, of all cores.
    pub fn so_far(&self) -> u64 {
        let texts = self.0.iter().map(fs::read_to_string);
        texts
            .filter_map(Result::ok)
            .map(|text| throttled(&text))
            .sum()
    }
}

/// The nanoseconds that a `cpu.stat` tells of, in the words of either version.
fn throttled(text: &str) -> u64 {
    let number = |line: &str, name: &str, unit: u64| {
        let digits = line.strip_prefix(name)?.trim();
        Some(digits.parse::<u64>().ok()? * unit)
    };
    let of_line = |line: &str| {
        number(line, "throttled_usec ", 1000).or_else(|| number(line, "throttled_time ", 1))
    };
    text.lines().filter_map(of_line).sum()
}

/// What was used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Nanoseconds of processor time of this process.
    pub cpu: u64,
    /// Nanoseconds in which the cores that it may use were busy, with whatever.
    pub busy: u64,
    /// Nanoseconds for which control groups kept it from its cores.
    pub throttled: u64,
    /// Pages that had to be read from a disk before it could go on.
    pub faults: u64,
}

impl Usage {
    /// That of this process, which may use these cores.
    pub fn now(cores: &[usize], throttling: &Throttling) -> Usage {
        Usage {
            cpu: process_cpu(),
            busy: busy(&fs::read_to_string("/proc/stat").unwrap_or_default(), cores),
            throttled: throttling.so_far(),
            faults: faults(&fs::read_to_string("/proc/self/stat").unwrap_or_default()),
        }
    }

    /// What was used since then.
    pub fn since(self, then: Usage) -> Usage {
        Usage {
            cpu: self.cpu.saturating_sub(then.cpu),
            busy: self.busy.saturating_sub(then.busy),
            throttled: self.throttled.saturating_sub(then.throttled),
            faults: self.faults.saturating_sub(then.faults),
        }
    }
}

/// How nice this process is: 0 as usual, up to 19 for those that let all others go first.
pub fn nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// The busy time of these cores in a `/proc/stat`: all but idle and waiting for disks.
fn busy(text: &str, cores: &[usize]) -> u64 {
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let of_line = |line: &str| -> Option<u64> {
        let mut fields = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let core: usize = fields.next()?.parse().ok()?;
        let ticks: Vec<u64> = fields
            .map_while(|field| field.parse().ok())
            .take(8)
            .collect();
        let idle = ticks.get(3..5)?.iter().sum::<u64>();
        let all = ticks.iter().sum::<u64>();
        cores.contains(&core).then_some((all - idle) * tick)
    };
    text.lines()
        .filter(|line| !line.starts_with("cpu "))
        .filter_map(of_line)
        .sum()
}

/// The major faults in a `/proc/<pid>/stat`.
fn faults(text: &str) -> u64 {
    // The name, in parentheses, may hold anything.
    let fields = text.rsplit_once(')').map_or("", |parts| parts.1);
    let twelfth = fields.split_ascii_whitespace().nth(9);
    twelfth.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_kernel_are_understood() {
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 100 50 4 5 6 0 0\ncpu1 7 0 0 9 9 0 0 0 0 0\nintr 5\n";
        assert_eq!(busy(stat, &[0]), 21 * tick);
        assert_eq!(busy(stat, &[0, 1]), 28 * tick);
        assert_eq!(busy("", &[0]), 0);
        assert_eq!(
            faults("7 (a) b) S 1 7 7 0 -1 4194560 90 0 31 0 5 4 0 0"),
            31
        );
        assert_eq!(faults(""), 0);
        assert_eq!(throttled("nr_throttled 3\nthrottled_usec 5\n"), 5000);
        assert_eq!(throttled("nr_periods 9\nthrottled_time 77\n"), 77);
    }

    #[test]
    fn work_costs_processor_time() {
        let (cpu, queue) = (thread_cpu(), RunQueue::of_this_thread());
        let waited = queue.waited();
        let mut sum = 0u64;
        while thread_cpu() - cpu < 1_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(process_cpu() >= 1_000_000 && queue.waited() >= waited);
    }
}
