//! The grammar of FASTA, in whole records and in parts of records.
//!
//! A line that starts with `>` is a header, one that starts with `;` a comment, every other line
//! sequence. Spaces, tabs and carriage returns in sequence lines mean nothing, as in NCBI's tools.
//! What a line is depends on its first byte only, so FASTA can be cut anywhere. Lines are joined in
//! place: the letters move to the front of their own text.

use std::ops::Range;

use gyrase_seq::Record;
use memchr::{memchr, memrchr_iter};

use crate::error::{Fault, Problem};
use crate::fastq::{Place, Window};
use crate::letters::{Rules, are_bases, count_protein, is_space, refuse_protein, squeeze};
use crate::options::{Format, LONGEST};

/// A record that goes on behind the text that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    /// Its header.
    pub name: Vec<u8>,
    /// How many of its last letters are kept to be repeated.
    pub overlap: usize,
    /// What follows begins a line.
    pub line_start: bool,
    /// What its letters were so far.
    pub seen: Seen,
}

impl Open {
    /// Letters of the record that were read.
    pub fn letters(&self) -> u64 {
        self.seen.letters as u64
    }
}

/// The letters of a record, as far as it was read. It is judged as a whole, however it was cut.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Number of the first line of letters.
    line: u64,
    letters: usize,
    /// How many of them only proteins have.
    protein: usize,
}

/// Text that is read, and where its records go.
pub(crate) struct Work<'a> {
    pub text: &'a mut Vec<u8>,
    pub records: &'a mut Vec<Record>,
    pub rules: Rules,
    pub place: &'a mut Place,
}

/// Where reading stopped, in which record.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    name: Range<usize>,
    letters: Range<usize>,
    /// First byte that was not read.
    pub next: usize,
    line_start: bool,
    goes_on: bool,
    seen: Seen,
}

