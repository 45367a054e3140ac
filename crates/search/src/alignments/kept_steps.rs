//! Steps of alignments that are kept until the best subjects are known: the best need not be
//! aligned again.

use gyrase_align::gapped::Step;

/// Steps of alignments with a query that are kept, about.
const MOST: i64 = 1 << 17;

/// Bytes that a thread takes for these.
pub(crate) const KEPT: u64 = MOST as u64;

/// Where an extension began in query and subject, and in which frames of both.
pub(super) type Start = ((usize, usize), [i8; 2]);

/// Steps of extensions by fitted scores.
#[derive(Default)]
pub(super) struct KeptSteps {
    /// For how many more there is room.
    room: i64,
    /// Those of one subject that nobody took.
    of_subject: Vec<(Start, Vec<Step>)>,
}

impl KeptSteps {
    /// Begins with a query.
    pub(super) fn begin_query(&mut self) {
        self.of_subject.clear();
        self.room = MOST;
    }

    /// Begins with a subject: leaves out what nobody took of the one before.
    pub(super) fn begin_subject(&mut self) {
        let left = self.of_subject.drain(..);
        self.room += left.map(|(_, steps)| steps.len() as i64).sum::<i64>();
    }

    pub(super) fn has_room(&self) -> bool {
        self.room > 0
    }

    pub(super) fn add(&mut self, start: Start, steps: Vec<Step>) {
        self.room -= steps.len() as i64;
        self.of_subject.push((start, steps));
    }

    /// Takes those of an extension, if they were kept.
    pub(super) fn take(&mut self, start: Start) -> Option<Vec<Step>> {
        let at = self.of_subject.iter().position(|(one, _)| *one == start)?;
        Some(self.of_subject.swap_remove(at).1)
    }
}
