//! `gyrase index`: databases of sequences, and searches in them and in those of BLAST.

use crate::place::{Place, gzip};
use crate::search::PROTEINS;

const BLAST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../seqdb/tests/golden/blast");

/// Four proteins with taxids, two of them in a table; and who is above whom.
fn place() -> Place {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("map.tsv", "p1\t562\np3\t561\np4\t9606\n");
    std::fs::create_dir(place.path("tax")).unwrap();
    let node =
        |taxid: u32, parent: u32, rank: &str| format!("{taxid}\t|\t{parent}\t|\t{rank}\t|\n");
    let nodes = [
        node(1, 1, "no rank"),
        node(2, 1, "domain"),
        node(561, 2, "genus"),
        node(562, 561, "species"),
        node(9606, 1, "species"),
    ];
    place.write("tax/nodes.dmp", nodes.concat());
    let name = |taxid: u32| format!("{taxid}\t|\tname {taxid}\t|\t\t|\tscientific name\t|\n");
    let names: String = [1, 2, 561, 562, 9606].into_iter().map(name).collect();
    place.write("tax/names.dmp", names);
    place
}

fn with_taxa(place: &Place) {
    let args = [
        "index",
        "refs.faa",
        "--taxonomy",
        "tax",
        "--map",
        "map.tsv",
        "-o",
        "r.gysd",
    ];
    place.ok(&args);
}

fn subjects(table: &str) -> Vec<&str> {
    let second = |line| str::split(line, '\t').nth(1).unwrap();
    table.lines().map(second).collect()
}

#[test]
fn a_database_is_made_and_looked_into() {
    let place = place();
    place.write("refs.faa.gz", gzip(PROTEINS.as_bytes()));
    place.ok(&[
        "index",
        "build",
        "refs.faa.gz",
        "-o",
        "x.gysd",
        "--report",
        "r.json",
    ]);
    assert_eq!(place.json("r.json")["counts"]["sequences"], 4);
    let info = place.ok(&["index", "info", "x.gysd"]);
    assert!(info.contains("240 of proteins"), "{info}");
    place.ok(&["index", "verify", "x.gysd"]);
    let all = place.ok(&["-q", "index", "get", "x.gysd", "--all"]);
    assert_eq!(all, PROTEINS);
    let some = place.ok(&[
        "-q", "index", "get", "x.gysd", "p3:5-8", "p1:58-99", "p2:60-",
    ]);
    assert_eq!(
        some,
        ">p3:5-8\nSWYG\n>p1:58-60 the first\nPDF\n>p2:60-60\nF\n"
    );
    place.write("names", "p4\n\np2:1-3\n");
    let listed = place.ok(&["-q", "index", "get", "x.gysd", "--names", "names"]);
    assert!(
        listed.starts_with(">p4\nGQND") && listed.ends_with(">p2:1-3\nMKV\n"),
        "{listed}"
    );
    // Whatever it is made of, and by whichever way, it has the same bytes.
    place.write("a.faa", &PROTEINS[..PROTEINS.find(">p3").unwrap()]);
    place.write("b.faa", &PROTEINS[PROTEINS.find(">p3").unwrap()..]);
    place.ok(&["index", "a.faa", "-o", "y.gysd"]);
    place.ok(&["index", "add", "y.gysd", "b.faa"]);
    assert!(place.read("x.gysd") == place.read("y.gysd"));
    place.ok(&["index", "y.gysd", "-o", "z.gysd"]);
    assert!(place.read("x.gysd") == place.read("z.gysd"));
}

#[test]
fn nucleotides_come_back_from_both_strands() {
    let place = Place::new();
    let letters = "GATTACARYN".repeat(12);
    place.write(
        "n.fa",
        format!(
            ">chr1 x\n{}\n>chr1:1-2\nACGTNNNNACGTT\n",
            letters.to_lowercase()
        ),
    );
    place.ok(&["index", "n.fa", "--molecule", "nucleotide", "-o", "n.gysd"]);
    let get = |args: &[&str]| place.ok(&[&["-q", "index", "get", "n.gysd"], args].concat());
    assert_eq!(get(&["chr1:2-12"]), ">chr1:2-12 x\nATTACARYNGA\n");
    let minus = get(&["chr1:2-12", "chr1:1-2:3-6", "--strand", "minus"]);
    assert_eq!(minus, ">chr1:c12-2 x\nTCNRYTGTAAT\n>chr1:1-2:c6-3\nNNAC\n");
    assert_eq!(get(&["chr1:1-2"]), ">chr1:1-2\nACGTNNNNACGTT\n");
    assert_eq!(get(&["--all"]).lines().nth(1), Some(&letters[..80]));
}

