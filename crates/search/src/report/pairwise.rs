//! Alignments as text for people: BLAST's format 0.
//!
//! Widths, words and rules are those of BLAST+ 2.12 (`align_format/showdefline.cpp`,
//! `showalign.cpp`, `align_format_util.cpp`).

use std::io::{self, Write};

use gyrase_align::composition::AdjustmentRule;
use gyrase_align::statistics::text::{write_bits, write_short_evalue};

use super::aligned::Aligned;
use super::anchored::Anchored;
use super::layout::{About, End, Layout, QueryHits};
use super::setting::{Setting, parameters};
use crate::scoring::PairScores;
use crate::{Hit, Molecule};

/// Columns of an alignment in a line.
const COLUMNS: usize = 60;
/// Letters of a line of a text that is wrapped.
const LINE: usize = 68;
/// Letters of a line of a subject's title, which ends at the next space.
const TITLE: usize = 60;

const COMPOSITION: &str = "Reference for composition-based statistics: Alejandro A. Schaffer, \
    L. Aravind, Thomas L. Madden, Sergei Shavirin, John L. Spouge, Yuri I. Wolf, Eugene V. \
    Koonin, and Stephen F. Altschul (2001), \"Improving the accuracy of PSI-BLAST protein \
    database searches with composition-based statistics and other refinements\", Nucleic Acids \
    Res. 29:2994-3005.";

/// Text for people.
pub(super) struct Pairwise {
    /// How alignments stand along the query; none where each stands by itself.
    pub anchored: Option<Anchored>,
}

impl Layout for Pairwise {
    fn head(
        &self,
        out: &mut dyn Write,
        about: &About,
        first: Option<&QueryHits>,
    ) -> io::Result<()> {
        let Some(first) = first else { return Ok(()) };
        let setting = Setting::of(first);
        let program = setting.program.told().to_uppercase();
        writeln!(out, "{program} {}\n\n", about.program)?;
        let reference = setting.program.reference().replace("&auml;", "a");
        wrapped(out, format!("Reference: {reference}").as_bytes())?;
        write!(out, "\n\n")?;
        if setting.program.told() == "blastp" {
            wrapped(out, COMPOSITION.as_bytes())?;
            write!(out, "\n\n")?;
        }
        writeln!(out)?;
        wrapped(out, format!("Database: {}", about.database).as_bytes())?;
        writeln!(
            out,
            "           {} sequences; {} total letters\n\n",
            grouped(setting.sequences),
            grouped(setting.letters)
        )
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        write!(out, "\nQuery= ")?;
        wrapped(out, answer.queries.title(answer.query))?;
        let length = answer.queries.residues(answer.query).len();
        writeln!(out, "\nLength={length}")?;
        if answer.hits.is_empty() {
            write!(out, "\n\n***** No hits found *****\n\n\n")?;
        } else {
            write_summary(out, answer)?;
            match self.anchored {
                Some(anchored) => anchored.write(out, answer)?,
                None => (answer.hits.iter()).try_for_each(|hit| write_hit(out, answer, hit))?,
            }
        }
        write_parameters(out, answer)
    }

    fn tail(&self, out: &mut dyn Write, about: &About, end: &End) -> io::Result<()> {
        let Some(setting) = end.setting else {
            return Ok(());
        };
        writeln!(out)?;
        wrapped(out, format!("  Database: {}", about.database).as_bytes())?;
        writeln!(out, "    Posted date:  Unknown")?;
        let [letters, sequences] = [setting.letters, setting.sequences].map(grouped);
        writeln!(out, "  Number of letters in database: {letters}")?;
        writeln!(out, "  Number of sequences in database:  {sequences}\n\n\n")?;
        match setting.scores {
            PairScores::Matrix(matrix) => writeln!(out, "Matrix: {}", matrix.name())?,
            PairScores::Bases { reward, penalty } => {
                writeln!(out, "Matrix: blastn matrix {reward} {penalty}")?;
            }
        }
        let Some(costs) = setting.costs else {
            return Ok(());
        };
        let (open, extend) = (costs.open, costs.extend);
        writeln!(out, "Gap Penalties: Existence: {open}, Extension: {extend}")
    }
}

