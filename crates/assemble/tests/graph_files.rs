//! Graphs of files against their definitions, on random graphs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gyrase_assemble::gfa::{GfaError, GraphFacts, SegmentGraph};
use proptest::prelude::*;

/// A segment and whether it is read backward.
type End = (usize, bool);

fn flipped((segment, backward): End) -> End {
    (segment, !backward)
}

fn text(lengths: &[usize], links: &[(End, End)]) -> String {
    let mut text = String::from("H\tVN:Z:1.0\n");
    let sign = |backward: bool| if backward { '-' } else { '+' };
    // Links may come before what they name.
    for &((from, one), (to, other)) in links {
        let (one, other) = (sign(one), sign(other));
        text += &format!("L\ts{from}\t{one}\ts{to}\t{other}\t1M\r\n");
    }
    for (segment, &length) in lengths.iter().enumerate() {
        let letters = "A".repeat(length);
        text += &format!("S\ts{segment}\t{letters}\tLN:i:{length}\tDP:f:{segment}\n");
    }
    text
}

fn opened(text: &str) -> Result<SegmentGraph, GfaError> {
    let file = tempfile::NamedTempFile::new().expect("there is a folder for such files");
    std::fs::write(file.path(), text).expect("it was just made");
    SegmentGraph::open(file.path(), 1 << 20)
}

/// What is connected with what, by naming each the least that it reaches.
fn roots(count: usize, links: &BTreeSet<(End, End)>) -> Vec<usize> {
    let mut roots: Vec<usize> = (0..count).collect();
    for _ in 0..count {
        for &((from, _), (to, _)) in links {
            let least = roots[from].min(roots[to]);
            (roots[from], roots[to]) = (least, least);
        }
    }
    roots
}

fn end() -> impl Strategy<Value = End> {
    (0..12usize, any::<bool>())
}

proptest! {
    #[test]
    fn facts_are_those_of_the_definitions(
        lengths in proptest::collection::vec(1..50usize, 1..12),
        links in proptest::collection::vec((end(), end()), 0..14),
        around in 0..12usize,
        distance in 0..4u64,
    ) {
        let count = lengths.len();
        let within = |end: End| (end.0 % count, end.1);
        let links: Vec<(End, End)> = links.iter().map(|&(a, b)| (within(a), within(b))).collect();
        let graph = opened(&text(&lengths, &links)).unwrap();
        let facts = GraphFacts::of(&graph);

        let both: BTreeSet<(End, End)> = links
            .iter()
            .flat_map(|&(from, to)| [(from, to), (flipped(to), flipped(from))])
            .collect();
        let once: BTreeSet<_> = both
            .iter()
            .map(|&(from, to)| (from, to).min((flipped(to), flipped(from))))
            .collect();
        prop_assert_eq!(facts.links, once.len() as u64);
        let leaves = |end: End| both.iter().any(|link| link.0 == end);
        let ends = (0..count).flat_map(|segment| [(segment, false), (segment, true)]);
        prop_assert_eq!(facts.dead_ends, ends.filter(|&end| !leaves(end)).count() as u64);
        prop_assert_eq!(facts.lengths.total(0), lengths.iter().sum::<usize>() as u64);

        let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
        for (segment, root) in roots(count, &both).into_iter().enumerate() {
            *sizes.entry(root).or_default() += lengths[segment] as u64;
        }
        let mut sizes: Vec<u64> = sizes.into_values().collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let found: Vec<u64> = facts.components.iter().map(|one| one.bases).collect();
        prop_assert_eq!(found, sizes);
        for component in &facts.components {
            let inner: BTreeSet<_> = both
                .iter()
                .filter(|link| component.segments.contains(&link.0.0))
                .collect();
            prop_assert_eq!(component.circular, is_ring(&component.segments, &inner));
        }

        let around = around % count;
        let mut near = BTreeSet::from([around]);
        for _ in 0..distance {
            let more = both.iter().filter(|link| near.contains(&link.0.0)).map(|link| link.1.0);
            let more: Vec<usize> = more.collect();
            near.extend(more);
        }
        let kept = graph.near(&[around], distance);
        let found: BTreeSet<usize> = (0..count).filter(|&segment| kept[segment]).collect();
        prop_assert_eq!(&found, &near);
        let mut part = Vec::new();
        let written = graph.write_part(&kept, &mut part).unwrap();
        let again = opened(&String::from_utf8(part).unwrap()).unwrap();
        prop_assert_eq!(again.segments().len(), near.len());
        let inner = links.iter().filter(|(a, b)| near.contains(&a.0) && near.contains(&b.0));
        prop_assert_eq!(written.links, inner.count() as u64);
    }
}

