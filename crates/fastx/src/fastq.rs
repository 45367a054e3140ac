//! The grammar of FASTQ, and where a record starts in the middle of a file.
//!
//! A record is an `@name` line, sequence lines up to a line that starts with `+`, and quality lines
//! until there are as many quality letters as sequence letters. Blank lines may stand between
//! records. Nearly every file has one sequence and one quality line, which [`one_line_each`] reads
//! with two searches for a line end; all else, and all that is wrong, is left to [`general`].
//! Records that are no longer than their lines stay where they are in the text; wrapped ones are
//! joined in place.

use std::ops::Range;

use gyrase_seq::Record;
use memchr::memchr;

use crate::error::{Fault, Problem};
use crate::letters::{Rules, are_bases, are_qualities, count_protein, is_space, refuse_protein};
use crate::options::{Format, LONGEST};

/// Records and lines before the place of a parser.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub record: u64,
    pub line: u64,
}

/// Text that a parser works on.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Where it begins and ends in the buffer.
    pub bytes: Range<usize>,
    /// No record that starts here or later is read.
    pub limit: usize,
    /// The input ends where the window ends.
    pub last: bool,
}

/// Reads the whole records of the window. Returns the place of the first that starts at the limit,
/// that is not wholly in the window, or the window's end.
pub(crate) fn parse(
    text: &mut [u8],
    window: &Window,
    rules: Rules,
    place: &mut Place,
    records: &mut Vec<Record>,
) -> Result<usize, Fault> {
    let mut left = window.clone();
    loop {
        let at = on_four_lines(text, &left, rules, place, records);
        if at >= window.bytes.end.min(window.limit) {
            return Ok(at);
        }
        let found = general(text, at, window).map_err(|wrong| wrong.at(text, at, place))?;
        let Some(found) = found else { return Ok(at) };
        check_letters(&text[found.record.letters.range()], rules)
            .map_err(|problem| Wrong { line: 1, problem }.at(text, at, place))?;
        left.bytes.start = found.add_to(place, records);
    }
}

/// Reads the records of the window up to the first that starts at the limit, that is not wholly in
/// it, that is not written on four lines or that is wrong. Returns its place, or the window's end.
pub(crate) fn on_four_lines(
    text: &[u8],
    window: &Window,
    rules: Rules,
    place: &mut Place,
    records: &mut Vec<Record>,
) -> usize {
    let text = &text[..window.bytes.end];
    let mut at = window.bytes.start;
    loop {
        at = skip_blank(text, at, place);
        if at >= text.len().min(window.limit) {
            return at;
        }
        let right =
            |found: &Found| check_letters(&text[found.record.letters.range()], rules).is_ok();
        let Some(found) = one_line_each(text, at).filter(right) else {
            return at;
        };
        at = found.add_to(place, records);
    }
}

fn skip_blank(text: &[u8], mut at: usize, place: &mut Place) -> usize {
    while at < text.len() && is_space(text[at]) {
        place.line += u64::from(text[at] == b'\n');
        at += 1;
    }
    at
}

fn check_letters(letters: &[u8], rules: Rules) -> Result<(), Problem> {
    if are_bases(letters) {
        return Ok(());
    }
    refuse_protein(rules.alphabet, count_protein(letters)?, letters.len())
}

/// A record, the lines that it takes and the place after it.
struct Found {
    record: Record,
    lines: u64,
    next: usize,
}

impl Found {
    /// Adds it to those before it; the place after it.
    fn add_to(self, place: &mut Place, records: &mut Vec<Record>) -> usize {
        records.push(self.record);
        place.record += 1;
        place.line += self.lines;
        self.next
    }
}

/// What is wrong, and on which line of the record (from 0).
struct Wrong {
    line: u64,
    problem: Problem,
}

impl Wrong {
    fn at(self, text: &[u8], at: usize, place: &Place) -> Fault {
        let header = &text[at..];
        let end = memchr(b'\n', header).unwrap_or(header.len());
        let name = trim(text, at, at + end);
        let name = if text[at] == b'@' {
            text[name].get(1..).unwrap_or(&[]).to_vec()
        } else {
            Vec::new()
        };
        Fault {
            record: place.record + 1,
            line: place.line + 1 + self.line,
            name,
            problem: self.problem,
        }
    }
}

/// The line without the carriage return at its end.
fn trim(text: &[u8], start: usize, end: usize) -> Range<usize> {
    start..if end > start && text[end - 1] == b'\r' {
        end - 1
    } else {
        end
    }
}

