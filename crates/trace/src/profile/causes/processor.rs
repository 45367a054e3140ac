//! Why threads that had something to compute had no core.

use super::super::file::{Trace, Used};
use super::super::sums::RunProfile;
use super::finding::Cause;

/// Of the time without a core, so much throttling explains it.
const THROTTLED: f64 = 0.3;
/// Other programs count from so much of the cores on.
const OTHERS: f64 = 0.15;
/// A page from a disk takes about so many seconds.
const FAULT: f64 = 1e-4;

/// Why some ranks had no core for so many seconds.
pub fn cause(trace: &Trace, profile: &RunProfile, ranks: &[usize], seconds: f64) -> Cause {
    let known = ranks
        .iter()
        .filter_map(|&rank| Some((rank, trace.used.get(rank)?)));
    let known: Vec<(usize, &Used)> = known.filter(|(_, used)| !used.cores.is_empty()).collect();
    let Some(&(rank, used)) = known.first() else {
        return Cause::OffCpu;
    };
    let cores = used.cores.len();
    let (others, threads) = beside(trace, profile, rank);
    // What all suffer from holds for each.
    let throttled = known.iter().map(|(_, used)| used.throttled);
    if throttled.fold(f64::INFINITY, f64::min) >= THROTTLED * seconds {
        return Cause::Throttled;
    }
    let faults: u64 = known.iter().map(|(_, used)| used.faults).sum();
    if faults as f64 * FAULT >= seconds * known.len() as f64 / 2.0 {
        return Cause::Faulting { faults };
    }
    let nice = known.iter().map(|(_, used)| used.nice).min().unwrap_or(0);
    if nice > 0 {
        return Cause::Niced { nice };
    }
    if others >= OTHERS * cores as f64 {
        return Cause::Overloaded { others, cores };
    }
    if threads > cores {
        return Cause::Oversubscribed { threads, cores };
    }
    Cause::OffCpu
}

/// What shares the cores of a rank: how many of them other programs used on average, and the
/// threads of the job.
fn beside(trace: &Trace, profile: &RunProfile, rank: usize) -> (f64, usize) {
    let own = &trace.used[rank].cores;
    let (mut job, mut threads) = (0.0, 0.0);
    for other in (0..trace.ranks).filter(|&other| trace.node(other) == trace.node(rank)) {
        let Some(used) = trace.used.get(other).filter(|used| !used.cores.is_empty()) else {
            continue;
        };
        let shared = used.cores.iter().filter(|core| own.contains(core)).count();
        let share = shared as f64 / used.cores.len() as f64;
        job += share * used.cpu;
        threads += share * threads_of(profile, other) as f64;
    }
    let others = (trace.used[rank].busy - job) / profile.wall.max(1e-9);
    (others.max(0.0), threads.ceil() as usize)
}

fn threads_of(profile: &RunProfile, rank: usize) -> usize {
    let of_stages = profile.stages.iter().map(|stage| stage.ranks[rank].threads);
    of_stages.max().unwrap_or(1)
}
