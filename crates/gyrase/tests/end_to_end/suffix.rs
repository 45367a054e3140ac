//! `gyrase match`, `repeats`, `mappability` and `suffix`: the same of FASTA and of a `.gysa` file,
//! and what is refused.

use crate::place::Place;

const GENOME: &str = ">chr one\nGATTACAGGATCCATTGACCA\n>plasmid\nTTGGTCAATGGATCCTNNNN\n";

#[test]
fn suffixes_in_a_file_are_those_of_its_sequences() {
    let place = Place::new();
    place.write("g.fa", GENOME);
    place.write("q.fa", ">q\nGATTACAGG\n");
    place.ok(&["-q", "suffix", "build", "g.fa", "--bwt", "-o", "g.gysa"]);
    place.ok(&["-q", "suffix", "verify", "g.gysa"]);
    for (verb, more, expected) in [
        (
            "match",
            &["q.fa", "-l", "8"][..],
            "> q\n  chr             1         1         9\n",
        ),
        (
            "mappability",
            &["-k", "5", "--counts"],
            "chr\t0\t7\t1\nchr\t7\t9\t2\nchr\t9\t17\t1\nplasmid\t0\t9\t1\nplasmid\t9\t11\t2\n\
             plasmid\t11\t12\t1\n",
        ),
        (
            "repeats",
            &["-l", "6"],
            "repeat\tlength\tcopies\tsequence\tstart\tend\tstrand\tfile\n\
             1\t6\t2\tchr\t8\t13\t+\t1\n1\t6\t2\tplasmid\t10\t15\t+\t1\n",
        ),
    ] {
        for input in ["g.fa", "g.gysa"] {
            let told = place.ok(&[&["-q", verb, input], more].concat());
            assert_eq!(told, expected, "{verb} {input}");
        }
    }
    place.write("bad.gysa", &place.read("g.gysa")[..5000]);
    place.fails(
        &["suffix", "verify", "bad.gysa"],
        2,
        &["bad.gysa", "truncated"],
    );
    let twice = ["match", "g.gysa", "q.fa", "--letters", "any", "-o", "o.tsv"];
    place.fails(&twice, 1, &["--letters bases"]);
}

#[test]
fn plans_are_of_one_process_or_of_each_of_several() {
    let place = Place::new();
    place.write("g.fa", GENOME);
    let plan = ["-q", "plan", "suffix", "build", "g.fa"];
    let one = place.ok(&plan);
    assert!(!one.contains("processes"), "{one}");
    // What each takes for any text, and for each letter of its half.
    let two = place.ok(&[&plan[..], &["--processes", "2"]].concat());
    assert!(
        two.contains("processes       2, each with this memory\n"),
        "{two}"
    );
    assert!(two.contains("96 MiB"), "{two}");
    place.fails(
        &[&plan[..], &["--processes", "0"]].concat(),
        1,
        &["--processes"],
    );
    let little = ["-m", "90M", "--processes", "2"];
    place.fails(&[&plan[..], &little].concat(), 4, &["memory"]);
}
