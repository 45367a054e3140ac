//! The text, of which each process has a block.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gyrase_fabric::{Peer, World};
use gyrase_seqdb::Molecule;
use gyrase_work::{Progress, run_of, runner};

use crate::error::Error;
use crate::sort::SENTINEL;
use crate::texts::{Letters, Piece, Text, pieces};

/// Things in a line, of which each process has a run: positions of the text, or places in the
/// suffix array.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub things: usize,
    pub peer: Peer,
}

impl Line {
    /// The run of this process.
    pub fn own(self) -> Range<usize> {
        run_of(self.things, self.peer.rank, self.peer.ranks)
    }

    /// The process that has one of them.
    pub fn owner(self, thing: usize) -> usize {
        runner(thing, self.things, self.peer.ranks)
    }

    /// The run of another process.
    pub fn of(self, rank: usize) -> Range<usize> {
        run_of(self.things, rank, self.peer.ranks)
    }
}

/// Positions of the text that are dealt out to the processes one by one. What repeats is a stretch
/// of the text, and whoever had the whole of it would answer for all of it, round after round.
#[derive(Clone, Copy)]
pub(crate) struct Dealt(pub Line);

impl Dealt {
    /// How many this process has.
    pub fn count(self) -> usize {
        let Peer { rank, ranks } = self.0.peer;
        (self.0.things + ranks - 1 - rank) / ranks
    }

    /// The process that has one of them.
    pub fn owner(self, position: usize) -> usize {
        position % self.0.peer.ranks
    }

    /// Which of those of its process it is.
    pub fn number(self, position: usize) -> usize {
        position / self.0.peer.ranks
    }
}

/// What is known of the text before it is read.
pub(crate) struct Survey {
    /// How many letters it has, sentinels included.
    pub letters: usize,
    /// Which letters equal which.
    pub kind: Letters,
    /// Where each sequence is; in rank 0 alone.
    pub texts: Vec<Text>,
    /// How many sequences there are.
    pub sequences: usize,
    /// Which letters there are once they are stored.
    pub stored: [bool; 256],
}

/// Reads the files to see what there is.
pub(crate) fn survey(
    world: &dyn World,
    paths: &[PathBuf],
    kind: Option<Letters>,
    progress: &Progress,
) -> Result<Survey, Error> {
    progress.start("survey", size(paths));
    let (mut counts, mut texts) = ([0u64; 256], Vec::new());
    let (mut letters, mut start, mut sequences) = (0, 0, 0);
    for (file, path) in (0..).zip(paths) {
        pieces(path, progress, |piece| {
            match piece {
                Piece::Letters(piece) => {
                    let upper = piece.iter().map(|letter| letter.to_ascii_uppercase());
                    upper.for_each(|letter| counts[usize::from(letter)] += 1);
                    letters += piece.len();
                }
                Piece::End(name) => {
                    let end = letters;
                    if world.rank() == 0 {
                        texts.push(Text {
                            name,
                            file,
                            start,
                            end,
                        });
                    }
                    (letters, start, sequences) = (end + 1, end + 1, sequences + 1);
                }
            }
            Ok(())
        })?;
    }
    counts[usize::from(SENTINEL)] = 0;
    let kind = kind.unwrap_or(match Molecule::of_counts(&counts) {
        Molecule::Nucleotide => Letters::Bases,
        Molecule::Protein => Letters::Any,
    });
    let (map, mut stored) = (kind.stored(SENTINEL), [false; 256]);
    for (letter, _) in (0..).zip(counts).filter(|&(_, count)| count > 0) {
        stored[usize::from(map[letter as usize])] = true;
    }
    stored[usize::from(SENTINEL)] = false;
    Ok(Survey {
        letters,
        kind,
        texts,
        sequences,
        stored,
    })
}

fn size(paths: &[PathBuf]) -> u64 {
    let sizes = paths.iter().filter_map(|path| path.metadata().ok());
    sizes.map(|there| there.len()).sum()
}

