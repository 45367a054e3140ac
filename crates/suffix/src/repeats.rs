//! What occurs twice in a set of sequences.
//!
//! A *maximal repeat* is a word that occurs at least twice, and not all of its copies have the same
//! letter before them, nor the same behind them (Gusfield 1997): it cannot be longer without losing
//! copies. It is *supermaximal* where no copy lies within a longer repeat. A *duplicate* is a
//! sequence that equals another from end to end.

use std::collections::BTreeMap;
use std::io::Write;

use gyrase_work::Progress;

use crate::error::Error;
use crate::intervals::{Interval, each_interval};
use crate::sort::{SENTINEL, SuffixArray};
use crate::strands::sort;
use crate::texts::Texts;

/// Which repeats are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepeatKind {
    /// All that are maximal.
    #[default]
    Maximal,
    /// Those that lie in no longer one.
    Supermaximal,
}

/// Where the copies of a repeat have to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Anywhere.
    #[default]
    Anywhere,
    /// In at least two files.
    BetweenFiles,
    /// At least two in one file.
    WithinFile,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Letters of the shortest repeat, at least 1.
    pub least: usize,
    /// Which are told.
    pub kind: RepeatKind,
    /// Where their copies have to be.
    pub spread: Spread,
    /// Whether a reverse complement is a copy, too.
    pub both_strands: bool,
    /// Bytes of memory that the run may take.
    pub memory: u64,
}

/// What a run found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sequences.
    pub texts: u64,
    /// Their letters.
    pub letters: u64,
    /// Repeats that were told.
    pub repeats: u64,
    /// Their copies.
    pub copies: u64,
    /// The letters of the longest.
    pub longest: u64,
    /// Sequences that equal one before them.
    pub duplicates: u64,
}

/// The names of the columns of repeats.
pub const REPEAT_COLUMNS: &str = "repeat\tlength\tcopies\tsequence\tstart\tend\tstrand\tfile";
/// The names of the columns of duplicates.
pub const DUPLICATE_COLUMNS: &str = "group\tlength\tcopies\tsequence\tstrand\tfile";

/// A word that occurs at least twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repeat {
    /// Its copies, by place in the text of the set.
    pub copies: Vec<Occurrence>,
    /// Its letters.
    pub length: usize,
}

/// A copy of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// Where it begins, on the forward strand, in the text of the set.
    pub position: usize,
    /// Whether it is the reverse complement that is there.
    pub reverse: bool,
}

/// Writes the repeats of sequences to `out`, a line for each copy, and the duplicates, if wanted,
/// to `duplicates`: by the place of the first copy, longer ones first. Places are counted from 1,
/// files too.
///
/// `sorted` are the suffixes of the texts, where they are known.
///
/// # Errors
/// The memory does not suffice, `out` or `duplicates` cannot be written.
pub fn run(
    config: &Config,
    mut texts: Texts,
    sorted: Option<SuffixArray>,
    out: &mut dyn Write,
    duplicates: Option<&mut dyn Write>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let mut summary = Summary {
        texts: texts.texts.len() as u64,
        letters: texts.texts.iter().map(|text| text.len() as u64).sum(),
        ..Summary::default()
    };
    let own = Own::of(&texts);
    let sorted = match sorted.filter(|_| !config.both_strands) {
        Some(sorted) => sorted,
        None => sort(&mut texts, config.both_strands, config.memory, progress)?,
    };
    let found = Found {
        texts: &texts,
        sorted: &sorted,
        own,
    };
    progress.start("find repeats", 0);
    let mut firsts = found.repeats(config, progress)?;
    firsts.sort_unstable();
    progress.start("write", firsts.len() as u64);
    writeln!(out, "{REPEAT_COLUMNS}")?;
    for (number, (_, interval)) in (1..).zip(&firsts) {
        progress.go_on()?;
        progress.advance(1);
        let repeat = found.repeat(interval);
        summary.repeats += 1;
        summary.copies += repeat.copies.len() as u64;
        summary.longest = summary.longest.max(repeat.length as u64);
        found.write(number, &repeat, out)?;
    }
    summary.duplicates = found.duplicates(duplicates)?;
    Ok(summary)
}

/// How many of the texts, and of their letters, are no reverse complements.
#[derive(Clone, Copy)]
struct Own {
    texts: usize,
    letters: usize,
}

impl Own {
    fn of(texts: &Texts) -> Own {
        Own {
            texts: texts.texts.len(),
            letters: texts.letters.len(),
        }
    }
}

/// Places of suffixes that begin with a repeat, and its letters.
type Places = (usize, usize, usize);
/// The first copy of a repeat, what is left when its letters are taken from all, its places.
type First = ((usize, usize), Places);

/// Sorted texts, in which repeats are found.
struct Found<'f> {
    texts: &'f Texts,
    sorted: &'f SuffixArray,
    own: Own,
}

