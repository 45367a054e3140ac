//! What the system lets a process have: memory, locked memory, open files.

use gyrase_picture::words::{bytes, grouped};
use gyrase_work::machine;
use rustix::process::{Resource, getrlimit};

use super::finding::Finding;

/// Less than this is too little for counting on two threads.
const LITTLE: u64 = 512 << 20;
/// Fewer open files than this are too few for many inputs and spill files.
const FEW: u64 = 1024;
/// Networks between machines register buffers in locked memory: ours take up to two thirds of this,
/// and MPI has its own.
const LOCKED: u64 = 256 << 20;

/// Memory that a run can count on.
pub fn memory() -> Finding {
    judge_memory(
        machine::memory(),
        machine::control_group(),
        machine::address_space(),
    )
}

fn judge_memory(usable: u64, group: Option<u64>, address: Option<u64>) -> Finding {
    let cause = match () {
        () if group == Some(usable) => ", all that the control group (container, batch job) allows",
        () if address == Some(usable) => ", all that the limit on address space (ulimit -v) allows",
        () => "",
    };
    let have = format!(
        "{} can be had{cause}; a run takes up to 80 % of it unless --memory says otherwise",
        bytes(usable)
    );
    if usable < LITTLE {
        return Finding::warning("memory", format!("{have}; that is little: ask for more"));
    }
    Finding::fine("memory", have)
}

/// Locked memory, which InfiniBand and its kind need.
pub fn locked() -> Finding {
    judge_locked(getrlimit(Resource::Memlock).current)
}

fn judge_locked(limit: Option<u64>) -> Finding {
    let topic = "locked memory";
    match limit {
        None => Finding::fine(topic, "without limit"),
        Some(limit) if limit >= LOCKED => Finding::fine(topic, format!("up to {}", bytes(limit))),
        Some(limit) => Finding::fine(
            topic,
            format!(
                "up to {}: enough on one machine; on several, MPI over InfiniBand or the like \
                 wants `ulimit -l unlimited`",
                bytes(limit)
            ),
        ),
    }
}

/// Files that may be open at once.
pub fn files() -> Finding {
    judge_files(getrlimit(Resource::Nofile).current)
}

fn judge_files(limit: Option<u64>) -> Finding {
    let topic = "open files";
    match limit {
        Some(limit) if limit < FEW => Finding::warning(
            topic,
            format!(
                "{} at once, which many inputs and temporary files may exceed; raise it with \
                 `ulimit -Hn`",
                grouped(limit)
            ),
        ),
        Some(limit) => Finding::fine(topic, format!("{} at once", grouped(limit))),
        None => Finding::fine(topic, "without limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn limits_are_named() {
        let group = judge_memory(4 << 30, Some(4 << 30), None);
        assert!(
            group.state == State::Fine
                && group
                    .sentence
                    .contains("4.0 GiB can be had, all that the control group")
        );
        let address = judge_memory(100 << 20, None, Some(100 << 20));
        assert!(
            address.state == State::Warning && address.sentence.contains("ulimit -v"),
            "{address:?}"
        );
        assert!(
            judge_memory(1 << 40, Some(1 << 41), None)
                .sentence
                .starts_with("1.0 TiB can be had; ")
        );
        assert_eq!(judge_files(Some(256)).state, State::Warning);
        assert_eq!(judge_files(Some(1 << 20)).sentence, "1,048,576 at once");
        assert_eq!(judge_files(None).state, State::Fine);
        assert!(judge_locked(Some(8 << 20)).sentence.contains("ulimit -l"));
        assert_eq!(judge_locked(None).sentence, "without limit");
    }
}
