//! What ranks lose by themselves: all alike, or one beyond the others.

use super::super::activity::{Activity, Times, sum_of};
use super::super::file::{Kept, Trace};
use super::super::sums::{Moved, RankProfile, RunProfile, StageProfile};
use super::finding::{Cause, Finding, Who};
use super::processor;

/// A rank stands out when so much of what it loses is beyond the others.
const BEYOND: f64 = 0.5;
/// Of the waits for another thread of the rank, so much reading explains them.
const EXPLAINS: f64 = 0.1;
/// A disk of fewer bytes a second is slow.
const SLOW_DISK: f64 = 200e6;

/// A loss of one rank, or of all.
#[derive(Clone, Debug)]
struct Loss {
    activity: Activity,
    rank: Option<usize>,
    /// That rank, or those that do not stand out: of whom it is told why.
    ranks: Vec<usize>,
    stage: usize,
    /// Seconds of the run.
    seconds: f64,
}

/// By stage and rank: seconds of the worker that had most to do, by activity.
pub struct Losses(Vec<Vec<Times>>);

impl Losses {
    /// Those of a run.
    pub fn of(profile: &RunProfile) -> Losses {
        let of_stage = |stage: &StageProfile| {
            let mean = stage.mean();
            stage
                .ranks
                .iter()
                .map(|cell| of_cell(cell, &mean))
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
        Activity::LOSSES.map(of).into_iter().fold(0.0, f64::max)
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
        for activity in Activity::LOSSES {
            let values = self.values(&self.0, activity);
            let usual = usual(&values);
            let most = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            let Some((worst, &most)) = most else { continue };
            let alone = values.len() > 1 && most - usual >= BEYOND * most;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let mut add = |rank: Option<usize>, seconds| {
                let ranks = (0..values.len()).filter(|&one| match rank {
                    Some(rank) => one == rank,
                    None => !alone || one != worst,
                });
                losses.push(Loss {
                    activity,
                    rank,
                    ranks: ranks.collect(),
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
            cause: cause(trace, profile, &loss),
            who: Who::of(trace, loss.rank),
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
fn of_cell(cell: &RankProfile, mean: &Times) -> Times {
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
    times[Activity::Spill as usize] += cell.exchange_spills.min(mean[Activity::Buffer as usize]);
    // Nor does anything go on, on any rank, while it has no core.
    let off_cpu = &mut times[Activity::OffCpu as usize];
    let waits = sum_of(mean, &Activity::WAITS);
    *off_cpu = off_cpu.max((*off_cpu + cell.exchange_queued.min(waits)).min(cell.wall));
    times
}

fn cause(trace: &Trace, profile: &RunProfile, loss: &Loss) -> Cause {
    let seconds = loss.seconds.max(1e-9);
    let (bytes, waits) = moved(profile, &loss.ranks);
    match loss.activity {
        Activity::Stopped => stopped(trace, &loss.ranks),
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
            let (bytes, rate) = (bytes.spilled, bytes.spilled as f64 / waits.max(1e-9));
            match rate < SLOW_DISK {
                true => Cause::SlowSpill { bytes, rate },
                false => Cause::LittleMemory { bytes },
            }
        }
        _ => processor::cause(trace, profile, &loss.ranks, loss.seconds),
    }
}

/// Bytes of some ranks, and the seconds in which they waited for the disk of temporary
/// files.
pub fn moved(profile: &RunProfile, ranks: &[usize]) -> (Moved, f64) {
    let (mut all, mut waits) = (Moved::default(), 0.0);
    for stage in &profile.stages {
        for cell in ranks.iter().map(|&rank| &stage.ranks[rank]) {
            all.take_in(cell.bytes);
            waits += cell.spill_waits;
        }
    }
    (all, waits)
}

fn stopped(trace: &Trace, ranks: &[usize]) -> Cause {
    let gaps = trace
        .gaps
        .iter()
        .filter(|gap| gap.why == Kept::Stopped && ranks.contains(&gap.rank));
    let times: Vec<f64> = gaps.map(|gap| gap.time).collect();
    Cause::Stopped {
        times: times.len(),
        longest: times.into_iter().fold(0.0, f64::max),
    }
}
