//! What makes a run slow, and who.
//!
//! Time that one rank loses by itself (to the system, to files) beyond what the others lose makes
//! these wait. So such losses come first: those that all ranks share, and what one rank has beyond
//! the rest. Unequal work is next. Only waiting that neither explains is the network's.

mod finding;
mod losses;
mod processor;
mod words;
mod work;

use std::mem::discriminant;

pub use finding::{Cause, Finding, Who};

use super::file::Trace;
use super::sums::RunProfile;

use losses::Losses;

/// A share of the time below which nothing is worth a sentence.
pub const NOTABLE: f64 = 0.1;

/// What takes a tenth of the run or more, most first.
pub fn causes(trace: &Trace, profile: &RunProfile) -> Vec<Finding> {
    let losses = Losses::of(profile);
    let mut found = losses.local(trace, profile);
    for finding in work::unequal_and_waits(trace, profile, &losses) {
        let same = found.iter_mut().find(|other| {
            discriminant(&other.cause) == discriminant(&finding.cause) && other.who == finding.who
        });
        match same {
            Some(other) => {
                other.seconds += finding.seconds;
                other.share += finding.share;
            }
            None => found.push(finding),
        }
    }
    found.retain(|finding| finding.share >= NOTABLE);
    found.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    found
}
