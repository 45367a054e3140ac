//! An assembly as files of other programs: FASTA, GFA.

use std::collections::BTreeSet;
use std::io::{self, Write};

use gyrase_seq::decode;

use crate::BaseSlice;
use crate::graph::{Graph, Way};
use crate::starts::Starts;
use crate::walk::Step;

/// How contigs are named, each by its number from 1, which it has in all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderStyle {
    /// `contig_1 length=4653 depth=37.25 circular=no`.
    #[default]
    Own,
    /// `NODE_1_length_4653_cov_37.250000`, as SPAdes: coverage by k-mers.
    Spades,
    /// `k127_1 flag=1 multi=37.2500 len=4653`, as MEGAHIT; flag 3 is a ring, 1 has no neighbours.
    Megahit,
    /// `1 4653 168597`, as ABySS: number, length, sum of the counts of the k-mers.
    Abyss,
}

/// Letters of a line of FASTA.
const LINE: usize = 80;

impl HeaderStyle {
    /// The name of a contig, by which all files know it.
    pub fn name(self, graph: &Graph, way: Way) -> String {
        let number = way.node() + 1;
        match self {
            HeaderStyle::Own => format!("contig_{number}"),
            HeaderStyle::Spades => {
                let (length, depth) = (graph.length(way), depth(graph, way, 6));
                format!("NODE_{number}_length_{length}_cov_{depth}")
            }
            HeaderStyle::Megahit => format!("k{}_{number}", graph.k()),
            HeaderStyle::Abyss => number.to_string(),
        }
    }

    /// The name, and what else a line of FASTA says.
    fn header(self, graph: &Graph, way: Way) -> String {
        let (name, length) = (self.name(graph, way), graph.length(way));
        match self {
            HeaderStyle::Own => {
                let circular = if graph.is_circular(way) { "yes" } else { "no" };
                let depth = depth(graph, way, 2);
                format!("{name} length={length} depth={depth} circular={circular}")
            }
            HeaderStyle::Spades => name,
            HeaderStyle::Megahit => {
                let alone = graph.next(way).is_empty() && graph.next(way.flipped()).is_empty();
                let flag = match graph.is_circular(way) {
                    true => 3,
                    false => u8::from(alone),
                };
                let depth = depth(graph, way, 4);
                format!("{name} flag={flag} multi={depth} len={length}")
            }
            HeaderStyle::Abyss => format!("{name} {length} {}", graph.count(way)),
        }
    }
}

/// How often a k-mer of a contig was seen on average, with so many digits behind the point.
pub(crate) fn depth(graph: &Graph, way: Way, digits: u32) -> String {
    let scale = 10u128.pow(digits);
    let kmers = u128::from(graph.kmers(way));
    let scaled = (u128::from(graph.count(way)) * scale + kmers / 2) / kmers;
    let digits = digits as usize;
    format!("{}.{:0digits$}", scaled / scale, scaled % scale)
}

/// Writes the contigs of at least `least` bases as FASTA.
///
/// # Errors
/// As `out` has them.
pub fn fasta(
    graph: &Graph,
    style: HeaderStyle,
    least: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    for way in graph.nodes().filter(|&way| graph.length(way) >= least) {
        writeln!(out, ">{}", style.header(graph, way))?;
        wrapped(&letters(graph.bases(way)), out)?;
    }
    Ok(())
}

