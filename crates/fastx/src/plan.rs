//! Which part of the inputs each chunk is.
//!
//! The records of all plain files, one file behind the other, are a stream that is cut every so
//! many bytes: a chunk may begin and end inside a file, and hold many. Every other input
//! (compressed, a pipe, a pair) is a chunk of its own, and where processes are given runs of chunks
//! each run begins with its share of those, the largest first: they cannot be shared, so they must
//! not come last.

use std::cmp::Reverse;
use std::ops::Range;

use gyrase_work::run_of;

/// What a chunk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// These bytes of the stream.
    Plain(Range<u64>),
    /// This one of the inputs that cannot be cut.
    Whole(usize),
}

/// The chunks of inputs.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Bytes of a chunk of the stream.
    step: u64,
    /// Where each plain file begins in the stream, and where the last one ends.
    firsts: Vec<u64>,
    /// Chunks that are inputs, ascending, and which input.
    whole: Vec<(usize, usize)>,
    chunks: usize,
}

impl Plan {
    /// `plain`: bytes of plain files. `whole`: sizes of other inputs. `runs`: the processes that
    /// chunks are shared out to.
    pub(crate) fn new(
        plain: impl Iterator<Item = u64>,
        whole: &[u64],
        step: u64,
        runs: usize,
    ) -> Plan {
        let mut firsts = vec![0];
        firsts.extend(plain.scan(0, |sum, bytes| {
            *sum += bytes;
            Some(*sum)
        }));
        let step = step.max(1);
        let chunks = firsts[firsts.len() - 1].div_ceil(step) as usize + whole.len();
        Plan {
            step,
            firsts,
            whole: deal(whole, chunks, runs),
            chunks,
        }
    }

    pub(crate) fn chunks(&self) -> usize {
        self.chunks
    }

    /// What a chunk is.
    pub(crate) fn part(&self, chunk: usize) -> Part {
        match self.whole.binary_search_by_key(&chunk, |&(chunk, _)| chunk) {
            Ok(found) => Part::Whole(self.whole[found].1),
            Err(before) => Part::Plain(self.bytes((chunk - before) as u64)),
        }
    }

    fn bytes(&self, plain: u64) -> Range<u64> {
        plain * self.step..self.end().min((plain + 1) * self.step)
    }

    fn end(&self) -> u64 {
        self.firsts[self.firsts.len() - 1]
    }

    fn is_plain(&self, chunk: usize) -> bool {
        self.whole
            .binary_search_by_key(&chunk, |&(chunk, _)| chunk)
            .is_err()
    }

    /// The chunk of the stream before a chunk of the stream.
    pub(crate) fn before(&self, chunk: usize) -> Option<usize> {
        (0..chunk).rev().find(|&before| self.is_plain(before))
    }

    /// The chunk of the stream behind a chunk of the stream.
    pub(crate) fn after(&self, chunk: usize) -> Option<usize> {
        (chunk + 1..self.chunks).find(|&after| self.is_plain(after))
    }

    /// The plain file that holds a byte of the stream, and where it lies in the stream.
    pub(crate) fn file(&self, at: u64) -> (usize, Range<u64>) {
        let file = self.firsts.partition_point(|&first| first <= at) - 1;
        (file, self.firsts[file]..self.firsts[file + 1])
    }

    /// Whether a place in the stream lies behind the first byte of a file and before its last.
    pub(crate) fn is_inside(&self, at: u64) -> bool {
        at < self.end() && at > self.file(at).1.start
    }