/// The record at `at` when it has four lines and nothing about it is odd.
#[inline]
fn one_line_each(text: &[u8], at: usize) -> Option<Found> {
    if text[at] != b'@' {
        return None;
    }
    let name_end = at + memchr(b'\n', &text[at..])?;
    let letters = name_end + 1;
    let letters_end = letters + memchr(b'\n', &text[letters..])?;
    let plus = letters_end + 1;
    if text.get(plus) != Some(&b'+') || matches!(text[letters], b'+' | b'@') {
        return None;
    }
    let plus_end = if text.get(plus + 1) == Some(&b'\n') {
        plus + 1
    } else {
        plus + memchr(b'\n', &text[plus..])?
    };
    let qualities = plus_end + 1;
    let qualities_end = qualities + (letters_end - letters);
    if text.get(qualities_end) != Some(&b'\n') {
        return None;
    }
    let letters = trim(text, letters, letters_end);
    let qualities = trim(text, qualities, qualities_end);
    if letters.len() != qualities.len() || !are_qualities(&text[qualities.clone()]) {
        return None;
    }
    let name = trim(text, at + 1, name_end).into();
    let record = Record {
        name,
        letters: letters.into(),
        qualities: qualities.into(),
        ..Record::default()
    };
    Some(Found {
        record,
        lines: 4,
        next: qualities_end + 1,
    })
}

/// True when a record at the start of a text is not written on four lines: such a file cannot be
/// cut anywhere.
pub(crate) fn is_wrapped(text: &mut [u8]) -> bool {
    let window = Window {
        bytes: 0..text.len(),
        limit: usize::MAX,
        last: false,
    };
    let mut at = 0;
    loop {
        at = skip_blank(text, at, &mut Place::default());
        if at == text.len() {
            return false;
        }
        match one_line_each(text, at) {
            Some(found) => at = found.next,
            // What is wrong here is said when it is read.
            None => {
                return general(text, at, &window)
                    .is_ok_and(|found| found.is_some_and(|found| found.lines != 4));
            }
        }
    }
}

/// The lines of a window from a place on.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    last: bool,
    count: u64,
}

impl Lines<'_> {
    /// The next line, trimmed; `None` when the window ends before the line does, or before it
    /// begins.
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let (end, step) = match memchr(b'\n', rest) {
            Some(end) => (end, end + 1),
            None if self.last && !rest.is_empty() => (rest.len(), rest.len()),
            None => return None,
        };
        let line = trim(self.text, self.at, self.at + end);
        self.at += step;
        self.count += 1;
        Some(line)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// What to say when there is no next line: nothing yet, or that the file ends too early.
    fn missing<T>(&self, missing: &'static str) -> Result<Option<T>, Wrong> {
        if self.last {
            return Err(Wrong {
                line: self.count.saturating_sub(1),
                problem: Problem::Ends { missing },
            });
        }
        Ok(None)
    }
}

/// The record at `at`, whatever its lines; `None` when it is not wholly in the window.
fn general(text: &mut [u8], at: usize, window: &Window) -> Result<Option<Found>, Wrong> {
    let mut lines = Lines {
        text: &text[..window.bytes.end],
        at,
        last: window.last,
        count: 0,
    };
    if text[at] != b'@' {
        return Err(Wrong {
            line: 0,
            problem: Problem::NoHeader {
                format: Format::Fastq,
                found: text[at],
            },
        });
    }
    if window.bytes.end - at > LONGEST {
        return Err(Wrong {
            line: 0,
            problem: Problem::TooLong {
                format: Format::Fastq,
                limit: LONGEST,
            },
        });
    }
    let Some(name) = lines.next() else {
        return lines.missing("the sequence");
    };
    let Some(letters) = sequence_lines(&mut lines)? else {
        return Ok(None);
    };
    let Some(qualities) = quality_lines(&mut lines, &letters)? else {
        return Ok(None);
    };
    let (next, count) = (lines.at, lines.count);
    let record = Record {
        name: (name.start + 1..name.end).into(),
        letters: join(text, letters.bytes).into(),
        qualities: join(text, qualities).into(),
        ..Record::default()
    };
    Ok(Some(Found {
        record,
        lines: count,
        next,
    }))
}

/// The sequence lines of a record.
struct Letters {
    bytes: Range<usize>,
    length: usize,
    lines: u64,
}

