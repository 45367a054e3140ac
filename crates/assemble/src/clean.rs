//! Takes errors out of a graph.
//!
//! In rounds, each of which decides by the graph as it was at its start: what goes does not depend
//! on any order. Coverage is compared as fractions, by cross-multiplication.
//!
//! In an isolate what is thin is told by the depth of the genome. In a metagenome every genome has
//! its own, and only what is beside a node tells whether it is an error: see [`Limits`].

mod ends;

use gyrase_fabric::numbers;
use gyrase_kmer::with_words;

use crate::Error;
use crate::among::Among;
use crate::config::Sample;
use crate::graph::{Graph, Halo, Pieces, SharedGraph, Way, compact_among, shape_of};

/// Rounds at most; a graph that still changes then is clean enough.
const ROUNDS: usize = 20;

/// What was taken out, in nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// With one end that nothing follows, beside something of more coverage.
    pub tips: u64,
    /// Beside another way between the same two nodes that is clearly better covered.
    pub bubbles: u64,
    /// Between two places that both have clearly better covered ways.
    pub links: u64,
    /// Without neighbours, short and thin.
    pub isolated: u64,
    /// Ends that were taken off better covered neighbours; the nodes stay.
    pub ends: u64,
}

numbers!(Cleaned {
    tips,
    bubbles,
    links,
    isolated,
    ends
});

impl Cleaned {
    /// Nodes that go, each for one reason, and ends.
    fn of(verdicts: &[Verdict]) -> Cleaned {
        let of = |kind| verdicts.iter().filter(|one| one.goes == Some(kind)).count() as u64;
        let ends = verdicts.iter().flat_map(|one| one.thin);
        Cleaned {
            tips: of(Kind::Tip),
            bubbles: of(Kind::Bubble),
            links: of(Kind::Link),
            isolated: of(Kind::Isolated),
            ends: ends.filter(|&thin| thin).count() as u64,
        }
    }

    /// All.
    pub fn all(self) -> u64 {
        self.tips + self.bubbles + self.links + self.isolated + self.ends
    }
}

/// What is left to take out of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// k-mers with errors.
    Kmers,
    /// Walks through a graph without such: a read with an error may take a wrong turn, once.
    Walks,
}

/// A part of a coverage.
type Part = (u64, u64);

/// Below which part of a rival's coverage nodes go.
#[derive(Clone, Copy, Debug)]
struct Limits {
    tip: Part,
    bubble: Part,
    link: Part,
    /// What is seen less often on average may be k-mers with errors, in a metagenome; what is seen
    /// more often has to be below [`RARE`] of its rival. Strains differ in less than that.
    seldom: u64,
    /// Whether thin ends come off what is clearly better covered.
    ends: bool,
}

/// The part of a coverage that errors seldom have. A genome may have a repeat twenty times, and a
/// copy of it that differs in a base once.
const RARE: Part = (1, 30);

impl Limits {
    fn of(sample: Sample, errors: Errors) -> Limits {
        let isolate = Limits {
            tip: (1, 2),
            bubble: (2, 5),
            link: (1, 5),
            seldom: u64::MAX,
            ends: false,
        };
        match (sample, errors) {
            (Sample::Isolate, _) => isolate,
            (Sample::Metagenome { .. }, Errors::Kmers) => Limits {
                seldom: 3,
                ..isolate
            },
            (Sample::Metagenome { .. }, Errors::Walks) => Limits {
                tip: (1, 4),
                bubble: (1, 5),
                link: RARE,
                seldom: u64::MAX,
                ends: true,
            },
        }
    }
}

/// Cleans a graph; `depth` is the coverage of what a genome has once, 0 where it is not known.
///
/// Collective.
///
/// # Errors
/// Another process failed, or somebody cancelled.
pub fn clean(
    mut graph: SharedGraph,
    depth: u64,
    (sample, errors): (Sample, Errors),
    among: &Among,
) -> Result<(SharedGraph, Cleaned), Error> {
    let limits = Limits::of(sample, errors);
    let mut all = Cleaned::default();
    for round in 0..ROUNDS {
        among.progress.start("clean", 0);
        // Short ones first: a long one may be part of what is left.
        let tip = (graph.k() + 20) * (round + 1);
        let verdict = |halo: &Halo, &way: &Way| {
            let round = Round {
                halo,
                depth,
                errors,
                limits,
                isolated: !sample.is_mixed() || errors == Errors::Kmers,
                tip,
            };
            let ways = [way, way.flipped()];
            Verdict {
                goes: round.goes(way),
                thin: ways.map(|way| limits.ends && ends::is_thin(halo, way)),
            }
        };
        let nodes = graph.own_numbers().map(Way::forward);
        let verdicts = Halo::of(&graph).seen(nodes, among.world, verdict)?;
        let cleaned = among.world.sum_of(&Cleaned::of(&verdicts))?;
        if cleaned.all() == 0 && tip > 2 * graph.k() + 40 {
            break;
        }
        all.tips += cleaned.tips;
        all.bubbles += cleaned.bubbles;
        all.links += cleaned.links;
        all.isolated += cleaned.isolated;
        all.ends += cleaned.ends;
        if cleaned.all() > 0 {
            let k = graph.k();
            let pieces = left(graph.own(), &verdicts);
            // Before there is the next one.
            drop(graph);
            graph = with_words!(shape_of(k), W => compact_among::<W>(k, &pieces, among))?;
        }
    }
    Ok((graph, all))
}

/// What becomes of a node.
struct Verdict {
    /// Why it goes, if it does.
    goes: Option<Kind>,
    /// Whether its first k-mer goes, and its last.
    thin: [bool; 2],
}

