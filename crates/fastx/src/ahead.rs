//! Records of a chunk of FASTQ that are found before it is the chunk's turn.
//!
//! Only who knows where the last record of a chunk ends knows where the first of the next begins;
//! but where that may be can be [guessed](crate::fastq::guess). Records that were read from a true
//! record start are right: where the record before the guess ends there, so are all behind it.

use std::ops::Range;

use gyrase_seq::{Batch, Record, Span};

use crate::error::Fault;
use crate::fastq::{self, Guess, Place, Window};
use crate::letters::Rules;

/// What was found in a chunk, beside the records of its batch.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// The text from the first of the records to the end of the last.
    found: Range<usize>,
    /// How many records and lines.
    count: Place,
}

impl Ahead {
    /// Finds records in the chunk at `chunk` of the batch's text, from a guess on to the first that
    /// is not written on four lines, or is not whole. They are the only ones of the batch then.
    pub(crate) fn find(batch: &mut Batch, chunk: Range<usize>, rules: Rules) -> Option<Ahead> {
        let Batch { text, records, .. } = batch;
        records.clear();
        let bytes = &text[chunk.clone()];
        let Guess::At(start) = fastq::first_record(bytes, bytes.len(), false) else {
            return None;
        };
        let start = chunk.start + start;
        let mut count = Place::default();
        let window = Window {
            bytes: start..chunk.end,
            limit: usize::MAX,
            last: false,
        };
        let end = fastq::on_four_lines(text, &window, rules, &mut count, records);
        let found = start..end;
        Some(Ahead { found, count })
    }

    /// Bytes of the records.
    pub(crate) fn length(&self) -> usize {
        self.found.len()
    }

    /// The same where the text has moved up by so many bytes.
    pub(crate) fn moved(self, by: usize, records: &mut [Record]) -> Ahead {
        if by == 0 {
            return self;
        }
        for Record {
            name,
            letters,
            qualities,
            ..
        } in records
        {
            [name, letters, qualities].into_iter().for_each(|span| {
                *span = Span::from(span.range().start + by..span.range().end + by)
            });
        }
        Ahead {
            found: self.found.start + by..self.found.end + by,
            ..self
        }
    }

    /// Reads the whole records of a window, of which those that were found are there. Returns what
    /// [`fastq::parse`] does.
    pub(crate) fn complete(
        self,
        text: &mut [u8],
        window: &Window,
        rules: Rules,
        place: &mut Place,
        records: &mut Vec<Record>,
    ) -> Result<usize, Fault> {
        let found = records.len();
        let before = Window {
            limit: self.found.start,
            ..window.clone()
        };
        let mut at = fastq::parse(text, &before, rules, place, records)?;
        if at == self.found.start {
            records.rotate_left(found);
            place.record += self.count.record;
            place.line += self.count.line;
            at = self.found.end;
        } else {
            records.drain(..found);
        }
        let behind = Window {
            bytes: at..window.bytes.end,
            ..window.clone()
        };
        fastq::parse(text, &behind, rules, place, records)
    }
}

#[cfg(test)]
mod tests {
    use gyrase_seq::Batch;
    use proptest::prelude::*;

    use super::*;
    use crate::options::Options;
    use crate::parser::Parser;

    const HEADROOM: usize = 8;

    /// The records of a text that comes in these chunks, or what is wrong, and where.
    fn read(chunks: &[&[u8]], ahead: bool) -> Result<Vec<[Vec<u8>; 3]>, (u64, u64)> {
        let rules = Rules::of(&Options::default());
        let (mut parser, mut batch) = (Parser::of_fastq(), Batch::default());
        let mut all = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            batch.text.clear();
            batch.text.resize(HEADROOM, 0);
            batch.text.extend_from_slice(chunk);
            let bytes = HEADROOM..batch.text.len();
            let found = ahead.then(|| Ahead::find(&mut batch, bytes.clone(), rules));
            let last = number + 1 == chunks.len();
            let parsed = parser.parse(&mut batch, (bytes, found.flatten()), last, rules);
            parsed.map_err(|fault| (fault.record, fault.line))?;
            assert_eq!(batch.first_record, Some(all.len() as u64));
            all.extend(batch.records.iter().map(|record| {
                [record.name, record.letters, record.qualities]
                    .map(|span| batch.bytes(span).to_vec())
            }));
        }
        Ok(all)
    }

    /// Records that are wrapped, whose qualities look like other lines, that are empty, or wrong.
    const RECORDS: [&str; 9] = [
        "@a x\nACGTACGT\n+\nIIIIIIII\n",
        "@b\nACGT\n+\n@@@@\n",
        "@c\nAC\nGT\n+\n@I\n+I\n",
        "@d\nACG\nACG\n+\n@II\nACG\n",
        "@e\r\nAC\r\n+e\r\nI@\r\n",
        "@f\n\n+\n\n",
        "\n\n@g\nA\n+\n+\n",
        "@h\nAC GT\n+\nIIIII\n",
        "@i\nACGT\n+\nIII\n",
    ];

    proptest! {
        #[test]
        fn what_is_found_ahead_is_what_is_read_in_turn(
            numbers in proptest::collection::vec(0..7usize, 0..12),
            wrong in proptest::option::weighted(0.3, (0..12usize, 7..9usize)),
            cuts in proptest::collection::vec(0..400usize, 0..6),
        ) {
            let mut numbers = numbers;
            if let Some((at, number)) = wrong {
                numbers.insert(at.min(numbers.len()), number);
            }
            let text: String = numbers.into_iter().map(|number| RECORDS[number]).collect();
            let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            ends.push(text.len());
            ends.sort_unstable();
            let starts = [0].into_iter().chain(ends.iter().copied());
            let chunks: Vec<&[u8]> = starts
                .zip(&ends)
                .map(|(start, &end)| &text.as_bytes()[start..end])
                .collect();
            prop_assert_eq!(read(&chunks, true), read(&chunks, false));
        }
    }

    #[test]
    fn a_chunk_of_whole_records_is_found_but_for_its_first() {
        let text = "CGT\n+\nIIII\n@b\nACGT\n+\n@@@@\n@c\nA\n+\nI\n@d\nA";
        let mut batch = Batch {
            text: text.into(),
            ..Batch::default()
        };
        let rules = Rules::of(&Options::default());
        let ahead = Ahead::find(&mut batch, 0..text.len(), rules).unwrap();
        assert_eq!(batch.records.len(), 2);
        assert_eq!(&text[ahead.found], "@b\nACGT\n+\n@@@@\n@c\nA\n+\nI\n");
    }
}
