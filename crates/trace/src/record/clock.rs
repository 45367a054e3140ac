//! Clocks of ranks: compared at the start of a job, and once more at its end.

/// How times of a process become times of the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// Nanoseconds to add to times of its start.
    pub shift: u64,
    /// Nanoseconds by which its clock ran ahead since then.
    pub gained: i64,
    /// Nanoseconds in which it did.
    pub over: u64,
}

/// When a process entered a collective and when it left it, in nanoseconds of its clock.
pub type Stay = (i64, i64);

impl Alignment {
    /// A clock that runs as fast as the first one.
    pub fn steady(shift: u64) -> Alignment {
        Alignment {
            shift,
            ..Alignment::default()
        }
    }

    /// A time of the process as one of the first: what its clock gained, it gained evenly.
    pub fn time(self, own: u64) -> u64 {
        let gained = i128::from(self.gained) * i128::from(own) / i128::from(self.over.max(1));
        let time = i128::from(own) + i128::from(self.shift) - gained;
        u64::try_from(time.max(0)).unwrap_or(u64::MAX)
    }
}

/// Nanoseconds that a clock gained on the first process's since it was `ahead` of it, as far as the
/// stays of both in the same collectives prove it.
///
/// Nobody leaves a collective before all have entered it. So each says how far ahead the clock is
/// at least, and at most.
pub fn gained(ahead: i64, own: &[Stay], first: &[Stay]) -> i64 {
    let pairs = || own.iter().zip(first);
    let least = pairs().map(|(own, first)| own.0 - first.1).max();
    let most = pairs().map(|(own, first)| own.1 - first.0).min();
    match least.zip(most) {
        Some((least, most)) if least <= most => ahead.clamp(least, most) - ahead,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_clock_gained_is_taken_from_its_times() {
        let steady = Alignment::steady(7);
        assert_eq!([steady.time(0), steady.time(100)], [7, 107]);
        let quick = Alignment {
            gained: 10,
            over: 100,
            ..steady
        };
        assert_eq!(
            [0, 50, 100, 200].map(|own| quick.time(own)),
            [7, 52, 97, 187]
        );
        let slow = Alignment {
            gained: -10,
            ..quick
        };
        assert_eq!(slow.time(100), 117);
    }

    #[test]
    fn only_what_is_proven_counts() {
        // The clock is 1000 ahead; collectives take 20 to 60.
        let first = [(0, 40), (100, 120), (200, 260)];
        let own = first.map(|(entered, left)| (entered + 1010, left + 1000));
        assert_eq!(gained(1000, &own, &first), 0);
        assert_eq!(gained(1015, &own, &first), 0);
        assert_eq!(gained(900, &own, &first), 90);
        assert_eq!(gained(1100, &own, &first), -80);
        assert_eq!(gained(5, &[], &[]), 0);
    }
}