/// The sequence lines up to the `+` line, which is taken too.
fn sequence_lines(lines: &mut Lines) -> Result<Option<Letters>, Wrong> {
    let (start, before) = (lines.at, lines.count);
    let mut length = 0;
    loop {
        let stop = lines.at;
        let Some(line) = lines.next() else {
            let none = lines.count == before;
            return lines.missing(if none {
                "the sequence"
            } else {
                "the '+' line and the quality"
            });
        };
        match lines.text.get(stop) {
            Some(b'+') => {
                return Ok(Some(Letters {
                    bytes: start..stop,
                    length,
                    lines: lines.count - 1 - before,
                }));
            }
            Some(b'@') => {
                return Err(Wrong {
                    line: lines.count - 1,
                    problem: Problem::NoPlus,
                });
            }
            _ => length += line.len(),
        }
    }
}

/// The quality lines of as many letters.
fn quality_lines(lines: &mut Lines, letters: &Letters) -> Result<Option<Range<usize>>, Wrong> {
    let (start, first) = (lines.at, lines.count);
    let wrong = |qualities| {
        Err(Wrong {
            line: first,
            problem: Problem::Lengths {
                letters: letters.length,
                qualities,
            },
        })
    };
    if letters.length == 0 {
        return no_qualities(lines);
    }
    let (mut length, mut first_length) = (0, None);
    while length < letters.length {
        let Some(line) = lines.next() else {
            let whole = length + lines.text[lines.at..].len();
            return if lines.last && whole > 0 {
                wrong(length)
            } else {
                lines.missing("the quality")
            };
        };
        let odd = lines.text[line.clone()]
            .iter()
            .find(|&byte| !(b'!'..=b'~').contains(byte));
        match (odd, first_length) {
            (None, _) => {}
            (Some(_), Some(found)) if letters.lines == 1 => return wrong(found),
            (Some(&found), _) => {
                return Err(Wrong {
                    line: lines.count - 1,
                    problem: Problem::Quality { found },
                });
            }
        }
        length += line.len();
        first_length.get_or_insert(line.len());
    }
    // Who writes the sequence on one line does so with the quality: what looks like a second
    // quality line is the next header when what follows it is none.
    let doubtful = letters.lines == 1 && lines.count > first + 1;
    let follows = lines
        .peek()
        .is_none_or(|byte| byte == b'@' || is_space(byte));
    if length > letters.length || doubtful && !follows {
        return wrong(if letters.lines == 1 {
            first_length.unwrap_or(length)
        } else {
            length
        });
    }
    let known = !doubtful || lines.last || lines.peek().is_some();
    Ok(known.then_some(start..lines.at))
}

/// An empty record may have an empty quality line or none at all.
fn no_qualities(lines: &mut Lines) -> Result<Option<Range<usize>>, Wrong> {
    let start = lines.at;
    let blank = |byte| byte == b'\n' || byte == b'\r';
    if lines.peek().is_none() && !lines.last {
        return Ok(None);
    }
    if lines.peek().is_some_and(blank) {
        return Ok(lines.next().map(|_| start..start));
    }
    Ok(Some(start..start))
}

/// Brings lines together at the start of their range.
fn join(text: &mut [u8], bytes: Range<usize>) -> Range<usize> {
    let (mut read, mut write) = (bytes.start, bytes.start);
    while read < bytes.end {
        let end = memchr(b'\n', &text[read..bytes.end]).map_or(bytes.end, |end| read + end);
        let line = trim(text, read, end);
        if line.start > write {
            text.copy_within(line.clone(), write);
        }
        write += line.len();
        read = end + 1;
    }
    bytes.start..write
}

/// The first place of the text at or after `from` (a line start) where a record seems to start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    /// Here.
    At(usize),
    /// None before the limit.
    None,
    /// More text is needed to tell.
    More,
}

/// Guesses the first record start in `text[from..limit]`.
///
/// An `@` line is a header when the next line does not start with `@` (after a quality line comes a
/// header) and the line after that starts with `+`. This is right for records of four lines; for
/// wrapped ones it can be wrong, which whoever uses it must find out from where the range before
/// ends.
pub(crate) fn guess(text: &[u8], from: usize, limit: usize, last: bool) -> Guess {
    let mut lines = Lines {
        text,
        at: from,
        last,
        count: 0,
    };
    while lines.at < limit.min(text.len()) {
        let at = lines.at;
        if lines.next().is_none() {
            return Guess::More;
        }
        if text[at] == b'@' {
            match is_header(&lines) {
                Some(true) => return Guess::At(at),
                Some(false) => {}
                None => return Guess::More,
            }
        }
    }
    Guess::None
}

/// The first record start of a text that begins with the byte before it.
pub(crate) fn first_record(text: &[u8], limit: usize, last: bool) -> Guess {
    match memchr(b'\n', &text[..limit]) {
        Some(end) => guess(text, end + 1, limit, last),
        None => Guess::None,
    }
}

