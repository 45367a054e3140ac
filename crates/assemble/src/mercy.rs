//! k-mers that were seen once, where the graph ends.
//!
//! A k-mer that is seen once is an error, mostly, and so it is left out. Of a genome that was read
//! a few times alone, many a true k-mer is seen once, too, and every one of them breaks a contig.
//! What tells both apart is what is around: a read with an error leaves the graph where the graph
//! goes on, and comes back to it; a gap has a **dead end** on either side. So the k-mers of a read
//! between two dead ends come back (mercy k-mers, as MEGAHIT has them). When errors are out of the
//! graph, those from a dead end to the end of a read do, too, and those from a dead end to where
//! the read comes back: what genomes have in common goes on in one of them where another ends.

use gyrase_kmer::{Kmer, with_words};

use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Extended, SharedGraph, beside, compact_among, kmer_of, shape_of};
use crate::reads::{NONE, ReadBlocks};
use crate::together;
use crate::walk::{ReadStretch, Walk};
use crate::walks::{Searched, Walks};

/// A stretch of a read with fewer k-mers of the graph tells nothing.
pub const NEIGHBOURS: usize = 4;

/// Where k-mers that were seen once come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mercy {
    /// Between two dead ends.
    Gaps,
    /// Behind any dead end, and before it.
    Ends,
}

/// The graph with the k-mers of reads where it ends, and how many these are; `admit` is asked
/// first whether so many may be added.
///
/// Collective.
///
/// # Errors
/// Somebody cancelled, or another process failed; those of `admit`.
pub fn merciful(
    graph: &SharedGraph,
    reads: &dyn ReadBlocks,
    mercy: Mercy,
    admit: &dyn Fn(u64) -> Result<(), AssemblyError>,
    among: &Among,
) -> Result<(SharedGraph, u64), AssemblyError> {
    with_words!(shape_of(graph.k()), W => merciful_of::<W>(graph, reads, mercy, admit, among))
}

fn merciful_of<const W: usize>(
    graph: &SharedGraph,
    reads: &dyn ReadBlocks,
    mercy: Mercy,
    admit: &dyn Fn(u64) -> Result<(), AssemblyError>,
    among: &Among,
) -> Result<(SharedGraph, u64), AssemblyError> {
    let kmers = kmers_at_ends::<W>(graph, reads, mercy, among)?;
    let equal = kmers.chunk_by(|one, other| one == other);
    let counted = equal.map(|equal| (equal[0], equal.len() as u32)).collect();
    drop(kmers);
    let counted = together::counted(among, counted)?;
    admit(among.sum(counted.len())?)?;
    let (stretches, counted) = beside(graph.own(), counted, among)?;
    let (k, added) = (graph.k(), among.sum(counted.len())?);
    let all = Extended::of_stretches((graph.own(), k), stretches, &counted);
    Ok((compact_among(k, &all, among)?, added))
}

/// The k-mers of the reads of this process where the graph ends, ascending: each as often as it is
/// there.
///
/// Collective.
fn kmers_at_ends<const W: usize>(
    graph: &SharedGraph,
    reads: &dyn ReadBlocks,
    mercy: Mercy,
    among: &Among,
) -> Result<Vec<Kmer<W>>, AssemblyError> {
    let searched = Searched::of(graph, among)?;
    let walks = Walks::of(&searched, NEIGHBOURS)?;
    let none = vec![Vec::new(); among.threads];
    let found = walks.for_each(
        reads,
        "ends",
        none,
        |kmers: &mut Vec<Kmer<W>>, _, read, walk| {
            spared(graph.k(), read, walk, mercy, kmers);
            Ok(())
        },
    )?;
    let mut all = Vec::with_capacity(found.iter().map(Vec::len).sum());
    found.into_iter().for_each(|one| all.extend(one));
    all.sort_unstable();
    Ok(all)
}

/// Adds the k-mers of a read where the graph ends.
fn spared<const W: usize>(
    k: usize,
    read: &[u8],
    walk: &Walk,
    mercy: Mercy,
    kmers: &mut Vec<Kmer<W>>,
) {
    // Windows between stretches, or before and behind them, if all of their letters are bases.
    let mut add = |from: usize, to: usize| {
        if from < to && !read[from..to + k - 1].contains(&NONE) {
            let gap = (from..to).map(|at| kmer_of::<W>(&read[at..at + k]));
            kmers.extend(gap.map(|kmer| kmer.canonical(k)));
        }
    };
    // The window behind the last stretch, and whether the graph ends there.
    let mut last_end = None;
    for ReadStretch {
        steps,
        begins,
        ends,
    } in walk.stretches()
    {
        let (first, last) = (steps[0], steps[steps.len() - 1]);
        match (last_end, mercy) {
            (None, Mercy::Ends) if begins => add(0, first.at),
            (Some((from, ended)), Mercy::Gaps) if begins && ended => add(from, first.at),
            (Some((from, ended)), Mercy::Ends) if begins || ended => add(from, first.at),
            _ => {}
        }
        last_end = Some((last.at + last.kmers, ends));
    }
    if let (Some((from, true)), Mercy::Ends) = (last_end, mercy) {
        add(from, (read.len() + 1).saturating_sub(k));
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Alone;
    use gyrase_work::Progress;

    use super::*;
    use crate::graph::{Graph, Pieces, compact};
    use crate::reads::Reads;

    fn sequence(count: usize) -> Vec<u8> {
        let codes = (0..count as u64).map(|at| (gyrase_kmer::mix(at) >> 62) as u8);
        codes.collect()
    }

    /// The graph of the k-mers of some stretches.
    fn graph(stretches: &[&[u8]]) -> Graph {
        let mut pieces = Pieces::default();
        stretches.iter().for_each(|codes| pieces.push(codes, 9));
        compact(11, &pieces, 1)
    }

    fn spared(graph: &Graph, reads: &[Vec<u8>], mercy: Mercy) -> (Graph, u64) {
        let (reads, progress) = (Reads::of(reads), Progress::default());
        let among = Among::of_test(&Alone, &progress);
        let graph = SharedGraph::alone(graph.clone());
        let spared = merciful(&graph, &reads, mercy, &|_| Ok(()), &among);
        let (graph, added) = spared.expect("nobody cancels");
        (graph.own().clone(), added)
    }

    #[test]
    fn a_read_closes_the_gap_that_it_leads_over_and_no_error_comes_back() {
        let genome = sequence(120);
        let graph = graph(&[&genome[..50], &genome[60..]]);
        let mut wrong = genome[10..45].to_vec();
        wrong[17] = 3 - wrong[17];
        // One leads over the gap; one ends within it, and one has an error elsewhere.
        let reads = [genome[30..80].to_vec(), genome[20..55].to_vec(), wrong];
        let (closed, added) = spared(&graph, &reads, Mercy::Gaps);
        // Windows begin before 40 and from 60 on; those between are 20.
        assert_eq!((closed.len(), added), (1, 20));
        assert_eq!(closed.total(), genome.len());
        let (_, added) = spared(&graph, &reads[1..], Mercy::Gaps);
        assert_eq!(added, 0);
    }

    #[test]
    fn ends_grow_as_far_as_reads_have_bases() {
        let genome = sequence(120);
        let graph = graph(&[&genome[30..80]]);
        let other: Vec<u8> = genome[60..100].iter().rev().map(|code| 3 - code).collect();
        let reads = [genome[20..60].to_vec(), other];
        let (grown, added) = spared(&graph, &reads, Mercy::Ends);
        assert_eq!((grown.len(), added), (1, 10 + 20));
        assert_eq!(grown.total(), 100 - 20);
    }
}
