//! Contigs as paths through a graph with strains.

use std::collections::BTreeSet;
use std::ops::Range;

use super::lines::{cut, link, portions, segment, sign};
use crate::Error;
use crate::among::Among;
use crate::contig::HeaderStyle;
use crate::graph::{SharedGraph, Way};
use crate::numbering::Numbering;
use crate::records::take_number;
use crate::starts::{Starts, StepOfPath};

/// The contigs of a process as lines of GFA.
pub struct Paths {
    /// Overlaps of less than a k-mer; in the first process, those of all.
    pub links: Vec<Vec<u8>>,
    /// Paths, in portions of the contigs.
    pub lines: Vec<Vec<u8>>,
    /// How the portions of all processes are numbered.
    pub numbering: Numbering,
}

/// An overlap of two ways, in one of both directions.
type Overlap = ((Way, Way), usize);

impl Paths {
    /// Those of some contigs through a graph.
    ///
    /// Collective.
    pub fn of(
        graph: &SharedGraph,
        contigs: &SharedGraph,
        style: HeaderStyle,
        among: &Among,
    ) -> Result<Paths, Error> {
        let starts = Starts::of(graph, among)?;
        let own = contigs.own();
        let (portions, numbering) = portions(contigs, among.world)?;
        let (mut shorter, mut lines) = (BTreeSet::new(), Vec::new());
        // A run of the nodes may be a short portion: several of them are looked up at a time.
        let bases = |portion: &Range<usize>| {
            let nodes = portion.clone().map(Way::forward);
            nodes.map(|way| own.length(way)).sum()
        };
        let rounds = cut(portions.iter().map(bases));
        for round in 0..among.most(rounds.len())? as usize {
            among.progress.go_on()?;
            let portions = &portions[rounds.get(round).cloned().unwrap_or_default()];
            let nodes = portions.iter().cloned().flatten();
            let ways: Vec<Way> = nodes.map(Way::forward).collect();
            let sequences: Vec<Vec<u8>> = ways.iter().map(|&way| own.codes(way)).collect();
            let paths = starts.paths(&sequences, among)?;
            let mut paths = ways.iter().zip(paths);
            for portion in portions {
                let mut text = Vec::new();
                for (&way, mut path) in paths.by_ref().take(portion.len()) {
                    let kmers = own.kmers(way) as usize;
                    // Bases across a join of pairs may be within a strain that is left out.
                    path.retain(|one| {
                        one.is_whole || one.step.at == 0 || one.step.at + one.step.kmers == kmers
                    });
                    let name = style.name(&contigs.contig(way));
                    let overlaps = overlaps(&path, graph.k());
                    text.extend_from_slice(line(&name, &path, &overlaps).as_bytes());
                    add_shorter(&path, &overlaps, graph.k(), &mut shorter);
                }
                lines.push(text);
            }
        }
        Ok(Paths {
            links: links(shorter, among)?,
            lines,
            numbering,
        })
    }
}

/// How many bases the segments of a path overlap by.
fn overlaps(path: &[StepOfPath], k: usize) -> Vec<usize> {
    let overlap = |two: &[StepOfPath]| {
        let [one, next] = [two[0].step, two[1].step];
        one.at + one.kmers + k - 1 - next.at
    };
    path.windows(2).map(overlap).collect()
}

fn line(name: &str, path: &[StepOfPath], overlaps: &[usize]) -> String {
    let named = |one: &StepOfPath| {
        let way = one.step.way;
        format!("{}{}", segment(way.node() + 1), sign(way))
    };
    let segments: Vec<String> = path.iter().map(named).collect();
    let overlaps: Vec<String> = overlaps.iter().map(|bases| format!("{bases}M")).collect();
    let overlaps = match overlaps.is_empty() {
        true => "*".to_owned(),
        false => overlaps.join(","),
    };
    format!("P\t{name}\t{}\t{overlaps}\n", segments.join(","))
}

/// Pairs join ends that overlap by less than a k-mer.
fn add_shorter(path: &[StepOfPath], overlaps: &[usize], k: usize, all: &mut BTreeSet<Overlap>) {
    for (two, &overlap) in path.windows(2).zip(overlaps) {
        if overlap + 1 < k {
            let [one, other] = [two[0].step.way, two[1].step.way];
            let ways = (one, other).min((other.flipped(), one.flipped()));
            all.insert((ways, overlap));
        }
    }
}

/// The overlaps of all processes as lines, in the first.
///
/// Collective.
fn links(own: BTreeSet<Overlap>, among: &Among) -> Result<Vec<Vec<u8>>, Error> {
    let numbers = own.into_iter().flat_map(|((one, other), overlap)| {
        [one.index(), other.index(), overlap].map(|number| (number as u64).to_le_bytes())
    });
    let own: Vec<u8> = numbers.flatten().collect();
    let mut all: BTreeSet<Overlap> = BTreeSet::new();
    for bytes in among.world.gather(own)? {
        let mut from = &bytes[..];
        while !from.is_empty() {
            let [one, other, overlap] = [(); 3].map(|()| take_number(&mut from) as usize);
            all.insert(((Way::of_index(one), Way::of_index(other)), overlap));
        }
    }
    let name = |way: Way| segment(way.node() + 1);
    let line = |((one, other), overlap)| link([one, other], overlap, name);
    let lines: String = all.into_iter().map(line).collect();
    Ok(Vec::from([lines.into_bytes()]))
}