/// A line for each subject.
fn write_summary(out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
    let best = |hit: &Hit| {
        let mut bits = Vec::new();
        write_bits(&mut bits, hit.hsps[0].bits);
        let mut evalue = Vec::new();
        write_short_evalue(&mut evalue, hit.hsps[0].evalue);
        (told(&bits), told(&evalue))
    };
    let all: Vec<(String, String)> = answer.hits.iter().map(best).collect();
    let longest = all.iter().map(|(bits, _)| bits.len()).max();
    let width = longest.unwrap_or_default().max("(Bits)".len()) + 2;
    let longest = all.iter().map(|(_, evalue)| evalue.len()).max();
    let last = longest.unwrap_or_default().max("Value".len());
    writeln!(out, "{:70}{:width$}  E", "", "Score")?;
    let what = "Sequences producing significant alignments:";
    writeln!(out, "{what:69}{:width$}Value\n", "(Bits)")?;
    for (hit, (bits, evalue)) in answer.hits.iter().zip(all) {
        let title = shortened(answer.subjects.title(hit.subject));
        writeln!(out, "{title:LINE$}  {bits:width$}{evalue:last$}")?;
    }
    writeln!(out, "\n")
}

/// A title that fits a line.
fn shortened(title: &[u8]) -> String {
    let title = told(title);
    if title.chars().count() <= LINE {
        return title;
    }
    let first: String = title.chars().take(LINE - 3).collect();
    first + "..."
}

fn write_hit(out: &mut dyn Write, answer: &QueryHits, hit: &Hit) -> io::Result<()> {
    write!(out, ">")?;
    write_title(out, answer.subjects.title(hit.subject))?;
    let length = answer.subjects.length(hit.subject);
    writeln!(out, "Length={length}\n")?;
    for hsp in &hit.hsps {
        write_alignment(out, &Aligned::new(answer, hit, hsp))?;
    }
    Ok(())
}

/// A title, with the end of a line behind the first space after every so many letters.
fn write_title(out: &mut dyn Write, title: &[u8]) -> io::Result<()> {
    let mut due = false;
    for (at, &letter) in title.iter().enumerate() {
        due |= at > 0 && at % TITLE == 0 && title.len() > TITLE;
        out.write_all(&[letter])?;
        if due && letter.is_ascii_whitespace() {
            writeln!(out)?;
            due = false;
        }
    }
    writeln!(out)
}

fn write_alignment(out: &mut dyn Write, row: &Aligned) -> io::Result<()> {
    write_scores(out, row)?;
    let [query, subject] = [row.query_ends(), row.subject_ends()];
    let last = query.into_iter().chain(subject).max().unwrap_or_default();
    let width = last.to_string().len();
    let mut lines = [
        Line::new(
            "Query",
            row.query_letters_in_case(),
            query,
            row.query_step(),
        ),
        Line::new(
            "Sbjct",
            row.subject_letters().collect(),
            subject,
            row.subject_step(),
        ),
    ];
    let middle: Vec<u8> = row.middle().collect();
    for start in (0..row.length).step_by(COLUMNS) {
        let columns = start..row.length.min(start + COLUMNS);
        lines[0].write(out, columns.clone(), width)?;
        write!(out, "{:indent$}", "", indent = width + 9)?;
        out.write_all(&middle[columns.clone()])?;
        writeln!(out)?;
        lines[1].write(out, columns, width)?;
        writeln!(out)?;
    }
    writeln!(out)
}

/// What stands above an alignment.
fn write_scores(out: &mut dyn Write, row: &Aligned) -> io::Result<()> {
    let mut text = b" Score = ".to_vec();
    write_bits(&mut text, row.hsp.bits);
    write!(text, " bits ({}),  Expect = ", row.hsp.score)?;
    write_short_evalue(&mut text, row.hsp.evalue);
    match row.hsp.adjusted {
        Some(AdjustmentRule::Optimised) => {
            text.extend_from_slice(b", Method: Compositional matrix adjust.");
        }
        Some(AdjustmentRule::Scaled) => {
            text.extend_from_slice(b", Method: Composition-based stats.");
        }
        Some(AdjustmentRule::Unadjusted) | None => {}
    }
    let share = |part: usize| format!("{part}/{} ({}%)", row.length, percent(part, row.length));
    let compares = row.answer.program.compares();
    write!(text, "\n Identities = {}, ", share(row.identical))?;
    if compares == Molecule::Protein {
        write!(text, "Positives = {}, ", share(row.positive))?;
    }
    writeln!(text, "Gaps = {}", share(row.gaps))?;
    let [query, subject] = row.hsp.frames;
    match (compares, row.answer.program.translates()) {
        (Molecule::Nucleotide, _) => {
            let strand = |frame| if frame < 0 { "Minus" } else { "Plus" };
            writeln!(text, " Strand={}/{}", strand(query), strand(subject))?;
        }
        (_, [true, true]) => writeln!(text, " Frame = {query:+}/{subject:+}")?,
        (_, [true, false]) => writeln!(text, " Frame = {query:+}")?,
        (_, [false, true]) => writeln!(text, " Frame = {subject:+}")?,
        (_, [false, false]) => {}
    }
    writeln!(text)?;
    out.write_all(&text)
}

