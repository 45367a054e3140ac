//! Steps of alignments that are kept until the best subjects are known: the best need not be
//! aligned again.

use gyrase_align::gapped::Step;

/// About how many steps are kept for a query: the last alignment may have more.
const MOST: i64 = 1 << 17;

/// Bytes that a thread takes for these.
pub(crate) const KEPT: u64 = MOST as u64 * size_of::<Step>() as u64;

/// Steps of extensions by fitted scores, each of an alignment. None are kept before the first query
/// begins.
pub(super) struct KeptSteps<A> {
    /// For how many more there is room; the last alignment may take more than that.
    room: i64,
    /// Those of one subject that nobody took.
    of_subject: Vec<(A, Vec<Step>)>,
}

impl<A: PartialEq> KeptSteps<A> {
    pub(super) fn none() -> KeptSteps<A> {
        KeptSteps {
            room: 0,
            of_subject: Vec::new(),
        }
    }

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

    pub(super) fn add(&mut self, alignment: A, mut steps: Vec<Step>) {
        self.room -= steps.len() as i64;
        steps.shrink_to_fit();
        self.of_subject.push((alignment, steps));
    }

    /// Takes those of an alignment, if they were kept. Their room does not come back.
    pub(super) fn take(&mut self, alignment: &A) -> Option<Vec<Step>> {
        let mut kept = self.of_subject.iter();
        let at = kept.position(|(one, _)| one == alignment)?;
        Some(self.of_subject.swap_remove(at).1)
    }
}
