//! Time in which this process ran.

use std::time::{Duration, Instant};

/// Of a longer time between two looks only this counts: the process was stopped, or the machine.
const MOST: Duration = Duration::from_secs(1);

/// Time that passes while the process runs: a pause of it, or of the machine, counts little.
pub(crate) struct Awake {
    passed: Duration,
    looked: Instant,
}

impl Awake {
    /// From now on.
    pub(crate) fn new() -> Awake {
        Awake {
            passed: Duration::ZERO,
            looked: Instant::now(),
        }
    }

    /// How long it is since it was made, if this is asked often.
    pub(crate) fn passed(&mut self) -> Duration {
        self.passed += self.looked.elapsed().min(MOST);
        self.looked = Instant::now();
        self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_counts_little() {
        let mut awake = Awake::new();
        awake.looked -= Duration::from_secs(100);
        let passed = awake.passed();
        assert!((MOST..2 * MOST).contains(&passed), "{passed:?}");
        assert!(awake.passed() >= passed);
    }
}
