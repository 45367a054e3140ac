//! What ranks lose by themselves: all alike, or one beyond the others.

use super::super::activity::{Activity, Times};
use super::super::file::{Kept, Trace};
use super::super::sums::{Moved, RankProfile, RunProfile, StageProfile};
use super::{Cause, Finding, Loss, processor, who};

/// What a rank can lose by itself.
const LOCAL: [Activity; 7] = [
    Activity::OffCpu,
    Activity::Stopped,
    Activity::Open,
    Activity::Read,
    Activity::Decompress,
    Activity::Write,
    Activity::Spill,
];
/// A rank stands out when so much of what it loses is beyond the others.
const BEYOND: f64 = 0.5;
/// Of the waits for another thread of the rank, so much reading explains them.
const EXPLAINS: f64 = 0.1;
/// A disk of fewer bytes a second is slow.
const SLOW_DISK: f64 = 200e6;

/// By stage and rank: seconds of the worker that had most to do, by activity.
pub struct Losses(Vec<Vec<Times>>);

impl Losses {
    /// Those of a run.
    pub fn of(profile: &RunProfile) -> Losses {
        let of_stage = |stage: &StageProfile| {
            let buffer = stage.mean()[Activity::Buffer as usize];
            stage
                .ranks
                .iter()
                .map(|cell| of_cell(cell, buffer))
                .collect()
        };
        Losses(profile.stages.iter().map(of_stage).collect())
    }

    /// What is lost at a stage by a rank.
    pub fn at(&self, stage: usize, rank: usize, activity: Activity) -> f64 {
        self.0[stage][rank][activity as usize]
    }

    /// What the others wait for at a stage because of what one rank loses, or because of what keeps
    /// all from running.
    pub fn explained(&self, stage: usize) -> f64 {
        let of = |activity: Activity| {
            let values = self.values(&self.0[stage..=stage], activity);
            let (usual, most) = (usual(&values), values.iter().copied().fold(0.0, f64::max));
            let all = matches!(activity, Activity::OffCpu | Activity::Stopped);
            most - usual + if all { usual } else { 0.0 }
        };
        LOCAL.map(of).into_iter().fold(0.0, f64::max)
    }

    fn values(&self, stages: &[Vec<Times>], activity: Activity) -> Vec<f64> {
        let ranks = stages.first().map_or(0, Vec::len);
        (0..ranks)
            .map(|rank| {
                stages
                    .iter()
                    .map(|ranks| ranks[rank][activity as usize])
                    .sum()
            })
            .collect()
    }

    /// The stage in which most of it is lost.
    fn stage(&self, activity: Activity, rank: Option<usize>) -> usize {
        let of = |ranks: &Vec<Times>| match rank {
            Some(rank) => ranks[rank][activity as usize],
            None => ranks.iter().map(|times| times[activity as usize]).sum(),
        };
        let most = self.0.iter().map(of).enumerate();
        most.max_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |most| most.0)
    }

    /// What all ranks lose, and what one does beyond them.
    fn losses(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        for activity in LOCAL {
            let values = self.values(&self.0, activity);
            let usual = usual(&values);
            let most = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            let Some((worst, &most)) = most else { continue };
            let alone = values.len() > 1 && most - usual >= BEYOND * most;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let mut add = |rank, seconds| {
                losses.push(Loss {
                    activity,
                    rank,
                    stage: self.stage(activity, rank),
                    seconds,
                });
            };
            if alone {
                add(Some(worst), most - usual);
            }
            add(None, if alone { usual } else { mean });
        }
        losses
    }

    /// The causes of what ranks lose by themselves.
    pub fn local(&self, trace: &Trace, profile: &RunProfile) -> Vec<Finding> {
        let finding = |loss: Loss| Finding {
            cause: cause(trace, profile, loss),
            who: who(trace, loss.rank),
            stage: profile.stages[loss.stage].name.clone(),
            seconds: loss.seconds,
            share: loss.seconds / profile.wall.max(1e-9),
        };
        self.losses().into_iter().map(finding).collect()
    }
}

/// What most ranks lose: the lower median.
fn usual(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .get(sorted.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0.0)
}

/// What the worker that had most to do lost. Threads that wait for one that reads, or writes, lose
/// it, too.
fn of_cell(cell: &RankProfile, buffer: f64) -> Times {
    let mut times = cell.busiest();
    let turn = std::mem::take(&mut times[Activity::Turn as usize]);
    let causes: &[Activity] = if cell.bytes.counted > 0 {
        &[Activity::Write]
    } else {
        &[Activity::Read, Activity::Decompress, Activity::OffCpu]
    };
    let sum: f64 = causes.iter().map(|&cause| times[cause as usize]).sum();
    if sum >= EXPLAINS * turn && sum > 0.0 {
        for &cause in causes {
            times[cause as usize] *= 1.0 + turn / sum;
        }
    } else {
        times[Activity::Turn as usize] = turn;
    }
    // The thread that exchanges records takes none while it writes.
    times[Activity::Spill as usize] += cell.exchange_spills.min(buffer);
    times
}

fn cause(trace: &Trace, profile: &RunProfile, loss: Loss) -> Cause {
    let seconds = loss.seconds.max(1e-9);
    let bytes = moved(profile, loss);
    match loss.activity {
        Activity::Stopped => stopped(trace, loss.rank),
        Activity::Open => Cause::Opening,
        Activity::Read => Cause::SlowInput {
            rate: bytes.read as f64 / seconds,
        },
        Activity::Decompress => Cause::Decompressing {
            stored: bytes.read,
            text: bytes.parsed,
        },
        Activity::Write => Cause::SlowOutput {
            bytes: bytes.written,
        },
        Activity::Spill => {
            let (bytes, rate) = (bytes.spilled, bytes.spilled as f64 / seconds);
            match rate < SLOW_DISK * share_of_ranks(profile, loss) {
                true => Cause::SlowSpill { bytes, rate },
                false => Cause::LittleMemory { bytes },
            }
        }
        _ => processor::cause(trace, profile, loss),
    }
}

/// How many ranks' disks `moved` is about.
fn share_of_ranks(profile: &RunProfile, loss: Loss) -> f64 {
    let ranks = profile.stages[loss.stage].ranks.len();
    loss.rank.map_or(ranks, |_| 1) as f64
}

/// Bytes of the rank that loses, or of all; in the stages in which there are any.
fn moved(profile: &RunProfile, loss: Loss) -> Moved {
    let mut all = Moved::default();
    for stage in &profile.stages {
        for (rank, cell) in stage.ranks.iter().enumerate() {
            if loss.rank.is_none_or(|lost| lost == rank) {
                all.take_in(cell.bytes);
            }
        }
    }
    all
}

fn stopped(trace: &Trace, rank: Option<usize>) -> Cause {
    let gaps = trace
        .gaps
        .iter()
        .filter(|gap| gap.why == Kept::Stopped && rank.is_none_or(|rank| rank == gap.rank));
    let times: Vec<f64> = gaps.map(|gap| gap.time).collect();
    Cause::Stopped {
        times: times.len(),
        longest: times.into_iter().fold(0.0, f64::max),
    }
}
