//! The text of one input, chunk after chunk, into batches.

use std::ops::Range;

use gyrase_seq::Batch;

use crate::ahead::Ahead;
use crate::error::{Fault, Problem};
use crate::fasta::{Open, Work};
use crate::fastq::{self, Place, Window};
use crate::letters::Rules;
use crate::options::Format;
use crate::sniff::{self, Start};

/// Bytes of a name that a message shows.
const LONGEST_NAME: usize = 200;

/// What a parser remembers between chunks.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    format: Option<Format>,
    place: Place,
    /// Text that was read and not yet parsed: the head of a record, or the letters that an open
    /// record repeats.
    carry: Vec<u8>,
    open: Option<Open>,
    /// A record that did not fit is not tried again before there is this much text.
    patience: usize,
}

impl Parser {
    /// A parser of FASTQ from the start of a record on.
    pub(crate) fn of_fastq() -> Parser {
        Parser {
            format: Some(Format::Fastq),
            ..Parser::default()
        }
    }

    /// What was read and not yet parsed.
    pub(crate) fn into_carry(self) -> Vec<u8> {
        self.carry
    }

    /// Parses the chunk at `chunk` of the batch's text and gives the batch its records, of which
    /// some may have been found `ahead`. The text before the chunk is free for use; `last` says
    /// that no chunk follows.
    pub(crate) fn parse(
        &mut self,
        batch: &mut Batch,
        (chunk, ahead): (Range<usize>, Option<Ahead>),
        last: bool,
        rules: Rules,
    ) -> Result<(), Fault> {
        let ahead = ahead.filter(|_| self.format == Some(Format::Fastq));
        if ahead.is_none() {
            batch.records.clear();
        }
        batch.first_record = Some(self.place.record);
        batch.first_letter = self.open.as_ref().map(Open::letters);
        if !last && self.carry.len() + chunk.len() < self.patience {
            self.carry.extend_from_slice(&batch.text[chunk]);
            batch.records.clear();
            return Ok(());
        }
        let (start, carried) = (chunk.start, self.carry.len());
        let bytes = self.prepend(&mut batch.text, chunk);
        let moved = bytes.start + carried - start;
        let ahead = ahead.map(|ahead| ahead.moved(moved, &mut batch.records));
        let Some(bytes) = self.begin(&batch.text, bytes, last)? else {
            return Ok(());
        };
        batch.text.truncate(bytes.end);
        let window = Window {
            bytes,
            limit: usize::MAX,
            last,
        };
        self.records(batch, (&window, ahead), rules)?;
        self.check_room(rules)?;
        let stuck = batch.records.is_empty() && self.open.is_none();
        self.patience = if stuck { 2 * self.carry.len() } else { 0 };
        Ok(())
    }

    /// Refuses a record that is not whole yet and longer than there is room for.
    fn check_room(&self, rules: Rules) -> Result<(), Fault> {
        let limit = rules.longest_record;
        if self.carry.len() <= limit || self.open.is_some() {
            return Ok(());
        }
        let header = self
            .carry
            .split(|&byte| byte == b'\n')
            .next()
            .unwrap_or_default();
        let name = header[1.min(header.len())..header.len().min(LONGEST_NAME)].to_vec();
        let Place { record, line } = self.place;
        Err(Fault {
            record: record + 1,
            line: line + 1,
            name,
            problem: Problem::NoRoom { limit },
        })
    }

    fn records(
        &mut self,
        batch: &mut Batch,
        (window, ahead): (&Window, Option<Ahead>),
        rules: Rules,
    ) -> Result<(), Fault> {
        let Batch { text, records, .. } = batch;
        if self.format == Some(Format::Fasta) {
            let mut work = Work {
                text,
                records,
                rules,
                place: &mut self.place,
            };
            return work.stream(window, &mut self.open, &mut self.carry);
        }
        let place = &mut self.place;
        let next = match ahead {
            Some(ahead) => ahead.complete(text, window, rules, place, records)?,
            None => fastq::parse(text, window, rules, place, records)?,
        };
        self.carry.extend_from_slice(&text[next..window.bytes.end]);
        Ok(())
    }

    /// Puts what is carried before the chunk; returns where both are.
    fn prepend(&mut self, text: &mut Vec<u8>, chunk: Range<usize>) -> Range<usize> {
        let carried = self.carry.len();
        let shift = carried.saturating_sub(chunk.start);
        let (start, end) = (chunk.start + shift, chunk.end + shift);
        if shift > 0 {
            text.resize(text.len().max(end), 0);
            text.copy_within(chunk, start);
        }
        text[start - carried..start].copy_from_slice(&self.carry);
        self.carry.clear();
        start - carried..end
    }

    /// Skips what precedes the first record; `None` while there is nothing else.
    fn begin(
        &mut self,
        text: &[u8],
        bytes: Range<usize>,
        last: bool,
    ) -> Result<Option<Range<usize>>, Fault> {
        if self.format.is_some() {
            return Ok(Some(bytes));
        }
        let head = &text[bytes.clone()];
        if !last && sniff::may_become_mark(head) {
            self.carry.extend_from_slice(head);
            return Ok(None);
        }
        match sniff::start(head) {
            Start::Records(format, skipped) => {
                self.place.line += memchr::memchr_iter(b'\n', &head[..skipped]).count() as u64;
                self.format = Some(format);
                Ok(Some(bytes.start + skipped..bytes.end))
            }
            Start::Blank if last => Ok(None),
            Start::Blank => {
                self.carry.extend_from_slice(head);
                Ok(None)
            }
            Start::Other(_) => Err(sniff::unknown(head, self.place.line + 1)),
        }
    }
}
