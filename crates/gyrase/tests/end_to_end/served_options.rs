//! What a service finds in an open database, whose words it has indexed, is what a search finds in
//! its file: with any options.

use std::fmt::Write;

use gyrase_kmer::mix;

use crate::place::Place;
use crate::service::Service;

const JOBS: u64 = 48;

const PROGRAMS: [&str; 3] = ["blastn", "megablast", "blastn-short"];

/// Options that say what is looked up, or what is told of it, with values.
const OPTIONS: [(&str, &[&str]); 8] = [
    ("word-size", &["7", "11", "12", "16", "23", "28"]),
    ("evalue", &["1e-10", "1000"]),
    ("strand", &["plus", "minus"]),
    ("top", &["1", "2"]),
    ("max-hsps", &["1"]),
    ("dust", &["no"]),
    ("perc-identity", &["95"]),
    ("db-mask", &["soft", "hard"]),
];

/// One of several, by a number at random.
fn one_of<T: Copy>(all: &[T], number: u64) -> T {
    all[(mix(number) >> 32) as usize % all.len()]
}

fn bases(count: u64, seed: u64) -> String {
    let base = |at| char::from(one_of(b"ACGT", seed << 32 | at));
    (0..count).map(base).collect()
}

/// A part of a sequence, of which one base in so many is another.
fn relative(of: &str, from: usize, every: usize) -> String {
    let part = of[from..from + 300].bytes().enumerate();
    let base = |(at, base)| match (at + 1) % every {
        0 => char::from(if base == b'A' { b'C' } else { b'A' }),
        _ => char::from(base),
    };
    part.map(base).collect()
}

#[test]
fn any_options_find_what_a_search_finds() {
    let place = Place::new();
    let subjects = [1, 2, 3].map(|seed| bases(20_000, seed));
    let (mut refs, mut queries) = (String::new(), String::new());
    for (number, subject) in subjects.iter().enumerate() {
        let (begin, end) = subject.split_at(9_000);
        writeln!(refs, ">s{number}\n{begin}\n{}", end.to_lowercase()).unwrap();
        for every in [9, 14, 30] {
            let query = relative(subject, 8_900 + 7 * every, every);
            writeln!(queries, ">q{number}_{every}\n{query}").unwrap();
        }
    }
    place.write("refs", refs);
    place.write("q.fna", &queries);
    let service = Service::start(&place, &["--db", "refs=refs"]);
    let mut rows = 0;
    for job in 0..JOBS {
        let mut options = vec![("program", one_of(&PROGRAMS, job))];
        for (option, (name, values)) in (1..).zip(OPTIONS) {
            let number = job << 8 | option << 4;
            if one_of(&[true, false, false], number) {
                options.push((name, one_of(values, number + 1)));
            }
        }
        let pairs = |joined: &str| -> Vec<String> {
            let pair = |(name, value): &(&str, &str)| format!("{joined}{name}={value}");
            options.iter().map(pair).collect()
        };
        let asked = pairs("--");
        let search = ["-q", "search", "q.fna", "--db", "refs", "--format", "6"];
        let all: Vec<&str> = search
            .into_iter()
            .chain(asked.iter().map(|word| &word[..]))
            .collect();
        let expected = place.ok(&all);
        let id = service.submit(
            &format!("database=refs{}", pairs("&").concat()),
            queries.as_bytes(),
        );
        let found = service.result(&id, "format=tsv");
        assert!(
            found.status == 200 && found.text() == expected,
            "{asked:?}: {found:?}"
        );
        rows += expected.lines().count();
    }
    assert!(rows > 100, "{rows}");
}
