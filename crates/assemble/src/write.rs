//! An assembly as files of other programs: FASTA, GFA. All processes write each file, each what it
//! has, in its place.

mod lines;
mod paths;
mod sections;

use std::path::Path;

use gyrase_fabric::FabricError;

use crate::Error;
use crate::among::Among;
use crate::contig::{Contig, HeaderStyle};
use crate::graph::{Halo, SharedGraph, Way};
use crate::numbering::Numbering;
use lines::{letters, link, portions, segment};
use paths::Paths;

pub use lines::{cut, sign, wrapped};
pub use sections::Sections;

/// Writes the contigs of at least `least` bases as FASTA.
///
/// Collective.
pub fn fasta(
    contigs: &SharedGraph,
    style: HeaderStyle,
    least: usize,
    path: &Path,
    among: &Among,
) -> Result<(), Error> {
    let own = contigs.own();
    let (portions, numbering) = portions(contigs, among.world)?;
    let file = Sections::begin(path, b"", [numbering], among)?;
    file.write(0, among, |portion, text| {
        let nodes = portions[portion].clone().map(Way::forward);
        for way in nodes.filter(|&way| own.length(way) >= least) {
            let header = style.header(&contigs.contig(way));
            text.extend_from_slice(format!(">{header}\n").as_bytes());
            wrapped(&letters(own.bases(way)), text);
        }
    })?;
    file.publish(among)
}

/// Writes all contigs and how they overlap as GFA 1: KC is the sum of the counts of the k-mers, DP
/// how often each was seen. Where strains are left out of contigs, the graph with them is written,
/// and contigs are paths through it.
///
/// Collective.
pub fn gfa(
    contigs: &SharedGraph,
    with_strains: Option<&SharedGraph>,
    style: HeaderStyle,
    path: &Path,
    among: &Among,
) -> Result<(), Error> {
    let graph = with_strains.unwrap_or(contigs);
    let name = |contig: &Contig| match with_strains {
        Some(_) => segment(contig.number),
        None => style.name(contig),
    };
    let (portions, numbering) = portions(graph, among.world)?;
    let nodes = with_neighbours(graph, among)?;
    let paths = with_strains.map(|graph| Paths::of(graph, contigs, style, among));
    let paths = paths.transpose()?;
    let mut sections = Vec::from([numbering.clone(), numbering]);
    if let Some(paths) = &paths {
        let of_first = Numbering::of_processes(among.world, paths.links.len())?;
        sections.push(of_first);
        sections.push(paths.numbering.clone());
    }
    let file = Sections::begin(path, b"H\tVN:Z:1.0\n", sections, among)?;
    file.write(0, among, |portion, text| {
        for node in portions[portion].clone() {
            segment_line(graph, Way::forward(node), name, text);
        }
    })?;
    file.write(1, among, |portion, text| {
        let own = portions[portion].clone().map(Way::forward);
        own.map(|own| graph.number(own))
            .flat_map(|way| [way, way.flipped()])
            .for_each(|way| links_of(&nodes, way, name, text));
    })?;
    if let Some(paths) = paths {
        file.put_all(2, paths.links)?;
        file.put_all(3, paths.lines)?;
    }
    file.publish(among)
}

/// The nodes of this process, and what follows them.
///
/// Collective.
fn with_neighbours<'g>(graph: &'g SharedGraph, among: &Among) -> Result<Halo<'g>, FabricError> {
    let mut nodes = Halo::of(graph);
    let own = nodes.own();
    nodes.seen(own, among.world, |nodes, &way| {
        for &next in [way, way.flipped()]
            .into_iter()
            .flat_map(|way| nodes.next(way))
        {
            nodes.length(next);
        }
    })?;
    Ok(nodes)
}