#[test]
fn lower_case_comes_back_where_it_was_kept() {
    let place = Place::new();
    let masked = ">n1 x\nacgtACGTNNnnACGTACGTACGTgg\n>n2\nACGTaacc\n";
    place.write("n.fa", masked);
    place.write("more.fa", ">n3\nacgtACGTAA\n");
    let index = |args: &[&str]| place.ok(&[&["index"], args].concat());
    let get = |args: &[&str]| place.ok(&[&["-q", "index", "get"], args].concat());
    let made = ["n.fa", "--molecule", "nucleotide", "-o"];
    index(&[&made[..], &["plain.gysd"]].concat());
    index(&[&made[..], &["n.gysd", "--lower-case-masking"]].concat());
    assert_eq!(
        get(&["plain.gysd", "--all"]),
        masked
            .to_uppercase()
            .replace(">N1 X", ">n1 x")
            .replace(">N2", ">n2")
    );
    assert_eq!(get(&["n.gysd", "--all"]), masked);
    let part = get(&["n.gysd", "n2:3-6", "--strand", "minus"]);
    assert_eq!(part, ">n2:c6-3\nttAC\n");
    let masks = |name: &str| {
        index(&["info", name])
            .lines()
            .find(|row| row.starts_with("masks"))
            .map(String::from)
    };
    assert_eq!(
        masks("n.gysd").unwrap(),
        "masks         12 letters, in lower case"
    );
    assert_eq!(masks("plain.gysd").unwrap(), "masks         none were kept");
    // What a database has stays; files are masked where that is asked for.
    index(&["n.gysd", "-o", "again.gysd"]);
    assert!(place.read("again.gysd") == place.read("n.gysd"));
    index(&["add", "again.gysd", "more.fa"]);
    assert_eq!(
        get(&["again.gysd", "n1:1-8", "n3"]),
        ">n1:1-8 x\nacgtACGT\n>n3\nACGTACGTAA\n"
    );
    index(&["add", "n.gysd", "more.fa", "--lower-case-masking"]);
    assert_eq!(get(&["n.gysd", "n3"]), ">n3\nacgtACGTAA\n");
    index(&["verify", "n.gysd", "again.gysd", "plain.gysd"]);
}

#[test]
fn every_way_a_database_comes_gives_the_same_answer() {
    let place = place();
    let blast = |name: &str| format!("{BLAST}/{name}");
    place.write("q.faa", std::fs::read(blast("proteins.faa")).unwrap());
    place.ok(&["index", "refs.faa", "-o", "r.gysd"]);
    place.ok(&["index", &blast("both"), "-o", "both.gysd"]);
    let search = |db: &[&str]| {
        let format = ["--evalue", "1e-3", "--format", "6 std stitle", "--db"];
        place.ok(&[&["-q", "search", "q.faa", "refs.faa"], &format[..], db].concat())
    };
    let (both, v4, plain) = (blast("both"), blast("v4"), blast("plain.pin"));
    let expected = search(&["refs.faa", &both]);
    assert!(expected.lines().count() > 20, "{expected}");
    assert_eq!(search(&["r.gysd", &both]), expected);
    assert_eq!(search(&["r.gysd", "both.gysd"]), expected);
    assert_eq!(search(&["refs.faa", &plain, &v4]), expected);
    place.write("list", "refs.faa\nboth.gysd\n");
    assert_eq!(search(&["@list"]), expected);
    place.write("bases.fa", format!(">g\n{}\n", "GATTACAC".repeat(30)));
    let mixed = ["search", "q.faa", "--db", "r.gysd", "bases.fa"];
    place.fails(&mixed, 1, &["bases.fa has nucleotides"]);
    let mixed = ["search", "q.faa", "--db", "r.gysd", &blast("bases")];
    place.fails(&mixed, 1, &["r.gysd has proteins"]);
}

#[test]
fn subjects_are_chosen_by_taxon() {
    let place = place();
    with_taxa(&place);
    let info = place.ok(&["index", "info", "r.gysd"]);
    assert!(
        info.contains("3 of all") && info.contains("5, 2 of them species"),
        "{info}"
    );
    place.write("q.faa", &PROTEINS[..78]);
    let with = |more: &[&str]| place.ok(&[&["-q", "search", "q.faa", "--db"], more].concat());
    let all = with(&["r.gysd"]);
    assert_eq!(subjects(&all), ["p1", "p2", "p3"]);
    let bacteria = with(&["r.gysd", "--taxid", "2"]);
    assert_eq!(subjects(&bacteria), ["p1", "p3"]);
    // E-values are those of the whole database.
    let lines: Vec<&str> = all.lines().filter(|line| !line.contains("p2")).collect();
    assert_eq!(bacteria.lines().collect::<Vec<_>>(), lines);
    assert_eq!(
        subjects(&with(&["r.gysd", "--not-taxid", "562,9606"])),
        ["p2", "p3"]
    );
    assert_eq!(
        subjects(&with(&["r.gysd", "--taxid", "561", "--not-taxid", "562"])),
        ["p3"]
    );
    assert_eq!(with(&["r.gysd", "--taxid", "9606"]), "");
    let told = with(&["r.gysd", "--format", "6 saccver staxid staxids"]);
    assert_eq!(told, "p1\t562\t562\np2\tN/A\tN/A\np3\t561\t561\n");
    let names = "6 saccver ssciname sscinames scomname sskingdom sskingdoms";
    let told = with(&["r.gysd", "--format", names]);
    let named = |subject: &str, name: &str, domain: &str| {
        format!("{subject}\t{name}\t{name}\tN/A\t{domain}\t{domain}\n")
    };
    let rows = [
        named("p1", "name 562", "name 2"),
        named("p2", "N/A", "N/A"),
        named("p3", "name 561", "name 2"),
    ];
    assert_eq!(told, rows.concat());
    let page = with(&["r.gysd", "--format", "html"]);
    let organisms = [
        "\"organism\":\"name 562\"",
        ">name 561</td>",
        "\"organism\":\"\"",
    ];
    assert!(organisms.iter().all(|told| page.contains(told)));
    let page = with(&["refs.faa", "--format", "html"]);
    assert!(page.contains("\"taxa\":false") && !page.contains("\"organism\":"));
    place.fails(
        &["search", "q.faa", "--db", "r.gysd", "--taxid", "77"],
        1,
        &["taxid 77"],
    );
    // A title may say it; nothing says what is below.
    place.write("t.faa", PROTEINS.replace(">p1 the first", ">p1 OX=562"));
    assert_eq!(subjects(&with(&["t.faa", "--taxid", "562"])), ["p1"]);
    assert_eq!(with(&["t.faa", "--taxid", "2"]), "");
    assert_eq!(
        subjects(&with(&["t.faa", "--taxid", "2", "--taxonomy", "tax"])),
        ["p1"]
    );
}

