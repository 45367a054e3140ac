//! Copies of some sequences.

use std::iter;
use std::ops::Range;

use gyrase_align::arch::COLUMNS;
use gyrase_align::packed::Packed;
use gyrase_align::residue::BORDER;

use super::Sequences;
use crate::lower_case::LowerCase;

impl Sequences {
    /// A copy of those of a range of numbers, without titles.
    pub(crate) fn slice(&self, range: Range<usize>) -> Sequences {
        Sequences {
            first: self.first + range.start,
            ..self.slices(iter::once(range))
        }
    }

    /// A copy of those of a range of numbers, as if they were all that was read.
    pub fn excerpt(&self, range: Range<usize>) -> Sequences {
        let before = range.start.checked_sub(1);
        let start = before.map_or(0, |before| self.title_ends[before]);
        let ends = &self.title_ends[range.clone()];
        let end = ends.last().copied().unwrap_or(start);
        let number = |number: usize| self.taxids.partition_point(|(own, _)| *own < number as u32);
        let taxids = self.taxids[number(range.start)..number(range.end)].iter();
        let first = range.start as u32;
        Sequences {
            titles: self.titles[start..end].to_vec(),
            title_ends: ends.iter().map(|end| end - start).collect(),
            taxids: taxids
                .map(|&(number, taxid)| (number - first, taxid))
                .collect(),
            ..self.slices(iter::once(range))
        }
    }

    /// A copy of those of ranges of numbers, without titles; their own numbers begin at 0.
    pub(crate) fn slices(&self, ranges: impl IntoIterator<Item = Range<usize>>) -> Sequences {
        let mut all = Sequences {
            molecule: self.molecule,
            lower_case: self.lower_case.as_ref().map(|_| LowerCase::default()),
            ..Sequences::default()
        };
        all.text.truncate(COLUMNS);
        all.packed = self.packed.as_ref().map(|_| Packed::of(&all.text));
        all.starts = vec![COLUMNS];
        for range in ranges {
            let (from, to) = (self.starts[range.start], self.starts[range.end]);
            let start = all.starts[all.starts.len() - 1];
            match (&mut all.packed, &self.packed) {
                (Some(own), Some(packed)) => own.push_part_of(packed, from..to),
                _ => all.text.extend_from_slice(&self.text[from..to]),
            }
            let ends = self.starts[range.start + 1..=range.end].iter();
            all.starts.extend(ends.map(|end| end - from + start));
            if let (Some(own), Some(noted)) = (&mut all.lower_case, &self.lower_case) {
                own.add_part(noted, from..to, start);
            }
        }
        match &mut all.packed {
            Some(packed) => {
                packed.push(&[BORDER; COLUMNS]);
                all.text = Vec::new();
            }
            None => all.text.resize(all.text.len() + COLUMNS, BORDER),
        }
        if self.seed_text.is_some() {
            all.mask_seeds();
        }
        all
    }
}
