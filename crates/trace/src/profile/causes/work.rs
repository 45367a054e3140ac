//! Unequal work, and the waits that are left.

use std::collections::BTreeMap;

use super::super::activity::{Activity, Times, sum_of};
use super::super::file::{SpanKind, Trace};
use super::super::sums::{Moved, RunProfile, StageProfile, WorkerTimes};
use super::finding::{Cause, Finding, Who};
use super::losses::Losses;
use crate::record::START;

/// What threads do on cores.
const WORK: [Activity; 2] = [Activity::Compute, Activity::Decompress];
/// Of what one worker does beyond the mean, so much has to be one thing.
const MOST: f64 = 0.5;
/// Of its work, a thread that reads what is compressed decompresses at least so much.
const COMPRESSED: f64 = 0.1;
/// So much of the waiting is one rank's doing, or it is everybody's.
const MOSTLY: f64 = 0.5;
/// An imbalance that explains idle threads.
const UNEQUAL: f64 = 1.15;
/// Bytes that a network carries in no more time than a round takes to begin.
const SMALL_ROUND: u64 = 1 << 20;
/// An answer that takes so many seconds is late.
const LATE_ANSWER: f64 = 0.005;

/// What follows from unequal work, and what remains.
pub fn unequal_and_waits(trace: &Trace, profile: &RunProfile, losses: &Losses) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, stage) in profile.stages.iter().enumerate() {
        let mean = stage.mean();
        let mut waits = waits_of(&mean, losses, number, stage);
        waits -= losses.explained(number).min(waits);
        let mut add = |cause, rank, seconds: f64| {
            found.push(Finding {
                cause,
                who: Who::of(trace, rank),
                stage: stage.name.clone(),
                seconds,
                share: seconds / profile.wall.max(1e-9),
            });
        };
        if let Some((rank, cause, beyond)) = unequal(trace, stage) {
            let seconds = beyond.min(waits);
            waits -= seconds;
            add(cause, Some(rank), seconds);
        }
        let largest = Activity::WAITS.map(|wait| (wait, mean[wait as usize]));
        let largest = largest.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((wait, seconds)) = largest {
            let (cause, rank) = remaining(trace, profile, stage, wait);
            add(cause, rank, seconds.min(waits));
        }
    }
    found
}

/// Seconds in which threads wait, on the mean of ranks; without those in which they wait for a
/// thread that reads or writes, which count as lost by the rank.
fn waits_of(mean: &Times, losses: &Losses, number: usize, stage: &StageProfile) -> f64 {
    let turn = mean[Activity::Turn as usize];
    let ranks = 0..stage.ranks.len();
    let left = ranks.map(|rank| losses.at(number, rank, Activity::Turn));
    sum_of(mean, &Activity::WAITS) - turn + left.fold(0.0, f64::max).min(turn)
}

/// The rank of the worker that has most to do, why, and how many seconds it has beyond the mean.
fn unequal(trace: &Trace, stage: &StageProfile) -> Option<(usize, Cause, f64)> {
    let workers: Vec<(usize, &WorkerTimes)> = stage
        .ranks
        .iter()
        .enumerate()
        .flat_map(|(rank, cell)| cell.workers.values().map(move |worker| (rank, worker)))
        .collect();
    let threads: usize = stage.ranks.iter().map(|cell| cell.threads).max()? * stage.ranks.len();
    let work = |worker: &WorkerTimes| sum_of(&worker.times, &WORK);
    let all: f64 = workers.iter().map(|(_, worker)| work(worker)).sum();
    let mean = all / threads.max(workers.len()) as f64;
    let &(rank, most) = workers
        .iter()
        .max_by(|a, b| work(a.1).total_cmp(&work(b.1)))?;
    let beyond = work(most) - mean;
    if work(most) < UNEQUAL * mean {
        return None;
    }
    Some((rank, why_more(trace, stage, (rank, most), mean), beyond))
}

/// Why a worker has more to do than the mean.
fn why_more(
    trace: &Trace,
    stage: &StageProfile,
    (rank, most): (usize, &WorkerTimes),
    mean: f64,
) -> Cause {
    let cell = &stage.ranks[rank];
    let work = sum_of(&most.times, &WORK);
    let (beyond, times) = (work - mean, work / mean.max(1e-9));
    // What is compressed cannot be shared, so that its reader has the rest of the work, too.
    if most.times[Activity::Decompress as usize] >= COMPRESSED * work {
        return Cause::Decompressing {
            stored: cell.bytes.read,
            text: cell.bytes.parsed,
        };
    }
    let partitions: u64 = workers(stage).map(|worker| worker.partitions).sum();
    if most.heaviest.0 >= MOST * beyond && partitions > 1 {
        let all: u64 = stage.ranks.iter().map(|cell| cell.bytes.counted).sum();
        return Cause::HeavyPartition {
            bytes: most.heaviest.1,
            times: most.heaviest.1 as f64 * partitions as f64 / all.max(1) as f64,
        };
    }
    let counted = cell.bytes.counted > 0;
    let bytes = stage.imbalance().bytes.unwrap_or(1.0);
    if trace.ranks > 1 && bytes < UNEQUAL && rank_times(stage, rank) >= UNEQUAL {
        return Cause::SlowCores {
            times: rank_times(stage, rank),
        };
    }
    Cause::MoreWork { counted, times }
}