/// The block of the text that a process has, and letters behind it.
pub(crate) struct TextBlock {
    pub line: Line,
    /// The letters, sentinels included: the block and [`TextBlock::width`] more, where there are.
    letters: Vec<u8>,
    /// A number for each letter, in their order; 0 for the sentinel.
    codes: [u8; 256],
    /// Bits that a code takes.
    bits: u32,
}

impl TextBlock {
    /// Reads it.
    pub fn read(
        world: &dyn World,
        paths: &[PathBuf],
        survey: &Survey,
        progress: &Progress,
    ) -> Result<TextBlock, Error> {
        let line = Line {
            things: survey.letters,
            peer: world.peer(),
        };
        let (mut codes, mut last) = ([0; 256], 0u8);
        for (letter, _) in (0..256).zip(survey.stored).filter(|(_, there)| *there) {
            last += 1;
            codes[letter] = last;
        }
        let mut block = TextBlock {
            line,
            letters: Vec::new(),
            codes,
            bits: u8::BITS - last.max(1).leading_zeros(),
        };
        let own = line.own();
        let end = survey.letters.min(own.end + block.width());
        block.letters.reserve_exact(end - own.start);
        progress.start("read", size(paths));
        let (map, mut at) = (survey.kind.stored(SENTINEL), 0);
        for path in paths {
            block.read_file(path, &map, &(own.start..end), &mut at, progress)?;
        }
        Ok(block)
    }

    /// Takes what of a file is in the range of the text, of which it begins `at` there.
    fn read_file(
        &mut self,
        path: &Path,
        map: &[u8; 256],
        range: &Range<usize>,
        at: &mut usize,
        progress: &Progress,
    ) -> Result<(), Error> {
        pieces(path, progress, |piece| {
            let (letters, stored) = match &piece {
                Piece::Letters(letters) => (*letters, map),
                Piece::End(_) => (&[SENTINEL][..], &[SENTINEL; 256]),
            };
            let cut = |place: usize| place.saturating_sub(*at).min(letters.len());
            let own = &letters[cut(range.start)..cut(range.end)];
            self.letters
                .extend(own.iter().map(|&letter| stored[usize::from(letter)]));
            *at += letters.len();
            Ok(())
        })
    }

    /// The letters of the block.
    pub fn own(&self) -> &[u8] {
        &self.letters[..self.line.own().len()]
    }

    /// How many letters a word holds.
    pub fn width(&self) -> usize {
        (u64::BITS / self.bits) as usize
    }

    /// The words of the suffixes that begin in the block, with their positions, the last one first:
    /// the codes of the first letters, from the highest bits down; behind a sentinel zeros.
    pub fn words(&self) -> impl ExactSizeIterator<Item = [u64; 2]> + '_ {
        let own = self.line.own();
        let top = u64::BITS - self.bits;
        let lowest = u64::MAX << (u64::BITS - self.bits * self.width() as u32);
        let codes = self
            .letters
            .iter()
            .map(|&letter| self.codes[usize::from(letter)]);
        let mut codes = codes.rev();
        let mut word = 0;
        let mut next = move || {
            let code = codes.next().expect("a letter for each position");
            word = match code {
                0 => 0,
                _ => (u64::from(code) << top | word >> self.bits) & lowest,
            };
            word
        };
        for _ in own.len()..self.letters.len() {
            next();
        }
        own.rev().map(move |position| [next(), position as u64])
    }

    /// Whether a sentinel is among the letters of a word. Of two suffixes with such words that are
    /// equal, the first in the text is smaller.
    pub fn has_sentinel(&self, word: u64) -> bool {
        self.before_sentinel(word) < self.width()
    }

    fn before_sentinel(&self, word: u64) -> usize {
        let unused = u64::BITS - self.bits * self.width() as u32;
        match word {
            0 => 0,
            _ => self.width() - ((word.trailing_zeros() - unused) / self.bits) as usize,
        }
    }

    /// How many letters two words share, up to a sentinel.
    pub fn shared(&self, one: u64, other: u64) -> usize {
        let equal = ((one ^ other).leading_zeros() / self.bits) as usize;
        equal.min(self.before_sentinel(one))
    }
}
