//! Alignments below each other along the query: BLAST's formats 1 to 4.
//!
//! Widths and rules are those of BLAST+ 2.12 (`align_format/showalign.cpp`).

use std::io::{self, Write};
use std::ops::Range;

use super::aligned::{Aligned, QUERY};
use super::answer::QueryHits;

/// Columns of a block.
const COLUMNS: usize = 60;

/// How alignments stand along the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Anchored {
    /// Letters that are those of the query are dots.
    pub dots: bool,
    /// The query has gaps beside what subjects have more; else that stands below.
    pub flat: bool,
}

/// The query, or an alignment of it.
struct Row<'a> {
    name: &'a [u8],
    /// A letter for each column, `-` for a gap, a space where it has nothing.
    letters: Vec<u8>,
    /// The number of each letter in its sequence; 0 where there is none.
    numbers: Vec<usize>,
    /// What it has more before a column: letters with their numbers.
    more: Vec<(usize, Vec<(u8, usize)>)>,
}

impl Anchored {
    /// Writes the alignments of all hits.
    pub(super) fn write(self, out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
        let hsps = answer.hits.iter();
        let hsps = hsps.flat_map(|hit| hit.hsps.iter().map(move |hsp| (hit, hsp)));
        let aligned: Vec<Aligned> = hsps
            .map(|(hit, hsp)| Aligned::new(answer, hit, hsp))
            .collect();
        let length = answer.queries.residues(answer.query).len();
        let mut rows = vec![Row::of_query(answer)];
        rows.extend(aligned.iter().map(|one| Row::of(one, length)));
        if self.flat {
            flatten(&mut rows);
        }
        let is_there = |column: &usize| rows[1..].iter().any(|row| row.has(*column));
        let columns = rows[0].letters.len();
        let (Some(first), Some(last)) = (
            (0..columns).find(is_there),
            (0..columns).rev().find(is_there),
        ) else {
            return Ok(());
        };
        let widest = rows.iter().map(|row| row.name.len()).max();
        let largest = rows.iter().flat_map(|row| row.numbers[first..=last].iter());
        let digits = largest.max().unwrap_or(&0).to_string().len();
        let widths = [widest.unwrap_or_default(), digits];
        for start in (first..=last).step_by(COLUMNS) {
            writeln!(out)?;
            self.block(out, &rows, start..(last + 1).min(start + COLUMNS), widths)?;
        }
        writeln!(out)
    }

    fn block(
        self,
        out: &mut dyn Write,
        rows: &[Row],
        columns: Range<usize>,
        widths: [usize; 2],
    ) -> io::Result<()> {
        let query = &rows[0].letters[columns.clone()];
        for (place, row) in rows.iter().enumerate() {
            if !columns.clone().any(|column| row.has(column)) {
                continue;
            }
            let letters = row.letters[columns.clone()].iter().zip(query);
            let letters = letters.map(|(&letter, &of_query)| {
                let is_same = letter.eq_ignore_ascii_case(&of_query) && letter != b'-';
                match self.dots && place > 0 && is_same {
                    true => b'.',
                    false => letter,
                }
            });
            let letters: Vec<u8> = letters.collect();
            let [start, end] = row.ends(&columns);
            out.write_all(row.name)?;
            let [name, number] = widths;
            let beside = name - row.name.len() + 2;
            write!(out, "{:beside$}{start:<number$}  ", "")?;
            out.write_all(&letters)?;
            writeln!(out, "  {end}")?;
            let within = row.more.iter().filter(|(at, _)| columns.contains(at));
            let more = within.map(|(at, more)| {
                let letters = more.iter().map(|&(letter, _)| letter).collect();
                (at - columns.start, letters)
            });
            write_more(out, more.collect(), columns.len(), name + number + 4)?;
        }
        Ok(())
    }
}