    /// A number that differs where plans do.
    pub(crate) fn fingerprint(&self) -> u64 {
        let whole = self
            .whole
            .iter()
            .flat_map(|&(chunk, input)| [chunk as u64, input as u64]);
        let numbers = self
            .firsts
            .iter()
            .copied()
            .chain([self.step, self.chunks as u64])
            .chain(whole);
        // FNV-1a.
        let bytes = numbers.flat_map(u64::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

/// Gives inputs of these sizes the first chunks of each run in turn, the largest first.
fn deal(sizes: &[u64], chunks: usize, runs: usize) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&input| Reverse(sizes[input]));
    let first = |round: usize| {
        let run = move |run| run_of(chunks, run, runs);
        (0..runs)
            .map(run)
            .filter(move |run| round < run.len())
            .map(move |run| run.start + round)
    };
    let slots = (0..).flat_map(first);
    let mut whole: Vec<(usize, usize)> = order
        .into_iter()
        .zip(slots)
        .map(|(input, chunk)| (chunk, input))
        .collect();
    whole.sort_unstable();
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_cut_whatever_the_files() {
        for plain in [vec![], vec![1], vec![10, 1, 1, 0, 25, 3]] {
            for step in [0, 1, 3, 7, 100] {
                let plan = Plan::new(plain.iter().copied(), &[], step, 3);
                let mut at = 0;
                for chunk in 0..plan.chunks() {
                    let Part::Plain(bytes) = plan.part(chunk) else {
                        panic!("a file")
                    };
                    assert!(bytes.start == at && bytes.end > at && bytes.end - at <= step.max(1));
                    let (file, within) = plan.file(at);
                    assert_eq!(within.end - within.start, plain[file]);
                    assert!(within.contains(&at));
                    assert_eq!(plan.is_inside(at), at > within.start);
                    at = bytes.end;
                }
                assert_eq!(at, plain.iter().sum());
                assert!(!plan.is_inside(at));
            }
        }
    }

    #[test]
    fn what_cannot_be_cut_comes_first_in_every_run() {
        let plan = Plan::new([60].into_iter(), &[5, 50, 7, 40, 30], 10, 3);
        assert_eq!(plan.chunks(), 11);
        let parts: Vec<Part> = (0..11).map(|chunk| plan.part(chunk)).collect();
        // Runs of 3, 4 and 4.
        assert_eq!(
            (&parts[0], &parts[3], &parts[7]),
            (&Part::Whole(1), &Part::Whole(3), &Part::Whole(4))
        );
        assert_eq!((&parts[1], &parts[4]), (&Part::Whole(2), &Part::Whole(0)));
        assert_eq!(
            (&parts[2], &parts[5]),
            (&Part::Plain(0..10), &Part::Plain(10..20))
        );
        assert_eq!(
            (
                plan.after(2),
                plan.before(5),
                plan.before(2),
                plan.after(10)
            ),
            (Some(5), Some(2), None, None)
        );
        assert_eq!((plan.after(6), plan.before(8)), (Some(8), Some(6)));
    }

    #[test]
    fn every_input_has_a_chunk() {
        for inputs in 0..9 {
            for (plain, runs) in [(0, 1), (0, 4), (3, 2), (3, 20)] {
                let plan = Plan::new([plain].into_iter(), &vec![9; inputs], 1, runs);
                let whole = |chunk| match plan.part(chunk) {
                    Part::Whole(input) => Some(input),
                    Part::Plain(_) => None,
                };
                let mut found: Vec<usize> = (0..plan.chunks()).filter_map(whole).collect();
                found.sort_unstable();
                assert!(
                    found.into_iter().eq(0..inputs),
                    "{inputs} inputs, {plain} bytes, {runs} runs"
                );
            }
        }
    }

    #[test]
    fn plans_of_other_inputs_differ() {
        let plan = |plain: &[u64], whole: &[u64], step| {
            Plan::new(plain.iter().copied(), whole, step, 2).fingerprint()
        };
        let all = [
            plan(&[9], &[], 2),
            plan(&[8], &[], 2),
            plan(&[9], &[], 3),
            plan(&[9], &[1], 2),
            plan(&[4, 5], &[], 2),
        ];
        assert!((0..5).all(|one| (0..one).all(|other| all[one] != all[other])));
    }
}
