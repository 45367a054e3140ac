//! `gyrase search --why`: what becomes of one query and one subject.

use std::ops::Range;

use gyrase_picture::words::{grouped, things};
use gyrase_search::{BriefExplanation, Explained, Explanation, LeftOut, PairAlignment, PairSteps};

use crate::cmd::rows::Table;
use crate::failure::Result;

/// Prints what becomes of the query and the subject of these names.
pub fn print(names: [&str; 2], found: &Explained) -> Result<()> {
    let table = match found {
        Explained::Steps(found) => steps(names, found),
        Explained::Brief(found) => brief(names, found),
    };
    table.print()
}

fn named(name: &str, length: usize, letter: &str) -> String {
    format!("{name}, {}", things(length as u64, letter))
}

/// What is told of any program.
fn brief([query, subject]: [&str; 2], found: &BriefExplanation) -> Table {
    let mut table = Table::default();
    table.row("query", named(query, found.query, "letter"));
    table.row("subject", named(subject, found.subject, "letter"));
    let [letters, masked] = found.masked.map(|letters| grouped(letters as u64));
    table.row(
        "masked",
        format!("{masked} of {letters} letters in the frames of the query"),
    );
    if let Some([with, some, without]) = found.words.map(|counts| counts.map(grouped)) {
        let words =
            format!("{with} in common; {some} without masks of the subject, {without} without any");
        table.row("words", words);
    }
    let segments = grouped(found.segments as u64);
    table.row("segments", format!("{segments} worth an alignment"));
    let evalue = found.limits.evalue;
    let best = found.best.as_ref().map_or("none".into(), alignment);
    table.row("best", format!("{best}; up to {evalue:.2e} is reported"));
    table.row("rank", rank(found.rank, found.subjects, found.limits.top));
    table.row("answer", answer(found.left_out()));
    table
}

fn steps([query, subject]: [&str; 2], found: &Explanation) -> Table {
    let mut table = Table::default();
    table.row("query", named(query, found.query, "residue"));
    table.row("subject", named(subject, found.subject, "residue"));
    let seeds: u64 = found.seeds.iter().sum();
    let of_shapes: Vec<String> = found.seeds.iter().map(u64::to_string).collect();
    table.row(
        "seeds",
        format!(
            "{} in common ({} by shape)",
            grouped(seeds),
            of_shapes.join(", ")
        ),
    );
    table.row("segment", segment(found));
    if let Some(steps) = &found.steps {
        rows_of_steps(&mut table, steps, found);
    }
    table.row("answer", answer(found.left_out()));
    table
}

fn segment(found: &Explanation) -> String {
    let least = found.least_segment;
    match found.segment {
        None => format!("none without gaps that scores 20; {least} is enough"),
        Some(best) => format!(
            "best without gaps scores {}, {}; {least} is enough",
            best.score,
            places(&best.in_query(), &best.in_subject())
        ),
    }
}

fn rows_of_steps(table: &mut Table, steps: &PairSteps, found: &Explanation) {
    let band = match steps.passes_band {
        true => "with gaps near the segment scores enough to go on",
        false => "with gaps near the segment scores too little to go on",
    };
    table.row("band", band);
    let promising = match steps.promising {
        f64::INFINITY => "all go on".into(),
        most => format!("up to {most:.2e} goes on"),
    };
    table.row(
        "gapped",
        format!("{}; {promising}", alignment(&steps.by_matrix)),
    );
    let low: usize = steps.low_complexity.iter().map(Range::len).sum();
    table.row(
        "masked",
        match (low, steps.same) {
            (0, _) => "nothing: no residue of the subject is of low complexity".into(),
            (low, true) => format!(
                "nothing: {} of the subject are of low complexity, and both are nearly equal",
                things(low as u64, "residue")
            ),
            (low, false) => format!(
                "{} of the subject, of low complexity: {}",
                things(low as u64, "residue"),
                ranges(&steps.low_complexity)
            ),
        },
    );
    let fitted = steps.adjustment.map(|adjustment| {
        let (rule, lambda) = (adjustment.rule, adjustment.lambda_ratio);
        format!("{rule:?}, lambda {lambda:.4} of that of the matrix").to_lowercase()
    });
    table.row(
        "composition",
        fitted.unwrap_or("a sequence has no residue that counts".into()),
    );
    if let Some(fitted) = &steps.by_fitted {
        let evalue = format!("up to {:.2e} is reported", found.limits.evalue);
        table.row("fitted", format!("{}; {evalue}", alignment(fitted)));
    }
    table.row("rank", rank(found.rank, found.subjects, found.limits.top));
}

fn rank(rank: Option<usize>, subjects: usize, top: usize) -> String {
    let all = grouped(subjects as u64);
    match rank {
        Some(rank) => format!("{rank} of {all}; {top} are reported"),
        None => format!("not among the {all} subjects that the limits leave"),
    }
}

fn alignment(found: &PairAlignment) -> String {
    let places = places(&found.query, &found.subject);
    format!(
        "score {:.2}, E-value {:.2e}, {places}",
        found.score, found.evalue
    )
}

/// Residues from 1 on.
fn places(query: &Range<usize>, subject: &Range<usize>) -> String {
    let [query, subject] = [query, subject].map(|range| ranges(std::slice::from_ref(range)));
    format!("{query} of the query, {subject} of the subject")
}

fn ranges(ranges: &[Range<usize>]) -> String {
    let range = |range: &Range<usize>| format!("{}-{}", range.start + 1, range.end);
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

fn answer(left_out: Option<LeftOut>) -> String {
    let Some(left_out) = left_out else {
        return "reported".into();
    };
    let why = match left_out {
        LeftOut::NoSeed => "no seed or word is in both",
        LeftOut::Masked => "what both have in common is masked in the query",
        LeftOut::MaskedInSubject => "what both have in common is masked in the subject",
        LeftOut::Segment => "no segment around a seed or word scores enough",
        LeftOut::Gapped => "the gapped score is too small to go on; raise --evalue",
        LeftOut::Bands => "it scores more than --fast expects; leave --fast out",
        LeftOut::Evalue => "the E-value is too large; raise --evalue",
        LeftOut::Cover => {
            "no alignment has enough of the query, or enough equal columns; lower --query-cover \
             or --perc-identity"
        }
        LeftOut::Culled => "others leave it no place; leave --culling-limit and --best-hit-* out",
        LeftOut::Top => "enough others are better; raise --top",
    };
    format!("left out: {why}")
}