impl<'a> Row<'a> {
    fn of_query(answer: &QueryHits<'a>) -> Row<'a> {
        let molecule = answer.program.compares();
        let residues = answer.queries.residues(answer.query);
        let mut letters: Vec<u8> = residues.iter().map(|&code| molecule.letter(code)).collect();
        for range in &answer.masked()[0] {
            letters[range.clone()].make_ascii_lowercase();
        }
        Row {
            name: answer.queries.name(answer.query),
            letters,
            numbers: (1..=residues.len()).collect(),
            more: Vec::new(),
        }
    }

    /// An alignment with a query of so many letters.
    fn of(aligned: &Aligned<'a>, length: usize) -> Row<'a> {
        let mut row = Row {
            name: aligned.name(1 - QUERY),
            letters: vec![b' '; length],
            numbers: vec![0; length],
            more: Vec::new(),
        };
        let mut column = aligned.in_query().start;
        let (mut number, step) = (aligned.subject_ends()[0] as i64, aligned.subject_step());
        for (of_query, of_subject) in aligned.pairs() {
            let letter = aligned.letter(of_subject);
            if of_query.is_none() {
                match row.more.last_mut() {
                    Some((at, more)) if *at == column => more.push((letter, number as usize)),
                    _ => row.more.push((column, vec![(letter, number as usize)])),
                }
            } else {
                row.letters[column] = letter;
                row.numbers[column] = of_subject.map_or(0, |_| number as usize);
                column += 1;
            }
            number += of_subject.map_or(0, |_| step);
        }
        row
    }

    fn has(&self, column: usize) -> bool {
        self.letters[column] != b' '
    }

    /// The numbers of its first and its last letter in some columns; of what stands before where it
    /// has only gaps there.
    fn ends(&self, columns: &Range<usize>) -> [usize; 2] {
        let there = |numbers: &[usize]| -> Option<[usize; 2]> {
            let mut there = numbers.iter().copied().filter(|&number| number > 0);
            let first = there.next()?;
            Some([first, there.next_back().unwrap_or(first)])
        };
        let before = || there(&self.numbers[..columns.start]).map(|[_, last]| [last; 2]);
        let within = there(&self.numbers[columns.clone()]);
        within.or_else(before).unwrap_or_default()
    }

    /// Gives it so many columns before each of its own, for what it has more there.
    fn widen(&mut self, wider: &[usize], is_query: bool) {
        let (mut letters, mut numbers) = (Vec::new(), Vec::new());
        let mut more = std::mem::take(&mut self.more).into_iter().peekable();
        for (column, &wide) in wider.iter().enumerate() {
            let own = more.next_if(|(at, _)| *at == column).map(|(_, own)| own);
            let own = own.unwrap_or_default();
            let is_within = is_query || column > 0 && self.has(column - 1) && self.has(column);
            let none = (if is_within { b'-' } else { b' ' }, 0);
            for place in 0..wide {
                let (letter, number) = *own.get(place).unwrap_or(&none);
                letters.push(letter);
                numbers.push(number);
            }
            letters.push(self.letters[column]);
            numbers.push(self.numbers[column]);
        }
        (self.letters, self.numbers) = (letters, numbers);
    }
}

/// Gives all rows columns for what any of them has more.
fn flatten(rows: &mut [Row]) {
    let mut wider = vec![0; rows[0].letters.len()];
    for (at, letters) in rows.iter().flat_map(|row| &row.more) {
        wider[*at] = letters.len().max(wider[*at]);
    }
    for (place, row) in rows.iter_mut().enumerate() {
        row.widen(&wider, place == 0);
    }
}

/// What a row has more, below it: each with a bar at its column, in as many lines as it takes.
fn write_more(
    out: &mut dyn Write,
    mut more: Vec<(usize, Vec<u8>)>,
    columns: usize,
    indent: usize,
) -> io::Result<()> {
    let line_of = |more: &[(usize, Vec<u8>)], sign| {
        let mut line = vec![b' '; columns];
        more.iter().for_each(|(at, _)| line[*at] = sign);
        line
    };
    let write_line = |out: &mut dyn Write, line: &[u8]| {
        write!(out, "{:indent$}", "")?;
        out.write_all(line)?;
        writeln!(out)
    };
    if !more.is_empty() {
        write_line(out, &line_of(&more, b'\\'))?;
    }
    while !more.is_empty() {
        write_line(out, &line_of(&more, b'|'))?;
        let (mut line, mut rest): (Vec<u8>, _) = (Vec::new(), Vec::new());
        for (number, (at, letters)) in more.into_iter().enumerate() {
            let space = (at + 1).saturating_sub(line.len());
            if number == 0 || at > line.len() {
                let before = space.saturating_sub(letters.len());
                let least = usize::from(!line.is_empty());
                line.resize(line.len() + before.max(least), b' ');
                line.extend(letters);
            } else {
                if at >= line.len() {
                    line.resize(at, b' ');
                    line.push(b'|');
                }
                rest.push((at, letters));
            }
        }
        write_line(out, &line)?;
        more = rest;
    }
    Ok(())
}