impl Work<'_> {
    /// Reads one window of a stream: whole records, or a part of a record that fills the window.
    /// What is left for the next window goes to `carry`: the head of a record, or the overlap of
    /// the open one.
    pub(crate) fn stream(
        &mut self,
        window: &Window,
        open: &mut Option<Open>,
        carry: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let Window {
            bytes: Range { start: mut at, end },
            last,
            ..
        } = *window;
        if let Some(record) = open.take() {
            let tail = self.rest(at..end, last, &record)?;
            if tail.goes_on {
                *open = Some(self.leave_open(&tail, record.name, end, carry));
                return Ok(());
            }
            at = tail.next;
        }
        let mut keep = |text: &[u8]| carry.extend_from_slice(text);
        match skip_to_header(&self.text[..end], at, last, self.place)? {
            Some(header) => at = header,
            None => {
                keep(&self.text[at..end]);
                return Ok(());
            }
        }
        let cut = if last {
            end
        } else {
            last_header(self.text, at, end).unwrap_or(at)
        };
        if cut > at {
            self.read_records(at..cut, false)?;
        }
        let whole_header = memchr(b'\n', &self.text[cut..end]).is_some();
        if last || !self.records.is_empty() || self.rules.whole_records || !whole_header {
            keep(&self.text[cut..end]);
            return self.refuse_too_long(end - cut);
        }
        let tail = self.read_records(cut..end, true)?;
        let name = self.text[tail.name.clone()].to_vec();
        *open = Some(self.leave_open(&tail, name, end, carry));
        Ok(())
    }

    fn refuse_too_long(&self, length: usize) -> Result<(), Fault> {
        if length <= LONGEST {
            return Ok(());
        }
        let problem = Problem::TooLong {
            format: Format::Fasta,
            limit: LONGEST,
        };
        Err(Fault {
            record: self.place.record + 1,
            line: self.place.line + 1,
            name: Vec::new(),
            problem,
        })
    }

    /// Remembers an open record; its last letters and what was not read are carried.
    fn leave_open(&self, tail: &Tail, name: Vec<u8>, end: usize, carry: &mut Vec<u8>) -> Open {
        let overlap = self.rules.overlap.min(tail.letters.len());
        carry.extend_from_slice(&self.text[tail.letters.end - overlap..tail.letters.end]);
        carry.extend_from_slice(&self.text[tail.next..end]);
        Open {
            name,
            overlap,
            line_start: tail.line_start,
            seen: tail.seen,
        }
    }

    /// Reads `text[bytes]`, which starts with a header; `goes_on`: the last record goes on behind
    /// it. The last header may end behind the bytes, in the rest of the text.
    pub(crate) fn read_records(
        &mut self,
        bytes: Range<usize>,
        goes_on: bool,
    ) -> Result<Tail, Fault> {
        let mut at = bytes.start;
        loop {
            let (name, from) = header(self.text, at);
            let first_line = self.place.line + 1 + u64::from(from > name.end);
            let from = from.min(bytes.end);
            let joined = self.join(from..bytes.end, true, &name, first_line)?;
            let letters = from..joined.end;
            let more = joined.next < bytes.end && self.text[joined.next] == b'>';
            let continues = goes_on && !more;
            let seen = Seen {
                line: first_line,
                letters: letters.len(),
                protein: joined.protein,
            };
            if !continues {
                self.judge(seen, &name)?;
            }
            self.push(Record {
                name: name.clone().into(),
                letters: letters.clone().into(),
                continues,
                ..Record::default()
            });
            at = joined.next;
            if !more {
                return Ok(Tail {
                    name,
                    letters,
                    next: at,
                    line_start: joined.line_start,
                    goes_on: continues,
                    seen,
                });
            }
        }
    }

    /// Reads what belongs to the open record: `text[bytes]` begins with its overlap, behind which
    /// its letters go on.
    pub(crate) fn rest(
        &mut self,
        bytes: Range<usize>,
        last: bool,
        open: &Open,
    ) -> Result<Tail, Fault> {
        // The name goes behind the text that is still to be read.
        let name = self.text.len()..self.text.len() + open.name.len();
        self.text.extend_from_slice(&open.name);
        let from = bytes.start + open.overlap;
        let joined = self.join(from..bytes.end, open.line_start, &name, self.place.line + 1)?;
        let letters = bytes.start..joined.end;
        let goes_on = !last && (joined.next >= bytes.end || self.text[joined.next] != b'>');
        let Seen {
            line,
            letters: before,
            protein,
        } = open.seen;
        let seen = Seen {
            line,
            letters: before + joined.end - from,
            protein: protein + joined.protein,
        };
        if !goes_on {
            self.judge(seen, &name)?;
        }
        let overlap = u32::try_from(open.overlap).expect("an overlap is shorter than a batch");
        let spans = Record {
            name: name.clone().into(),
            letters: letters.clone().into(),
            ..Record::default()
        };
        self.push(Record {
            overlap,
            continues: goes_on,
            ..spans
        });
        Ok(Tail {
            name,
            letters,
            next: joined.next,
            line_start: joined.line_start,
            goes_on,
            seen,
        })
    }

    fn push(&mut self, record: Record) {
        self.place.record += u64::from(!record.continues);
        self.records.push(record);
    }

    /// Brings the letters of `text[bytes]` together at its front, up to a header, and checks that
    /// they are letters. `line` is the number of their first line.
    fn join(
        &mut self,
        bytes: Range<usize>,
        line_start: bool,
        name: &Range<usize>,
        line: u64,
    ) -> Result<Joined, Fault> {
        let mut at_line = line;
        match join(self.text, bytes, line_start, &mut at_line) {
            Ok(joined) => {
                self.place.line = at_line - 1;
                Ok(joined)
            }
            Err(problem) => Err(self.fault(name, at_line, problem)),
        }
    }

    /// Refuses a protein.
    fn judge(
        &self,
        Seen {
            line,
            letters,
            protein,
        }: Seen,
        name: &Range<usize>,
    ) -> Result<(), Fault> {
        refuse_protein(self.rules.alphabet, protein, letters)
            .map_err(|problem| self.fault(name, line, problem))
    }

    /// Judges the letters of a range's last record, which goes on in the next, by themselves: where
    /// every part of a record passes, the record does; where one does not, a serial reading judges
    /// the record.
    pub(crate) fn judge_part(&self, tail: &Tail) -> Result<(), Fault> {
        if tail.goes_on {
            self.judge(tail.seen, &tail.name)
        } else {
            Ok(())
        }
    }

    fn fault(&self, name: &Range<usize>, line: u64, problem: Problem) -> Fault {
        Fault {
            record: self.place.record + 1,
            line,
            name: self.text[name.clone()].to_vec(),
            problem,
        }
    }
}