#[test]
fn what_is_no_database_is_refused() {
    let place = place();
    place.ok(&["index", "refs.faa", "-o", "r.gysd"]);
    let whole = place.read("r.gysd");
    place.write("cut.gysd", &whole[..whole.len() - 64]);
    let mut flipped = whole.clone();
    flipped[4200] ^= 1;
    place.write("flipped.gysd", &flipped);
    place.write("empty", "");
    place.write("x.dmnd", b"\x6d\x18\xee\x15\xa4\xf8\x4a\x02\x9d\x00");
    let search = |db: &'static str| ["search", "refs.faa", "--db", db];
    place.fails(&search("cut.gysd"), 2, &["cut.gysd", "truncated"]);
    place.fails(&search("flipped.gysd"), 2, &["block 0 of section letters"]);
    place.fails(&search("x.dmnd"), 2, &["diamond getseq"]);
    place.fails(&["index", "verify", "flipped.gysd"], 2, &["flipped.gysd"]);
    place.fails(
        &["index", "info", "refs.faa"],
        2,
        &["no .gysd file: it looks like a FASTA file", "gyrase index"],
    );
    place.fails(&["index", "get", "r.gysd", "p9"], 1, &["no sequence p9"]);
    place.fails(
        &["index", "get", "r.gysd", "p1:61-70"],
        1,
        &["p1 has 60 letters"],
    );
    let minus = ["index", "get", "r.gysd", "p1", "--strand", "minus"];
    place.fails(&minus, 1, &["no strands"]);
    place.fails(&["index", "refs.faa"], 1, &["--output"]);
    place.fails(
        &["index", "refs.faa", "-o", "refs.faa"],
        1,
        &["is an input"],
    );
    place.fails(
        &["index", "r.gysd", "-o", "map.tsv"],
        6,
        &["no .gysd database"],
    );
    place.fails(&["index", "none.faa", "-o", "y.gysd"], 1, &["none.faa"]);
    place.write("bases.fa", format!(">g\n{}\n", "GATTACAC".repeat(30)));
    place.fails(
        &["index", "refs.faa", "bases.fa", "-o", "y.gysd"],
        1,
        &["bases.fa has nucl"],
    );
    let before = place.files();
    let full = place.limited("ulimit -f 4", &["index", "add", "r.gysd", "refs.faa"]);
    place.check_failure(full, 6, &["r.gysd"], &before);
    assert!(place.read("r.gysd") == whole);
}

#[test]
fn no_sequences_and_many_of_one_name_are_a_database_too() {
    let place = place();
    place.write("empty.fa", "");
    place.ok(&["index", "empty.fa", "-o", "empty.gysd"]);
    place.ok(&["index", "verify", "empty.gysd"]);
    assert_eq!(place.ok(&["-q", "index", "get", "empty.gysd", "--all"]), "");
    assert_eq!(
        place.ok(&["-q", "search", "refs.faa", "--db", "empty.gysd"]),
        ""
    );
    place.write("odd.fa", ">a b\nMKVLAW\n>a\nGG\n>\nWWW\n> c\nPP\n>none\n");
    place.ok(&["index", "odd.fa", "-o", "odd.gysd"]);
    place.ok(&["index", "verify", "odd.gysd"]);
    let twice = place.ok(&["-q", "index", "get", "odd.gysd", "a"]);
    assert_eq!(twice, ">a b\nMKVLAW\n>a\nGG\n");
    let all = place.ok(&["-q", "index", "get", "odd.gysd", "--all"]);
    assert_eq!(all.matches('>').count(), 5, "{all}");
}
