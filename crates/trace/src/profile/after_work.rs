//! What the main thread of a rank waits for once its workers are done with a stage.

use super::activity::{is_worker, lays_out, main_track};
use super::file::{Trace, TracedSpan};

/// A stage of a rank, and when the last of its workers was done.
#[derive(Clone, Copy)]
struct Done {
    rank: usize,
    start: f64,
    end: f64,
    last: f64,
}

/// The trace, in which the main thread of a rank does what its layout thread does alone: when the
/// workers are done, it keeps the rank from the next stage. Before, it goes on beside them.
pub fn given_to_main(trace: &Trace) -> Trace {
    let mut given = trace.clone();
    let mut stages = stages(trace);
    for span in trace.spans.iter().filter(|span| is_worker(trace, span)) {
        if let Some(stage) = stage_of(&mut stages, span.rank, span.start) {
            stage.last = stage.last.max(span.start + span.time);
        }
    }
    for span in given.spans.iter_mut().filter(|span| lays_out(trace, span)) {
        let stage = stage_of(&mut stages, span.rank, span.start).copied();
        let alone = stage.map_or(0.0, |stage| alone(span, stage));
        let main = main_track(trace, span.rank).filter(|_| alone > 0.0);
        if let Some(main) = main {
            span.track = main;
            for time in [&mut span.own, &mut span.cpu, &mut span.queued] {
                *time *= alone;
            }
        }
    }
    given
}

/// The share of a span in which no worker did anything any more.
fn alone(span: &TracedSpan, stage: Done) -> f64 {
    let end = stage.end.min(span.start + span.time);
    // No worker did anything in the stage: there is nothing to be done with.
    if stage.last == 0.0 || span.time <= 0.0 {
        return 0.0;
    }
    (end - stage.last.max(span.start)).max(0.0) / span.time
}

/// The stages, by rank and time.
fn stages(trace: &Trace) -> Vec<Done> {
    let mut stages: Vec<Done> = trace
        .stages
        .iter()
        .map(|stage| Done {
            rank: stage.rank,
            start: stage.start,
            end: stage.start + stage.time,
            last: 0.0,
        })
        .collect();
    stages.sort_by(|a, b| {
        (a.rank, a.start)
            .partial_cmp(&(b.rank, b.start))
            .expect("times are numbers")
    });
    stages
}

fn stage_of(stages: &mut [Done], rank: usize, time: f64) -> Option<&mut Done> {
    let after = stages.partition_point(|stage| (stage.rank, stage.start) <= (rank, time));
    let stage = stages.get_mut(after.checked_sub(1)?)?;
    (stage.rank == rank).then_some(stage)
}