/// Whether the line before is a header, by the two lines that follow; `None` when they are not
/// there yet.
fn is_header(after: &Lines) -> Option<bool> {
    let mut lines = Lines { ..*after };
    let end = lines.last.then_some(false);
    let Some(next) = lines.peek() else { return end };
    if next == b'@' {
        return Some(false);
    }
    if next == b'+' {
        return Some(true);
    }
    if lines.next().is_none() {
        return end;
    }
    let Some(plus) = lines.peek() else { return end };
    Some(plus == b'+')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn read(text: &str, last: bool) -> Result<(Vec<String>, usize), Problem> {
        let mut bytes = text.as_bytes().to_vec();
        let window = Window {
            bytes: 0..bytes.len(),
            limit: usize::MAX,
            last,
        };
        let rules = Rules::of(&Options::default());
        let mut records = Vec::new();
        let next = parse(
            &mut bytes,
            &window,
            rules,
            &mut Place::default(),
            &mut records,
        )
        .map_err(|f| f.problem)?;
        let show = |record: &Record| {
            let part =
                |span: gyrase_seq::Span| String::from_utf8_lossy(&bytes[span.range()]).into_owned();
            format!(
                "{}|{}|{}",
                part(record.name),
                part(record.letters),
                part(record.qualities)
            )
        };
        Ok((records.iter().map(show).collect(), next))
    }

    #[test]
    fn four_lines_wrapped_lines_and_empty_records() {
        let text = "\n@a \
                    x\nACGT\n+\nIIII\n@b\r\nAC\r\nGT\r\n+b\r\n@I\r\n@I\r\n@c\n\n+\n\n@d\n+\n@e\nA\n+\n@";
        let (records, next) = read(text, true).unwrap();
        assert_eq!(
            records,
            ["a x|ACGT|IIII", "b|ACGT|@I@I", "c||", "d||", "e|A|@"]
        );
        assert_eq!(next, text.len());
    }

    #[test]
    fn an_incomplete_record_stays() {
        let text = "@a\nACGT\n+\nIIII\n@b\nAC\n+\nII";
        for end in 0..text.len() {
            let (records, next) = read(&text[..end], false).unwrap();
            let whole = usize::from(end > 14);
            assert_eq!(
                (records.len(), next),
                (whole, [0, 15.min(end)][whole]),
                "{end}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let problem = |text| read(text, true).unwrap_err();
        assert_eq!(
            problem("@a\nACGTA\n+\nIIII\n@b\nA\n+\nI\n"),
            Problem::Lengths {
                letters: 5,
                qualities: 4
            }
        );
        assert_eq!(
            problem("@a\nACGT\n+\nIIIII\n"),
            Problem::Lengths {
                letters: 4,
                qualities: 5
            }
        );
        assert_eq!(
            problem("@a\nACGT\n+\nII\n@b\nA\n+\nI\n"),
            Problem::Lengths {
                letters: 4,
                qualities: 2
            }
        );
        assert_eq!(
            problem("@a\nACGT\n+\nII"),
            Problem::Lengths {
                letters: 4,
                qualities: 2
            }
        );
        assert_eq!(problem("@a\nACGT\nIIII\n@b\n"), Problem::NoPlus);
        assert_eq!(
            problem("@a\nACGT\n+\nII I\n"),
            Problem::Quality { found: b' ' }
        );
        assert_eq!(
            problem("@a\nAC T\n+\nIIII\n"),
            Problem::Letter { found: b' ' }
        );
        assert!(matches!(problem("@a\nACGT\n"), Problem::Ends { .. }));
        assert!(matches!(
            problem("@a\nMEFILPQ\n+\nIIIIIII\n"),
            Problem::Protein { .. }
        ));
        assert!(matches!(
            problem("@a\nA\n+\nI\nxyz\n"),
            Problem::NoHeader { found: b'x', .. }
        ));
    }

    #[test]
    fn a_record_start_is_guessed_from_any_line() {
        let text = b"@a\nACGT\n+\n@@@@\n@b\nAC\n+b\n@I\n";
        assert_eq!(guess(text, 0, 99, true), Guess::At(0));
        for from in [3, 8, 10, 15] {
            assert_eq!(guess(text, from, 99, true), Guess::At(15), "{from}");
        }
        assert_eq!(guess(text, 18, 99, true), Guess::None);
        assert_eq!(guess(text, 10, 15, true), Guess::None);
        assert_eq!(guess(&text[..18], 10, 99, false), Guess::More);
    }
}
