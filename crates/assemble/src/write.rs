//! An assembly as files of other programs: FASTA, GFA.

use std::io::{self, Write};

use gyrase_seq::decode;

use crate::graph::{Graph, Way};
use crate::index::Index;
use crate::walk::Walker;

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
        wrapped(&letters(graph.codes(way)), out)?;
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

/// Writes a graph with all strains as GFA 1, and the contigs as paths through it.
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
    let index = Index::of(graph, graph.k());
    let (walker, mut steps) = (Walker::new(graph, &index), Vec::new());
    for contig in contigs.nodes() {
        let mut path = Vec::new();
        walker.walk(contigs.codes(contig), &mut steps, |steps| {
            path.extend(
                steps
                    .iter()
                    .map(|step| format!("{}{}", name(step.way), sign(step.way))),
            );
        });
        let overlaps = match path.len() {
            0 | 1 => "*".to_owned(),
            more => vec![format!("{}M", graph.k() - 1); more - 1].join(","),
        };
        writeln!(
            out,
            "P\t{}\t{}\t{overlaps}",
            style.name(contigs, contig),
            path.join(",")
        )?;
    }
    Ok(())
}

fn sign(way: Way) -> char {
    if way.is_backward() { '-' } else { '+' }
}

fn nodes(graph: &Graph, name: impl Fn(Way) -> String, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "H\tVN:Z:1.0")?;
    for way in graph.nodes() {
        write!(out, "S\t{}\t", name(way))?;
        out.write_all(&letters(graph.codes(way)))?;
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
            let names = [way, next].map(&name);
            let [one, other] = [sign(way), sign(next)];
            let overlap = graph.k() - 1;
            writeln!(
                out,
                "L\t{}\t{one}\t{}\t{other}\t{overlap}M",
                names[0], names[1]
            )?;
        }
    }
    Ok(())
}

fn letters(codes: &[u8]) -> Vec<u8> {
    codes.iter().map(|&code| decode(code)).collect()
}
