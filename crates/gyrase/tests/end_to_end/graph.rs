//! `gyrase graph`: what it says of graphs, draws of them, takes from them and makes of unitigs.

use crate::place::{Place, gzip};

/// A ring of two segments, a plasmid, and a contig by itself.
const GRAPH: &str = "H\tVN:Z:1.0\nS\tone\tACGTACGTAA\tDP:f:10\nS\ttwo\tAAGGCCTTAC\tDP:f:10\n\
                     S\tplasmid\tCCCGGGTTTCCC\tDP:f:40\nS\talone\tACGTT\tDP:f:3\n\
                     L\tone\t+\ttwo\t+\t2M\nL\ttwo\t+\tone\t+\t2M\nL\tplasmid\t+\tplasmid\t+\t3M\n";

#[test]
fn a_graph_is_told_drawn_and_taken_apart() {
    let place = Place::new();
    place.write("g.gfa", GRAPH);
    place.write("g.gfa.gz", gzip(GRAPH.replace('\n', "\r\n").as_bytes()));
    let told = place.ok(&["graph", "info", "g.gfa"]);
    assert!(told.contains("dead ends      2 of 8 (25.00 %)\n"), "{told}");
    assert!(
        told.contains("components     3, 2 of them circular\n"),
        "{told}"
    );
    assert_eq!(told, place.ok(&["graph", "info", "g.gfa.gz"]));
    let facts: serde_json::Value =
        serde_json::from_str(&place.ok(&["graph", "info", "--json", "g.gfa"])).unwrap();
    assert_eq!((&facts["n50"], &facts["links"]), (&10.into(), &3.into()));
    assert_eq!(facts["largest_component_segments"], 2);

    place.ok(&["-q", "graph", "draw", "g.gfa", "-o", "g.svg"]);
    let svg = String::from_utf8(place.read("g.svg")).unwrap();
    for name in [
        "one: 10 bases, depth 10.0",
        "alone: 5 bases",
        "2 ×",
        "3 components",
    ] {
        assert!(svg.contains(name), "{name}: {svg}");
    }
    assert!(!svg.contains("NaN"));
    place.ok(&["-q", "graph", "draw", "g.gfa", "-o", "g.png"]);
    assert!(place.read("g.png").starts_with(b"\x89PNG"));

    let part = place.ok(&["-q", "graph", "subgraph", "g.gfa", "--around", "two"]);
    assert_eq!(part.matches("S\t").count(), 2);
    assert_eq!(part.matches("L\t").count(), 2);
    let only = [
        "-q",
        "graph",
        "subgraph",
        "g.gfa",
        "--around",
        "two",
        "--distance",
        "0",
    ];
    assert_eq!(
        place.ok(&only),
        "H\tVN:Z:1.0\nS\ttwo\tAAGGCCTTAC\tDP:f:10\n"
    );
}

#[test]
fn odd_graphs_are_told_of() {
    let place = Place::new();
    place.write("none.gfa", "");
    let ran = place.run(&["graph", "info", "none.gfa"]);
    assert!(
        ran.code == 0 && ran.stderr.contains("no segment"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("segments       0\n"), "{ran:?}");
    place.ok(&["-q", "graph", "draw", "none.gfa", "-o", "none.svg"]);
    place.write("bad.gfa", "S\ta\tACGT\nL\ta\t+\tb\t+\t2M\n");
    place.write("cut.gfa.gz", &gzip(GRAPH.as_bytes())[..90]);
    place.write("reads.fa", ">r\nACGT\n");
    place.fails(
        &["graph", "info", "bad.gfa"],
        7,
        &["bad.gfa, line 2", "names b"],
    );
    place.fails(&["graph", "info", "cut.gfa.gz"], 7, &["cut.gfa.gz"]);
    place.fails(
        &["graph", "info", "reads.fa"],
        7,
        &["line 1", "graph to-gfa"],
    );
    place.fails(&["graph", "info", "nowhere.gfa"], 1, &["nowhere.gfa"]);
    place.fails(&["graph", "draw", "bad.gfa", "-o", "x.jpg"], 1, &["x.svg"]);
    place.write("g.gfa", GRAPH);
    place.fails(
        &[
            "graph", "subgraph", "g.gfa", "--around", "three", "-o", "o.gfa",
        ],
        1,
        &["named three", "one, two, plasmid"],
    );
    place.fails(
        &["graph", "draw", "g.gfa", "-o", "/dev/full"],
        6,
        &["/dev/full"],
    );
}

#[test]
fn unitigs_become_the_graph_that_unitigs_writes() {
    let place = Place::new();
    place.simulate("3000", "10");
    for k in ["21", "31", "55"] {
        let unitigs = [
            "-q",
            "unitigs",
            "r_1.fq",
            "r_2.fq",
            "-k",
            k,
            "--min-count",
            "2",
        ];
        place.ok(&[&unitigs[..], &["-o", "u.fa"]].concat());
        place.ok(&[&unitigs[..], &["-o", "u.gfa"]].concat());
        for more in [&[][..], &["-k", k]] {
            place.ok(&[&["-q", "graph", "to-gfa", "u.fa", "-o", "made.gfa"], more].concat());
            assert!(place.read("made.gfa") == place.read("u.gfa"), "k = {k}");
        }
    }
    place.write("u.fa.gz", gzip(&place.read("u.fa")));
    let made = place.ok(&["-q", "graph", "to-gfa", "u.fa.gz"]);
    assert!(made.as_bytes() == place.read("u.gfa"));
    place.write("none.fa", "");
    assert_eq!(
        place.ok(&["-q", "graph", "to-gfa", "none.fa"]),
        "H\tVN:Z:1.0\n"
    );
    let convert = |text: &str, words: &[&str]| {
        place.write("odd.fa", text);
        place.fails(&["graph", "to-gfa", "odd.fa", "-o", "o.gfa"], 7, words);
    };
    convert(">0 L:+:1:+\nACGTAC\n", &["odd.fa, record 1", "names 1"]);
    convert(">0 L:+:0\nACGTAC\n", &["record 1", "L:+:0 is no link"]);
    convert(">0\nACGTAC\n>0\nACG\n", &["record 2", "named in record 1"]);
    convert(">0\nACGTACGT\n", &["k may be 3", "-k"]);
    convert(">0 L:+:1:+\nAAAAAA\n>1\nCCCCCC\n", &["no odd k", "-k"]);
    let apart = ["graph", "to-gfa", "u.fa", "-k", "57", "-o", "o.gfa"];
    place.fails(&apart, 7, &["record", "does not overlap it by 56", "-k"]);
}