/// How many times the mean a rank computes.
fn rank_times(stage: &StageProfile, rank: usize) -> f64 {
    let of = |rank: usize| sum_of(&stage.ranks[rank].times, &WORK);
    let all: f64 = (0..stage.ranks.len()).map(of).sum();
    of(rank) * stage.ranks.len() as f64 / all.max(1e-9)
}

fn workers(stage: &StageProfile) -> impl Iterator<Item = &WorkerTimes> {
    stage.ranks.iter().flat_map(|cell| cell.workers.values())
}

/// The cause of waiting that nothing else explains, and whose it is.
fn remaining(
    trace: &Trace,
    profile: &RunProfile,
    stage: &StageProfile,
    wait: Activity,
) -> (Cause, Option<usize>) {
    let cause = match wait {
        Activity::Late | Activity::Barrier => return late(profile),
        Activity::Collective if stage.name == START => Cause::Starting,
        Activity::Buffer if small_rounds(profile) => Cause::LittleMemory {
            bytes: moved_by_all(profile).spilled,
        },
        Activity::Collective | Activity::Buffer if exchanges(stage) => network(trace),
        Activity::Collective => Cause::SlowCollectives,
        Activity::Buffer => network(trace),
        Activity::Message => answers(trace),
        Activity::Border => Cause::Borders,
        Activity::Turn => Cause::Turns {
            counted: stage.ranks.iter().any(|cell| cell.bytes.counted > 0),
        },
        _ => Cause::TooLittle,
    };
    (cause, None)
}

fn exchanges(stage: &StageProfile) -> bool {
    stage.ranks.iter().any(|cell| cell.bytes.sent > 0)
}

/// Whether there is room for so little in send buffers that rounds cost their start, not their
/// bytes: where memory is so small that records go to temporary files, too.
fn small_rounds(profile: &RunProfile) -> bool {
    let cells = || profile.stages.iter().flat_map(|stage| &stage.ranks);
    let rounds: u64 = cells().map(|cell| cell.rounds.0).sum();
    let sent: u64 = cells().map(|cell| cell.round_bytes).sum();
    moved_by_all(profile).spilled > 0 && sent < rounds * SMALL_ROUND
}

fn moved_by_all(profile: &RunProfile) -> Moved {
    let cells = profile.stages.iter().flat_map(|stage| &stage.ranks);
    cells.fold(Moved::default(), |mut all, cell| {
        all.take_in(cell.bytes);
        all
    })
}

/// Who comes last to collectives.
fn late(profile: &RunProfile) -> (Cause, Option<usize>) {
    let late = &profile.collectives.late;
    let worst = (0..late.len()).max_by(|&a, &b| late[a].total_cmp(&late[b]));
    let share = worst.map_or(0.0, |worst| late[worst]) / profile.collectives.waited.max(1e-9);
    if share < MOSTLY {
        (Cause::ManyCollectives, None)
    } else {
        (Cause::ComesLast { share }, worst)
    }
}

/// How quick rounds are once all ranks have entered them.
fn network(trace: &Trace) -> Cause {
    let mut rounds: BTreeMap<u64, Vec<(f64, f64, u64)>> = BTreeMap::new();
    let spans = trace
        .spans
        .iter()
        .filter(|span| span.what == SpanKind::Round);
    for span in spans {
        let round = rounds.entry(span.instance.unwrap_or(0)).or_default();
        round.push((span.start, span.start + span.time, span.bytes));
    }
    let whole = rounds.values().filter(|round| round.len() == trace.ranks);
    let (mut count, mut seconds, mut sent) = (0.0, 0.0, 0);
    for round in whole {
        let entered = round.iter().map(|rank| rank.0).fold(0.0, f64::max);
        let ended = round.iter().map(|rank| rank.1).fold(0.0, f64::max);
        seconds += ended - entered;
        count += 1.0;
        sent += round.iter().map(|rank| rank.2).sum::<u64>() / trace.ranks as u64;
    }
    Cause::Network {
        rate: if seconds > 0.0 {
            sent as f64 / seconds
        } else {
            0.0
        },
        round: if count > 0.0 { seconds / count } else { 0.0 },
    }
}

fn answers(trace: &Trace) -> Cause {
    let times = trace
        .spans
        .iter()
        .filter(|span| span.what == SpanKind::Message);
    let (count, sum) = times.fold((0.0, 0.0), |(count, sum), span| {
        (count + 1.0, sum + span.own)
    });
    // Single long waits of a test are no answers.
    let each = if count > 0.0 { sum / count } else { 0.0 };
    if each >= LATE_ANSWER {
        Cause::SlowAnswers { each }
    } else {
        Cause::SmallChunks
    }
}
