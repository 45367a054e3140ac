//! What systems differ in: how they tell of cores and memory. All else reads Linux's `/proc`, and
//! does without where there is none.

/// The cores that this process may use, by number; none where the system does not say.
#[cfg(target_os = "linux")]
pub fn core_numbers() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None);
    set.map_or_else(
        |_| Vec::new(),
        |set| {
            (0..CpuSet::MAX_CPU)
                .filter(|&core| set.is_set(core))
                .collect()
        },
    )
}

/// The cores that this process may use, by number; none where the system does not say.
#[cfg(not(target_os = "linux"))]
pub fn core_numbers() -> Vec<usize> {
    Vec::new()
}

/// Memory that can be had without swapping, in bytes.
#[cfg(target_os = "linux")]
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    kilobytes(&text, "MemAvailable:").or_else(|| kilobytes(&text, "MemTotal:"))
}

/// The memory of the machine, in bytes: how much of it is free it does not say.
#[cfg(target_os = "macos")]
pub fn available_memory() -> Option<u64> {
    let asked = std::process::Command::new("/usr/sbin/sysctl")
        .args(["-n", "hw.memsize"])
        .output()
        .ok()?;
    String::from_utf8(asked.stdout).ok()?.trim().parse().ok()
}

/// Nothing is known of other systems.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn available_memory() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_kernel_says() {
        assert_eq!(
            kilobytes("MemTotal: 5 kB\nMemAvailable:   3 kB\n", "MemAvailable:"),
            Some(3072)
        );
        assert!(available_memory() > Some(1 << 20));
    }

    #[test]
    fn some_core_may_be_used() {
        assert!(!core_numbers().is_empty());
    }
}