impl Found<'_> {
    fn repeats(&self, config: &Config, progress: &Progress) -> Result<Vec<First>, Error> {
        let mut firsts = Vec::new();
        let letters = &self.texts.letters;
        each_interval(letters, self.sorted, config.least, |interval| {
            progress.go_on()?;
            let wanted = match config.kind {
                RepeatKind::Maximal => interval.is_left_diverse,
                RepeatKind::Supermaximal => self.is_supermaximal(&interval),
            };
            if wanted {
                let places = (interval.places.start, interval.places.end, interval.common);
                let repeat = self.repeat(&places);
                // A repeat and its reverse complement are one, told where its first copy is.
                if !repeat.copies[0].reverse
                    && repeat.copies.len() > 1
                    && self.is_spread(&repeat, config.spread)
                {
                    let first = (repeat.copies[0].position, usize::MAX - repeat.length);
                    firsts.push((first, places));
                }
            }
            Ok::<(), Error>(())
        })?;
        Ok(firsts)
    }

    /// Whether no two suffixes of an interval have one letter before them, or share more.
    fn is_supermaximal(&self, interval: &Interval) -> bool {
        let mut seen = [false; 256];
        let mut before = interval.places.clone().map(|place| {
            let position = self.sorted.positions.get(place).checked_sub(1);
            position.map_or(SENTINEL, |position| self.texts.letters[position])
        });
        interval.has_no_inner
            && before.all(|letter| {
                letter == SENTINEL || !std::mem::replace(&mut seen[usize::from(letter)], true)
            })
    }

    /// The copies at some places. Where a word is its own reverse complement, both strands have it
    /// at one place, and the forward one counts.
    fn repeat(&self, &(start, end, length): &Places) -> Repeat {
        let copies = (start..end).map(|place| self.copy(self.sorted.positions.get(place), length));
        let mut copies: Vec<Occurrence> = copies.collect();
        copies.sort_unstable();
        copies.dedup_by_key(|copy| copy.position);
        Repeat { copies, length }
    }

    fn copy(&self, position: usize, length: usize) -> Occurrence {
        if position < self.own.letters {
            return Occurrence {
                position,
                reverse: false,
            };
        }
        let (text, place) = self.texts.place(position);
        Occurrence {
            position: self.texts.texts[text - self.own.texts].end - place - length,
            reverse: true,
        }
    }

    fn is_spread(&self, repeat: &Repeat, spread: Spread) -> bool {
        let file = |copy: &Occurrence| self.texts.texts[self.texts.place(copy.position).0].file;
        let mut files = repeat.copies.iter().map(file);
        match spread {
            Spread::Anywhere => true,
            Spread::BetweenFiles => {
                let first = files.next();
                files.any(|file| Some(file) != first)
            }
            // Copies are in the order of files.
            Spread::WithinFile => repeat
                .copies
                .windows(2)
                .any(|pair| file(&pair[0]) == file(&pair[1])),
        }
    }

    fn write(&self, number: usize, repeat: &Repeat, out: &mut dyn Write) -> std::io::Result<()> {
        let (length, copies) = (repeat.length, repeat.copies.len());
        for copy in &repeat.copies {
            let (text, place) = self.texts.place(copy.position);
            let text = &self.texts.texts[text];
            write!(out, "{number}\t{length}\t{copies}\t")?;
            out.write_all(&text.name)?;
            let (strand, file) = (strand(copy.reverse), text.file + 1);
            let (start, end) = (place + 1, place + length);
            writeln!(out, "\t{start}\t{end}\t{strand}\t{file}")?;
        }
        Ok(())
    }

    /// Tells of sequences that equal others; gives how many equal one before them.
    fn duplicates(&self, out: Option<&mut dyn Write>) -> Result<u64, Error> {
        let groups = self.groups();
        let more = groups.values().map(|group| group.len() as u64 - 1).sum();
        let Some(out) = out else {
            return Ok(more);
        };
        writeln!(out, "{DUPLICATE_COLUMNS}")?;
        for (number, group) in (1..).zip(groups.values()) {
            for &(text, reverse) in group {
                let text = &self.texts.texts[text];
                let (length, copies) = (text.len(), group.len());
                write!(out, "{number}\t{length}\t{copies}\t")?;
                out.write_all(&text.name)?;
                let (strand, file) = (strand(reverse), text.file + 1);
                writeln!(out, "\t{strand}\t{file}")?;
            }
        }
        Ok(more)
    }

    /// Groups of equal texts, by the first of each, and which are reverse complements of that.
    fn groups(&self) -> BTreeMap<usize, Vec<(usize, bool)>> {
        let mut groups = BTreeMap::new();
        let mut group: Vec<(usize, bool)> = Vec::new();
        let mut length = 0;
        for place in 0..self.sorted.positions.len() {
            let position = self.sorted.positions.get(place);
            let (number, offset) = self.texts.place(position);
            let rest = self.texts.texts[number].len() - offset;
            if self.sorted.common.get(place) < length || rest != length {
                self.close(&mut group, &mut groups);
                length = rest;
            }
            if offset == 0 && length > 0 {
                let reverse = number >= self.own.texts;
                group.push((number % self.own.texts, reverse));
            }
        }
        self.close(&mut group, &mut groups);
        groups
    }

    /// Ends a group: that of the reverse complements of one is told there.
    fn close(
        &self,
        group: &mut Vec<(usize, bool)>,
        groups: &mut BTreeMap<usize, Vec<(usize, bool)>>,
    ) {
        let mut group = std::mem::take(group);
        group.sort_unstable();
        group.dedup_by_key(|member| member.0);
        match group.first() {
            Some(&(first, false)) if group.len() > 1 => groups.insert(first, group),
            _ => None,
        };
    }
}

fn strand(reverse: bool) -> char {
    if reverse { '-' } else { '+' }
}
