//! How long bytes take to another machine.

use std::time::{Duration, Instant};

use gyrase_work::Progress;

use crate::error::TransferError;
use crate::send::{Sending, connect};
use crate::wire::PROBE;

/// Bytes that TCP sends before the first answer: ten packets of Ethernet (RFC 6928).
const FIRST_BYTES: f64 = 14_600.0;
/// Ways there and back before the first byte of a file is sent, and behind the last: of TCP, of
/// TLS, of what is offered, of the last word.
const ROUND_TRIPS: f64 = 4.0;
/// Bytes of the first probe, and of the largest.
const PROBES: [u32; 2] = [1 << 14, 1 << 26];
/// A probe that takes longer is long enough.
const LONG: Duration = Duration::from_secs(1);
/// Probes without bytes; the fastest tells the delay.
const EMPTY_PROBES: usize = 3;

/// What is known of a way between two machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes that pass in a second.
    pub bandwidth: f64,
    /// Seconds there and back.
    pub round_trip: f64,
}

impl Link {
    /// About how many seconds [`crate::send`] takes for so many bytes. Round trips are added: TCP
    /// sends twice as much with each until the way is full.
    pub fn seconds(&self, bytes: u64) -> f64 {
        let full = (self.bandwidth * self.round_trip).min(bytes as f64);
        let doublings = (full / FIRST_BYTES).max(1.0).log2();
        self.round_trip * (ROUND_TRIPS + doublings) + bytes as f64 / self.bandwidth
    }
}

/// Measures the way to a receiver: it takes some seconds.
///
/// # Errors
/// Those of [`crate::send`], but for those of files.
pub fn probe(config: &Sending, progress: &Progress) -> Result<Link, TransferError> {
    progress.start("probe", 0);
    let mut line = connect(config, progress)?;
    line.place = "in a probe".into();
    let mut once = |bytes: u32| {
        let start = Instant::now();
        line.write(&[&[PROBE], &bytes.to_le_bytes()[..], &vec![0; bytes as usize]].concat())?;
        line.flush()?;
        line.read_word()?;
        Ok::<_, TransferError>(start.elapsed())
    };
    let mut round_trip = Duration::MAX;
    for _ in 0..EMPTY_PROBES {
        round_trip = round_trip.min(once(0)?);
    }
    let mut bytes = PROBES[0];
    loop {
        let taken = once(bytes)?;
        if taken >= LONG || bytes >= PROBES[1] {
            let passing = taken
                .saturating_sub(round_trip)
                .max(Duration::from_micros(1));
            return Ok(Link {
                bandwidth: f64::from(bytes) / passing.as_secs_f64(),
                round_trip: round_trip.as_secs_f64(),
            });
        }
        bytes *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_those_of_round_trips_and_of_bytes() {
        let near = Link {
            bandwidth: 1e6,
            round_trip: 0.0,
        };
        assert_eq!(near.seconds(5_000_000), 5.0);
        let far = Link {
            round_trip: 0.1,
            ..near
        };
        assert_eq!(far.seconds(0), 0.4);
        assert!(far.seconds(5_000_000) > 5.4 && far.seconds(5_000_000) < 6.0);
    }
}