/// Writes letters in lines.
pub(crate) fn wrapped(letters: &[u8], out: &mut dyn Write) -> io::Result<()> {
    for line in letters.chunks(LINE) {
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes all contigs and how they overlap as GFA 1. KC is the sum of the counts of the k-mers, DP
/// how often each was seen.
///
/// # Errors
/// As `out` has them.
pub fn gfa(graph: &Graph, style: HeaderStyle, out: &mut dyn Write) -> io::Result<()> {
    nodes(graph, |way| style.name(graph, way), out)
}

/// Writes a graph with strains as GFA 1, and the contigs as paths through it.
///
/// # Errors
/// As `out` has them.
pub fn gfa_with_paths(
    graph: &Graph,
    contigs: &Graph,
    style: HeaderStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = |way: Way| format!("segment_{}", way.node() + 1);
    nodes(graph, name, out)?;
    let starts = Starts::of(graph);
    let (mut paths, mut shorter) = (Vec::new(), BTreeSet::new());
    for contig in contigs.nodes() {
        let kmers = contigs.kmers(contig) as usize;
        // Bases across a join of pairs may be within a strain that is left out.
        let passes = |step: &Step| {
            let is_whole = step.offset == 0 && step.kmers as u64 == graph.kmers(step.way);
            is_whole || step.at == 0 || step.at + step.kmers == kmers
        };
        let mut path = starts.steps(&contigs.codes(contig));
        path.retain(passes);
        let named = |step: &Step| format!("{}{}", name(step.way), sign(step.way));
        let segments: Vec<String> = path.iter().map(named).collect();
        let overlap = |two: &[Step]| two[0].at + two[0].kmers + graph.k() - 1 - two[1].at;
        let overlaps: Vec<usize> = path.windows(2).map(overlap).collect();
        // Pairs join ends that overlap by less than a k-mer.
        for (two, &overlap) in path.windows(2).zip(&overlaps) {
            if overlap + 1 < graph.k() {
                let [one, other] = [two[0].way, two[1].way];
                let ways = (one, other).min((other.flipped(), one.flipped()));
                shorter.insert((ways, overlap));
            }
        }
        let overlaps: Vec<String> = overlaps.iter().map(|bases| format!("{bases}M")).collect();
        let overlaps = match overlaps.is_empty() {
            true => "*".to_owned(),
            false => overlaps.join(","),
        };
        let (contig, segments) = (style.name(contigs, contig), segments.join(","));
        paths.push(format!("P\t{contig}\t{segments}\t{overlaps}"));
    }
    for ((one, other), overlap) in shorter {
        link([one, other], overlap, name, out)?;
    }
    paths.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes an overlap of two ways.
fn link(
    ways: [Way; 2],
    overlap: usize,
    name: impl Fn(Way) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [one, other] = ways.map(|way| format!("{}\t{}", name(way), sign(way)));
    writeln!(out, "L\t{one}\t{other}\t{overlap}M")
}

fn sign(way: Way) -> char {
    if way.is_backward() { '-' } else { '+' }
}

fn nodes(graph: &Graph, name: impl Fn(Way) -> String, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "H\tVN:Z:1.0")?;
    for way in graph.nodes() {
        write!(out, "S\t{}\t", name(way))?;
        out.write_all(&letters(graph.bases(way)))?;
        let (length, count) = (graph.length(way), graph.count(way));
        let depth = depth(graph, way, 2);
        writeln!(out, "\tLN:i:{length}\tKC:i:{count}\tDP:f:{depth}")?;
    }
    for way in graph.ways() {
        for &next in graph.next(way) {
            // Each overlap is there in both directions.
            if (next.flipped(), way.flipped()) < (way, next) {
                continue;
            }
            link([way, next], graph.k() - 1, &name, out)?;
        }
    }
    Ok(())
}

fn letters(bases: BaseSlice) -> Vec<u8> {
    bases.codes().into_iter().map(decode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Pieces, compact};

    #[test]
    fn a_path_says_how_short_its_segments_overlap() {
        let k = 21;
        let genome: Vec<u8> = (0..300u64)
            .map(|at| (gyrase_kmer::mix(at) >> 62) as u8)
            .collect();
        let graph = |parts: &[&[u8]]| {
            let mut pieces = Pieces::default();
            parts.iter().for_each(|part| pieces.push(part, 9));
            compact(k, &pieces, 1)
        };
        // The second is shorter than two k-mers.
        let segments = graph(&[&genome[..150], &genome[139..175], &genome[160..]]);
        let contigs = graph(&[&genome]);
        let mut text = Vec::new();
        gfa_with_paths(&segments, &contigs, HeaderStyle::Own, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines = |kind: char| text.lines().filter(move |line| line.starts_with(kind));
        let path: Vec<&str> = lines('P').next().unwrap().split('\t').collect();
        let mut overlaps: Vec<&str> = path[3].split(',').collect();
        overlaps.sort_unstable();
        assert_eq!(overlaps, ["11M", "15M"]);
        assert_eq!(path[2].split(',').count(), 3);
        assert_eq!(lines('L').count(), 2);
    }

    #[test]
    fn the_path_of_a_ring_may_begin_within_a_segment() {
        let k = 21;
        let random = |from: u64, bases: u64| -> Vec<u8> {
            let codes = (from..from + bases).map(|at| (gyrase_kmer::mix(at) >> 62) as u8);
            codes.collect()
        };
        let ring = random(0, 300);
        // Something else leads to a place of it, so that one segment begins and ends there.
        let around = |start: usize| -> Vec<u8> {
            let codes = ring.iter().cycle().skip(start);
            codes.take(ring.len() + k - 1).copied().collect()
        };
        let mut pieces = Pieces::default();
        pieces.push(&around(0), 9);
        let contigs = compact(k, &pieces, 1);
        assert!(contigs.is_circular(Way::forward(0)));
        for start in [130, 131, 299] {
            let mut pieces = Pieces::default();
            pieces.push(&around(start), 9);
            pieces.push(&[&random(1000, 50), &around(start)[..k - 1]].concat(), 9);
            let segments = compact(k, &pieces, 1);
            let mut text = Vec::new();
            gfa_with_paths(&segments, &contigs, HeaderStyle::Own, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let path = text.lines().find(|line| line.starts_with('P')).unwrap();
            let path: Vec<&str> = path.split('\t').collect();
            let [one, other] = path[2].split(',').collect::<Vec<_>>()[..] else {
                panic!("{path:?}");
            };
            assert_eq!((one, path[3]), (other, "20M"));
        }
    }
}
