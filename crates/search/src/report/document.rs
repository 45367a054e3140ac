//! The answer of a query as a tree, which JSON and BLAST's second XML write each in its way.
//!
//! Names and order are those of `NCBI_BlastOutput2.xsd`; in JSON a name has `_` for `-`.

use std::ops::Range;

use super::aligned::Aligned;
use super::layout::{About, QueryHits};
use super::numbers::general;
use super::setting::Setting;
use crate::frames::Frames;
use crate::protein_options::CompositionMode;
use crate::scoring::PairScores;
use crate::{Hit, Molecule};

/// A part of a tree.
pub(super) enum Value {
    Text(Vec<u8>),
    /// A number as it is written.
    Number(String),
    /// Parts by name, and what all of them together are called in XML.
    Object(&'static str, Vec<Member>),
    List(Vec<Value>),
}

pub(super) type Member = (&'static str, Value);

fn text(text: impl Into<Vec<u8>>) -> Value {
    Value::Text(text.into())
}

fn number(number: impl ToString) -> Value {
    Value::Number(number.to_string())
}

/// All of a query: the program, its parameters, what was found.
pub(super) fn report(about: &About, answer: &QueryHits) -> Value {
    let setting = Setting::of(answer);
    let program = setting.program.told();
    let version = format!("{} {}", program.to_uppercase(), about.program);
    let target = ("db", text(about.database.as_str()));
    let search = ("search", search(answer));
    let members = vec![
        ("program", text(program)),
        ("version", text(version)),
        ("reference", text(setting.program.reference())),
        ("search-target", Value::Object("Target", vec![target])),
        ("params", parameters(about, &setting)),
        ("results", Value::Object("Results", vec![search])),
    ];
    Value::Object("Report", members)
}

fn parameters(about: &About, setting: &Setting) -> Value {
    let mut members = Vec::new();
    if let PairScores::Matrix(matrix) = setting.scores {
        members.push(("matrix", text(matrix.name())));
    }
    members.push(("expect", number(general(about.evalue))));
    if let PairScores::Bases { reward, penalty } = setting.scores {
        members.push(("sc-match", number(reward)));
        members.push(("sc-mismatch", number(penalty)));
    }
    if let Some(costs) = setting.costs {
        members.push(("gap-open", number(costs.open)));
        members.push(("gap-extend", number(costs.extend)));
    }
    members.push(("filter", text(setting.filter())));
    if setting.composition != CompositionMode::Off {
        members.push(("cbs", number(setting.composition.number())));
    }
    Value::Object("Parameters", members)
}

/// What was found for a query.
pub(super) fn search(answer: &QueryHits) -> Value {
    let length = answer.queries.residues(answer.query).len();
    let hits = answer.hits.iter().enumerate();
    let hits = hits.map(|(rank, hit)| described(answer, rank + 1, hit));
    let mut members = vec![
        ("query-id", text(format!("Query_{}", answer.query + 1))),
        ("query-title", text(answer.queries.title(answer.query))),
        ("query-len", number(length)),
    ];
    members.extend(masking(answer).map(|masked| ("query-masking", masked)));
    members.push(("hits", Value::List(hits.collect())));
    members.push(("stat", statistics(answer)));
    if answer.hits.is_empty() {
        members.push(("message", text("No hits found")));
    }
    Value::Object("Search", members)
}

/// Letters of the query that are masked, from 0 on with the last, frame by frame; none where none
/// is.
fn masking(answer: &QueryHits) -> Option<Value> {
    let [frames, _] = answer.frames;
    let length = answer.queries.residues(answer.query).len();
    let numbers = match frames {
        // What is masked on a strand is on the other.
        Frames::Strands => &frames.numbers()[..1],
        _ => frames.numbers(),
    };
    let all = std::iter::zip(numbers, answer.masked()).flat_map(|(&frame, masked)| {
        let places = masked.iter();
        places.map(move |range| frames.place(range, frame, length))
    });
    let told = |place: Range<usize>| {
        let ends = vec![("from", number(place.start)), ("to", number(place.end - 1))];
        Value::Object("Range", ends)
    };
    let told: Vec<Value> = all.map(told).collect();
    (!told.is_empty()).then_some(Value::List(told))
}

fn described(answer: &QueryHits, rank: usize, hit: &Hit) -> Value {
    let (subjects, subject) = (answer.subjects, hit.subject);
    let description = vec![
        ("id", text(subjects.name(subject))),
        ("accession", text(subjects.name(subject))),
        ("title", text(subjects.title(subject))),
    ];
    let hsps = hit.hsps.iter().enumerate();
    let hsps = hsps.map(|(rank, hsp)| alignment(rank + 1, &Aligned::new(answer, hit, hsp)));
    let members = vec![
        ("num", number(rank)),
        (
            "description",
            Value::List(vec![Value::Object("HitDescr", description)]),
        ),
        ("len", number(subjects.length(subject))),
        ("hsps", Value::List(hsps.collect())),
    ];
    Value::Object("Hit", members)
}

fn alignment(rank: usize, row: &Aligned) -> Value {
    let mut members = vec![
        ("num", number(rank)),
        ("bit-score", number(general(row.hsp.bits))),
        ("score", number(row.hsp.score)),
        ("evalue", number(general(row.hsp.evalue))),
        ("identity", number(row.identical)),
    ];
    if row.answer.program.compares() == Molecule::Protein {
        members.push(("positive", number(row.positive)));
    }
    let ([query, subject], [in_query, in_subject]) = (row.told_ends(), row.told_directions());
    members.push(("query-from", number(query[0])));
    members.push(("query-to", number(query[1])));
    members.extend(in_query.map(|(kind, told)| (["query-strand", "query-frame"][kind], told)));
    members.push(("hit-from", number(subject[0])));
    members.push(("hit-to", number(subject[1])));
    members.extend(in_subject.map(|(kind, told)| (["hit-strand", "hit-frame"][kind], told)));
    members.push(("align-len", number(row.length)));
    members.push(("gaps", number(row.gaps)));
    members.push(("qseq", text(row.query_letters_in_case())));
    members.push(("hseq", text(row.subject_letters().collect::<Vec<u8>>())));
    members.push(("midline", text(row.middle().collect::<Vec<u8>>())));
    Value::Object("Hsp", members)
}

impl Aligned<'_> {
    /// Strands (kind 0) of query and subject, or frames (kind 1) of what is translated.
    fn told_directions(&self) -> [Option<(usize, Value)>; 2] {
        let compares = self.answer.program.compares();
        let translates = self.answer.program.translates();
        [0, 1].map(|side| {
            let frame = self.hsp.frames[side];
            let strand = || text(if frame < 0 { "Minus" } else { "Plus" });
            match compares {
                Molecule::Nucleotide => Some((0, strand())),
                Molecule::Protein => translates[side].then(|| (1, number(frame))),
            }
        })
    }
}

fn statistics(answer: &QueryHits) -> Value {
    let [_, karlin] = answer.scoring.karlin();
    let (size, space) = (answer.scoring.size(), answer.space());
    let members = vec![
        ("db-num", number(size.sequences)),
        ("db-len", number(size.letters)),
        ("hsp-len", number(space.adjustment(karlin))),
        (
            "eff-space",
            number(format!("{:.0}", space.effective(karlin))),
        ),
        ("kappa", number(general(karlin.k))),
        ("lambda", number(general(karlin.lambda))),
        ("entropy", number(general(karlin.h))),
    ];
    Value::Object("Statistics", members)
}
