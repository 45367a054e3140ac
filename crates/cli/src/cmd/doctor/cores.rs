//! Cores, and what they can do.

use std::fs::read_to_string;

use gyrase_kmer::Kernels;
use gyrase_picture::words::things;
use gyrase_work::machine::{self, listed};

use super::finding::Finding;

/// Which kernels run.
pub fn kernels() -> Finding {
    let (used, topic) = (Kernels::detect(), "instructions");
    if used != Kernels::Scalar {
        let name = format!("{used:?}").to_uppercase();
        Finding::fine(topic, format!("the {name} kernels are used"))
    } else if cfg!(target_arch = "x86_64") {
        Finding::warning(
            topic,
            "this processor has no AVX2, or a virtual machine hides it; portable code runs, a few \
             times slower",
        )
    } else {
        Finding::fine(
            topic,
            "portable code runs; there are faster kernels for x86-64 only",
        )
    }
}

/// How many cores this process may use, and what keeps it from more.
pub fn cores() -> Finding {
    let list = |path: &str| {
        read_to_string(path)
            .ok()
            .and_then(|text| listed(text.trim()))
    };
    judge(
        machine::cores(),
        machine::affinity("/proc/self/status"),
        list("/sys/devices/system/cpu/online"),
    )
}

fn judge(usable: usize, bound: Option<usize>, online: Option<usize>) -> Finding {
    let topic = "cores";
    let (online, bound) = (
        online.unwrap_or(usable).max(usable),
        bound.unwrap_or(usable).max(usable),
    );
    let have = format!("{usable} of {} may be used", things(online as u64, "core"));
    if bound < online {
        let how = "with MPI, ask for more cores a task, or `mpirun --bind-to none`";
        return Finding::warning(
            topic,
            format!("{have}: this process is bound to {bound}; {how}"),
        );
    }
    if usable < bound {
        return Finding::warning(
            topic,
            format!("{have}: the control group (container, batch job) allows no more"),
        );
    }
    Finding::fine(topic, have)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(listed("0"), Some(1));
        assert_eq!(listed("0-3,8,10-11"), Some(7));
        assert_eq!(listed(""), None);
        assert_eq!(listed("3-1"), None);
    }

    #[test]
    fn says_what_keeps_cores_away() {
        let fine = judge(8, Some(8), Some(8));
        assert!(
            fine.state == State::Fine && fine.sentence == "8 of 8 cores may be used",
            "{fine:?}"
        );
        let bound = judge(1, Some(1), Some(64));
        assert!(
            bound.state == State::Warning && bound.sentence.contains("--bind-to none"),
            "{bound:?}"
        );
        let group = judge(4, Some(64), Some(64));
        assert!(
            group.state == State::Warning && group.sentence.contains("control group"),
            "{group:?}"
        );
        assert_eq!(judge(2, None, None).state, State::Fine);
    }
}