/// A closed walk in one direction that passes every segment once uses every link there is.
fn is_ring(segments: &[usize], links: &BTreeSet<&(End, End)>) -> bool {
    if links.len() != 2 * segments.len() {
        return false;
    }
    let (start, mut at) = ((segments[0], false), (segments[0], false));
    let mut passed = BTreeSet::new();
    while passed.insert(at) {
        let next: Vec<End> = links
            .iter()
            .filter(|link| link.0 == at)
            .map(|link| link.1)
            .collect();
        let [only] = next[..] else {
            return false;
        };
        at = only;
    }
    let different: BTreeSet<usize> = passed.iter().map(|end| end.0).collect();
    at == start && different.len() == segments.len() && passed.len() == segments.len()
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let good = "S\ta\tACGT\nS\tb\tGTAC\n";
    for (more, line, words) in [
        ("L\ta\t+\tc\t-\t2M\n", 3, "names c"),
        ("L\ta\t+\tb\n", 3, "separated by tabs; found 3 fields"),
        ("\n\nL\ta\tx\tb\t+\t2M\n", 5, "direction is x"),
        ("L\ta\t+\tb\t+\t2Q\n", 3, "overlap is 2Q"),
        ("L\ta\t+\tb\t+\t99999999999M\n", 3, "overlap is 9"),
        ("S\ta\tAC\n", 3, "named in line 1 already"),
        ("S\tc\n", 3, "a segment has a name and letters"),
        ("S\tc\tAC GT\n", 3, "letters of c"),
        ("S\tc\t\n", 3, "letters of c"),
        ("S\tc\tAC\tLN:i:3\n", 3, "c has 2 letters, and LN says 3"),
        ("S\tc\t*\tLN:i:many\n", 3, "LN:i:many"),
        ("S\tc\t*\tDP:f:inf\n", 3, "DP:f:inf"),
        ("E\t*\ta+\tb+\t0\t1\t2\t3\t*\n", 3, "GFA 2"),
        ("H\tVN:Z:2.0\n", 3, "GFA 2"),
        (">c\nACGT\n", 3, "found >c"),
        ("hello\n", 3, "expected a line of GFA"),
        ("S c ACGT\n", 3, "expected a line of GFA"),
    ] {
        let error = opened(&format!("{good}{more}")).unwrap_err().to_string();
        let place = format!(", line {line}: ");
        assert!(
            error.contains(&place) && error.contains(words),
            "{more:?}: {error}"
        );
    }
}

#[test]
fn lines_of_any_kind_are_read() {
    let text = "# a comment\r\nH\tVN:Z:1.0\r\nS\ta b\t*\tLN:i:7\tRC:i:70\r\n\r\nS\tc\tacgtn\tdp:f:2.5\n\
                L\tc\t+\ta b\t-\t*\nL\ta b\t+\tc\t-\t*\nP\tp\tc+,a b-\t*\nP\tq\tc+\t*\nC\tx\tx\n\
                W\ts\t0\tchr\t0\t4\t>c\nS\td\t*";
    let graph = opened(text).unwrap();
    let of = |name: &str| graph.segments()[graph.find(name.as_bytes()).unwrap()].clone();
    assert_eq!((of("a b").length, of("a b").depth), (7, Some(10.0)));
    assert_eq!((of("c").length, of("c").depth), (5, Some(2.5)));
    assert_eq!((of("d").length, of("d").depth), (0, None));
    assert_eq!(GraphFacts::of(&graph).links, 1);
    let mut part = Vec::new();
    let kept: Vec<bool> = (0..3).map(|segment| graph.name(segment) == b"c").collect();
    let written = graph.write_part(&kept, &mut part).unwrap();
    assert_eq!(
        (written.segments, written.paths, written.left_out),
        (1, 1, 3)
    );
    assert_eq!(part, b"H\tVN:Z:1.0\nS\tc\tacgtn\tdp:f:2.5\nP\tq\tc+\t*\n");
    for empty in ["", "\n", "H\tVN:Z:1.0\n"] {
        assert!(opened(empty).unwrap().segments().is_empty());
    }
}

#[test]
fn memory_is_kept() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let letters = "ACGT".repeat(1 << 20);
    std::fs::write(file.path(), format!("S\ta\t{letters}\n")).unwrap();
    let little = SegmentGraph::open(file.path(), 4 << 20).unwrap_err();
    assert!(matches!(little, GfaError::Memory { .. }), "{little}");
    assert!(SegmentGraph::open(file.path(), 9 << 20).is_ok());
    let missing = SegmentGraph::open(Path::new("nowhere.gfa"), 1 << 20).unwrap_err();
    assert!(missing.to_string().contains("nowhere.gfa"));
}