/// One sequence of an alignment, line by line.
struct Line {
    name: &'static str,
    letters: Vec<u8>,
    /// The number of the next residue, and how far apart the numbers of neighbours are.
    next: i64,
    step: i64,
}

impl Line {
    fn new(name: &'static str, letters: Vec<u8>, ends: [usize; 2], step: i64) -> Line {
        Line {
            name,
            letters,
            next: ends[0] as i64,
            step,
        }
    }

    fn write(
        &mut self,
        out: &mut dyn Write,
        columns: std::ops::Range<usize>,
        width: usize,
    ) -> io::Result<()> {
        let letters = &self.letters[columns];
        let residues = letters.iter().filter(|&&letter| letter != b'-').count() as i64;
        let next = self.next + self.step * residues;
        let last = next - self.step.signum();
        write!(out, "{}  {:<width$}  ", self.name, self.next)?;
        out.write_all(letters)?;
        self.next = next;
        writeln!(out, "  {last}")
    }
}

fn write_parameters(out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
    const NAMES: [&str; 6] = ["Lambda", "K", "H", "a", "alpha", "sigma"];
    const WIDTHS: [usize; 6] = [12, 9, 9, 10, 9, 5];
    let [_, karlin] = answer.scoring.karlin();
    let space = answer.space();
    for (what, parameters) in ["\n", "Gapped\n"].iter().zip(parameters(answer)) {
        write!(out, "{what}")?;
        let names = NAMES.iter().zip(WIDTHS).take(parameters.len());
        let heading: String = names
            .map(|(name, width)| format!("{name:width$}"))
            .collect();
        writeln!(out, "{}", heading.trim_end())?;
        for parameter in parameters {
            write!(out, "{:>8} ", significant(parameter))?;
        }
        writeln!(out, "\n")?;
    }
    let effective = space.effective(karlin);
    writeln!(out, "Effective search space used: {effective:.0}\n")
}

/// Three digits, with the zeros at their end.
fn significant(number: f64) -> String {
    let power = if number > 0.0 {
        number.log10().floor() as i32
    } else {
        0
    };
    // What is rounded up may have a digit more.
    let rounded = |power: i32| format!("{number:.*}", (2 - power).max(0) as usize);
    let text = rounded(power);
    match text.parse::<f64>() {
        Ok(value) if value >= 10_f64.powi(power + 1) => rounded(power + 1),
        _ => text,
    }
}

/// A part in percent, rounded; below 100 where it is not the whole.
fn percent(part: usize, whole: usize) -> usize {
    if part == whole {
        return 100;
    }
    let percent = 0.5 + 100.0 * part as f64 / whole as f64;
    (percent as usize).min(99)
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    gyrase_picture::words::grouped(number)
}

fn told(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// A text in lines of [`LINE`] letters at most: they end at a space, else behind a comma, else
/// anywhere.
fn wrapped(out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
    let mut rest = text;
    while rest.len() > LINE {
        let space = rest[..=LINE].iter().rposition(|&letter| letter == b' ');
        let comma = rest[..LINE].iter().rposition(|&letter| letter == b',');
        let (end, next) = match (space, comma) {
            (Some(space), _) if space > 0 => (space, space + 1),
            (_, Some(comma)) => (comma + 1, comma + 1),
            _ => (LINE, LINE),
        };
        out.write_all(&rest[..end])?;
        writeln!(out)?;
        rest = &rest[next..];
    }
    out.write_all(rest)?;
    writeln!(out)
}