/// What is left of the nodes of a process.
fn left(graph: &Graph, verdicts: &[Verdict]) -> Pieces {
    let mut pieces = Pieces::default();
    for (way, verdict) in graph.nodes().zip(verdicts) {
        let [first, last] = verdict.thin.map(usize::from);
        let kmers = graph.kmers(way).saturating_sub((first + last) as u64);
        if verdict.goes.is_none() && kmers > 0 {
            let bases = graph.bases(way).slice(first..graph.length(way) - last);
            pieces.push_bases(bases, graph.count_of(way, kmers));
        }
    }
    pieces
}

/// Why a node goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tip,
    Bubble,
    Link,
    Isolated,
}

struct Round<'h> {
    halo: &'h Halo<'h>,
    depth: u64,
    errors: Errors,
    limits: Limits,
    /// Whether what has no neighbours goes.
    isolated: bool,
    /// Bases that a tip may have.
    tip: usize,
}

impl Round<'_> {
    /// Why a node goes, if it does.
    fn goes(&self, way: Way) -> Option<Kind> {
        match way {
            _ if !self.is_thin(way, (2, 5)) => None,
            _ if self.is_tip(way) || self.is_tip(way.flipped()) => Some(Kind::Tip),
            _ if self.errors == Errors::Walks && !self.is_thin(way, (1, 5)) => None,
            _ if self.is_bubble(way) => Some(Kind::Bubble),
            _ if self.is_link(way) => Some(Kind::Link),
            _ if self.isolated && self.is_isolated(way) => Some(Kind::Isolated),
            _ => None,
        }
    }

    /// Whether a node is an error beside another, which is when it has less than `part` of its
    /// coverage.
    fn is_error(&self, way: Way, part: Part, other: Way) -> bool {
        let (count, kmers) = (self.halo.count(way), self.halo.kmers(way));
        let seldom = count < self.limits.seldom.saturating_mul(kmers);
        let part = if seldom { part } else { RARE };
        self.halo.is_below(way, part, other)
    }

    /// Whether the coverage of a node is below a part of what the genome has once. Hardly anything
    /// that it has is below two fifths; of larger k, whose coverage is a few reads, below a fifth.
    fn is_thin(&self, way: Way, part: (u64, u64)) -> bool {
        let (count, kmers) = (self.halo.count(way), self.halo.kmers(way));
        self.depth == 0 || part.1 * count < part.0 * self.depth * kmers
    }

    fn is_tip(&self, way: Way) -> bool {
        let halo = self.halo;
        let better = |other| self.is_error(way, self.limits.tip, other);
        halo.next(way.flipped()).is_empty()
            && halo.length(way) < self.tip.min(2 * halo.k() + 40)
            && halo.siblings(way).any(better)
    }

    fn is_bubble(&self, way: Way) -> bool {
        let halo = self.halo;
        let [next] = halo.next(way) else {
            return false;
        };
        let [back] = halo.next(way.flipped()) else {
            return false;
        };
        let limit = 2 * halo.k() + 40;
        let is_between =
            |other: Way| halo.next(other) == [*next] && halo.next(other.flipped()) == [*back];
        halo.length(way) <= limit
            && halo.has_siblings(way.flipped())
            && halo.siblings(way).any(|other| {
                is_between(other)
                    && halo.length(other) <= limit
                    && self.is_error(way, self.limits.bubble, other)
            })
    }

    fn is_link(&self, way: Way) -> bool {
        let halo = self.halo;
        let better = |other| self.is_error(way, self.limits.link, other);
        halo.length(way) < 2 * halo.k() + 40
            && halo.has_siblings(way.flipped())
            && halo.siblings(way).any(better)
            && halo.siblings(way.flipped()).any(better)
    }

    fn is_isolated(&self, way: Way) -> bool {
        let halo = self.halo;
        let alone = halo.next(way).is_empty() && halo.next(way.flipped()).is_empty();
        alone && halo.length(way) < 3 * halo.k()
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::testing::run;
    use gyrase_fabric::{Alone, Steal};
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::compact;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn processes_clean_a_graph_as_one_does(
            texts in proptest::collection::vec(
                (proptest::collection::vec(0..4u8, 5..70), 1..60u64), 1..7),
            ranks in 2..4usize,
            (depth, sample) in prop_oneof![
                Just((20, Sample::Isolate)),
                Just((0, Sample::Metagenome { keep_strains: false })),
            ],
            errors in prop_oneof![Just(Errors::Kmers), Just(Errors::Walks)],
        ) {
            let k = 5;
            let texts = texts.iter().map(|(codes, count)| (codes, *count));
            let graph = compact(k, &Pieces::of_texts(k, texts), 1);
            let progress = Progress::default();
            let alone = Among::of_test(&Alone, &progress);
            let all = SharedGraph::alone(graph.clone());
            let (expected, cleaned) = clean(all, depth, (sample, errors), &alone).expect("nobody fails");
            let shared = run(ranks, Steal::default(), |process| {
                let progress = Progress::default();
                let among = Among::of_test(process, &progress);
                let own = SharedGraph::share_of(graph.clone(), process)?;
                let (graph, cleaned) = clean(own, depth, (sample, errors), &among)?;
                Ok::<_, Error>((graph.copied(process)?, cleaned))
            });
            for shared in shared {
                let (shared, cleaned_there) = shared.expect("no process fails");
                prop_assert_eq!((shared.told(), cleaned_there), (expected.own().told(), cleaned));
            }
        }
    }
}