/// Skips blank lines and comments before a header; `None` when the text ends before it is clear
/// what comes.
fn skip_to_header(
    text: &[u8],
    mut at: usize,
    last: bool,
    place: &mut Place,
) -> Result<Option<usize>, Fault> {
    let lines = place.line;
    while at < text.len() && text[at] != b'>' {
        if text[at] == b';' {
            match memchr(b'\n', &text[at..]) {
                Some(end) => at += end,
                None if last => return Ok(Some(text.len())),
                None => {
                    place.line = lines;
                    return Ok(None);
                }
            }
        }
        if !is_space(text[at]) {
            let problem = Problem::NoHeader {
                format: Format::Fasta,
                found: text[at],
            };
            return Err(Fault {
                record: place.record + 1,
                line: place.line + 1,
                name: Vec::new(),
                problem,
            });
        }
        place.line += u64::from(text[at] == b'\n');
        at += 1;
    }
    Ok(Some(at))
}

/// The last header of `text[at..end]` but for one at `at` itself.
pub(crate) fn last_header(text: &[u8], at: usize, end: usize) -> Option<usize> {
    let headers = memrchr_iter(b'>', &text[at..end]).map(|place| at + place);
    headers
        .take_while(|&place| place > at)
        .find(|&place| text[place - 1] == b'\n')
}

/// The name in the header at `at`, and the place after its line (or the end of the text).
fn header(text: &[u8], at: usize) -> (Range<usize>, usize) {
    let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    let name = at + 1..if text[end - 1] == b'\r' { end - 1 } else { end };
    (name, (end + 1).min(text.len()))
}

/// Sequence lines that were brought together.
struct Joined {
    /// End of the letters.
    end: usize,
    /// The header or the unfinished comment that stopped it, or the end of the bytes.
    next: usize,
    line_start: bool,
    protein: usize,
}

/// Moves the letters of `text[bytes]` to its front, up to a header. `line` counts the lines.
fn join(
    text: &mut [u8],
    bytes: Range<usize>,
    mut line_start: bool,
    line: &mut u64,
) -> Result<Joined, Problem> {
    let (mut read, mut write, mut protein) = (bytes.start, bytes.start, 0);
    while read < bytes.end {
        let first = text[read];
        if line_start && first == b'>' {
            break;
        }
        let newline = memchr(b'\n', &text[read..bytes.end]);
        let stop = newline.map_or(bytes.end, |stop| read + stop);
        if line_start && first == b';' {
            if newline.is_none() {
                break;
            }
        } else if are_bases(&text[read..stop]) {
            if read > write {
                text.copy_within(read..stop, write);
            }
            write += stop - read;
        } else {
            let end = squeeze(text, read, stop, write);
            protein += count_protein(&text[write..end])?;
            write = end;
        }
        *line += u64::from(newline.is_some());
        line_start = newline.is_some();
        read = stop + usize::from(line_start);
    }
    Ok(Joined {
        end: write,
        next: read,
        line_start,
        protein,
    })
}