/// Writes a node of this process.
fn segment_line(
    graph: &SharedGraph,
    way: Way,
    name: impl Fn(&Contig) -> String,
    text: &mut Vec<u8>,
) {
    let contig = graph.contig(way);
    let Contig { length, count, .. } = contig;
    text.extend_from_slice(format!("S\t{}\t", name(&contig)).as_bytes());
    text.extend(letters(graph.own().bases(way)));
    let depth = contig.depth(2);
    let facts = format!("\tLN:i:{length}\tKC:i:{count}\tDP:f:{depth}\n");
    text.extend_from_slice(facts.as_bytes());
}

/// Writes what follows a way.
fn links_of(nodes: &Halo, way: Way, name: impl Fn(&Contig) -> String, text: &mut Vec<u8>) {
    for &next in nodes.next(way) {
        // Each overlap is there in both directions.
        if (next.flipped(), way.flipped()) < (way, next) {
            continue;
        }
        let name = |way: Way| name(&nodes.contig(way));
        text.extend_from_slice(link([way, next], nodes.k() - 1, name).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Steal;
    use gyrase_fabric::testing::{Process, run};
    use gyrase_work::Progress;

    use super::*;
    use crate::graph::{Graph, Pieces, compact};

    /// The lines of contigs and perhaps of the graph of segments that they are paths through; any
    /// number of processes write the same.
    fn gfa_of(contigs: &Graph, segments: Option<&Graph>, style: HeaderStyle) -> Vec<String> {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("graph.gfa");
        let text = |ranks: usize| {
            let written = run(ranks, Steal::Off, |world: &Process| {
                let progress = Progress::default();
                let among = Among::of_test_in(folder.path(), world, &progress);
                let share = |graph: &Graph| SharedGraph::share_of(graph.clone(), world);
                let (contigs, segments) = (share(contigs)?, segments.map(share).transpose()?);
                gfa(&contigs, segments.as_ref(), style, &path, &among)
            });
            let written: Result<Vec<()>, Error> = written.into_iter().collect();
            written.expect("no process fails");
            std::fs::read_to_string(&path).expect("it was written")
        };
        let alone = text(1);
        for ranks in [2, 3, 5] {
            assert_eq!(text(ranks), alone, "{ranks} processes");
        }
        alone.lines().map(str::to_owned).collect()
    }

    fn of_kind(lines: &[String], kind: char) -> Vec<Vec<&str>> {
        let lines = lines.iter().filter(|line| line.starts_with(kind));
        lines.map(|line| line.split('\t').collect()).collect()
    }

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
        let lines = gfa_of(&graph(&[&genome]), Some(&segments), HeaderStyle::Own);
        let paths = of_kind(&lines, 'P');
        let mut overlaps: Vec<&str> = paths[0][3].split(',').collect();
        overlaps.sort_unstable();
        assert_eq!(overlaps, ["11M", "15M"]);
        assert_eq!(paths[0][2].split(',').count(), 3);
        assert_eq!(of_kind(&lines, 'L').len(), 2);
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
        assert!(contigs.contig(Way::forward(0)).is_circular);
        for start in [130, 131, 299] {
            let mut pieces = Pieces::default();
            pieces.push(&around(start), 9);
            pieces.push(&[&random(1000, 50), &around(start)[..k - 1]].concat(), 9);
            let segments = compact(k, &pieces, 1);
            let lines = gfa_of(&contigs, Some(&segments), HeaderStyle::Own);
            let paths = of_kind(&lines, 'P');
            let [one, other] = paths[0][2].split(',').collect::<Vec<_>>()[..] else {
                panic!("{paths:?}");
            };
            assert_eq!((one, paths[0][3]), (other, "20M"));
            // Names with lengths and coverage, which other processes tell of their nodes.
            let lines = gfa_of(&segments, None, HeaderStyle::Spades);
            let named = of_kind(&lines, 'S');
            let is_named = |name: &str| named.iter().any(|segment| segment[1] == name);
            let links = of_kind(&lines, 'L');
            assert!(links.len() > 1);
            assert!(
                links
                    .iter()
                    .all(|link| is_named(link[1]) && is_named(link[3]))
            );
        }
    }
}
