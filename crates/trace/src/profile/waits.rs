//! Waits: who waited for whom in collectives, and the longest of all waits.

use std::collections::{BTreeMap, HashMap};

use super::activity::{Activity, works};
use super::file::{SpanKind, Trace, TracedSpan};

/// Collectives in which nothing is exchanged: all start, or have made a window.
const BARRIERS: [&str; 2] = ["init", "window"];

/// A wait of one thread.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Its rank.
    pub rank: usize,
    /// The name of its thread.
    pub thread: String,
    /// The stage, by number.
    pub stage: usize,
    /// What was waited for.
    pub what: SpanKind,
    /// What was called, in collectives.
    pub call: String,
    /// Seconds.
    pub time: f64,
    /// In collectives: who came last, and the seconds that all ranks waited for it.
    pub late: Option<(usize, f64)>,
}

/// What happened in collectives.
#[derive(Debug, Default)]
pub struct Collectives {
    /// Calls, each of all ranks, that kept threads from work.
    pub calls: usize,
    /// Seconds that all ranks waited for the last to come, barriers too.
    pub waited: f64,
    /// Of that, for each rank.
    pub late: Vec<f64>,
}

/// All of it.
pub struct Waits<'t> {
    /// Spans in collectives, and their seconds in which somebody was still to come, at a barrier or
    /// elsewhere.
    pub in_collectives: Vec<(&'t TracedSpan, Activity, f64)>,
    /// Summed up.
    pub collectives: Collectives,
    /// The longest of one thread.
    pub severest: Option<Wait>,
}

/// Finds the waits of a trace.
pub fn find<'t>(trace: &'t Trace, stage_of: &dyn Fn(&TracedSpan) -> usize) -> Waits<'t> {
    let mut waits = Waits {
        in_collectives: Vec::new(),
        collectives: Collectives {
            late: vec![0.0; trace.ranks],
            ..Collectives::default()
        },
        severest: None,
    };
    let waiting = |span: &&TracedSpan| {
        matches!(
            span.what,
            SpanKind::Message | SpanKind::Buffer | SpanKind::Border | SpanKind::Turn
        ) && works(trace, span)
    };
    if let Some(longest) = trace
        .spans
        .iter()
        .filter(waiting)
        .max_by(|a, b| a.own.total_cmp(&b.own))
    {
        waits.consider(wait(trace, longest, longest.own, None, stage_of));
    }
    for calls in together(trace) {
        waits.add(trace, &calls, stage_of);
    }
    waits
}

fn wait(
    trace: &Trace,
    span: &TracedSpan,
    time: f64,
    late: Option<(usize, f64)>,
    stage_of: &dyn Fn(&TracedSpan) -> usize,
) -> Wait {
    let thread = trace
        .threads
        .get(&(span.rank, span.track))
        .cloned()
        .unwrap_or_default();
    let (rank, stage, what, call) = (span.rank, stage_of(span), span.what, span.call.clone());
    Wait {
        rank,
        thread,
        stage,
        what,
        call,
        time,
        late,
    }
}

/// The collectives that all ranks took part in. Where a span does not say which it was it counts
/// among its rank's, since all ranks call in the same order.
fn together(trace: &Trace) -> Vec<Vec<&TracedSpan>> {
    let mut spans: Vec<&TracedSpan> = trace
        .spans
        .iter()
        .filter(|span| span.what == SpanKind::Collective)
        .collect();
    spans.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut nameless: HashMap<(usize, &str), u64> = HashMap::new();
    let mut calls: BTreeMap<(&str, bool, u64), Vec<&TracedSpan>> = BTreeMap::new();
    for span in spans {
        let number = span.instance.unwrap_or_else(|| {
            let next = nameless.entry((span.rank, &span.call)).or_default();
            *next += 1;
            *next - 1
        });
        calls
            .entry((&span.call, span.instance.is_some(), number))
            .or_default()
            .push(span);
    }
    calls
        .into_values()
        .filter(|calls| trace.ranks > 1 && calls.len() == trace.ranks)
        .collect()
}

impl<'t> Waits<'t> {
    /// Adds one collective: each rank waits from its own start to the latest.
    fn add(
        &mut self,
        trace: &Trace,
        calls: &[&'t TracedSpan],
        stage_of: &dyn Fn(&TracedSpan) -> usize,
    ) {
        let Some(latest) = calls.iter().max_by(|a, b| a.start.total_cmp(&b.start)) else {
            return;
        };
        let waited = |span: &TracedSpan| (latest.start - span.start).clamp(0.0, span.own);
        let place = if BARRIERS.contains(&&*latest.call) {
            Activity::Barrier
        } else {
            Activity::Late
        };
        let all: f64 = calls.iter().map(|span| waited(span)).sum();
        for span in calls {
            self.in_collectives.push((span, place, waited(span)));
        }
        // Nobody is kept from work by a wait beside it.
        if !calls.iter().all(|span| works(trace, span)) {
            return;
        }
        self.collectives.calls += 1;
        self.collectives.waited += all;
        self.collectives.late[latest.rank] += all;
        if let Some(longest) = calls.iter().max_by(|a, b| waited(a).total_cmp(&waited(b))) {
            self.consider(wait(
                trace,
                longest,
                waited(longest),
                Some((latest.rank, all)),
                stage_of,
            ));
        }
    }

    fn consider(&mut self, wait: Wait) {
        if wait.time > self.severest.as_ref().map_or(0.0, |severest| severest.time) {
            self.severest = Some(wait);
        }
    }
}
