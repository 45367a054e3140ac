//! Larger k-mers by where their smaller ones are in the smaller graph.

use gyrase_kmer::Kmer;

use super::surroundings::Surroundings;
use crate::graph::Way;
use crate::walk::Step;

/// A larger k-mer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LargerKmer<const W: usize> {
    pub kmer: Kmer<W>,
    /// Its smaller k-mers; where in a read they begin does not matter.
    steps: Vec<Step>,
}

impl<const W: usize> LargerKmer<W> {
    /// One that has the smaller k-mers of a walk.
    pub fn new(kmer: Kmer<W>, steps: Vec<Step>) -> LargerKmer<W> {
        LargerKmer { kmer, steps }
    }

    /// Its smaller k-mers.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn first(&self) -> Step {
        self.steps[0]
    }

    fn last(&self) -> Step {
        self.steps[self.steps.len() - 1]
    }

    /// The ones behind it that are walks through the smaller graph; nothing where not all is known
    /// yet, as in what follows.
    pub fn next(&self, around: &Surroundings<W>) -> Option<Vec<LargerKmer<W>>> {
        let (last, k) = (self.last(), around.smaller_k());
        let end = last.offset + last.kmers;
        if end + k <= around.length(last.way)? {
            return Some(vec![self.pushed(last.way, end, around)?]);
        }
        let next = around.next(last.way)?.iter();
        all(next.map(|&way| self.pushed(way, 0, around)))
    }

    /// The one with another smaller k-mer at its end.
    fn pushed(&self, way: Way, offset: usize, around: &Surroundings<W>) -> Option<LargerKmer<W>> {
        let code = around.base(way, offset + around.smaller_k() - 1)?;
        let mut steps = self.steps.clone();
        match steps.last_mut() {
            Some(last) if last.way == way && last.offset + last.kmers == offset => last.kmers += 1,
            _ => steps.push(one(way, offset)),
        }
        without_first(&mut steps);
        let kmer = self.kmer.push(code).masked(around.k());
        Some(LargerKmer { kmer, steps })
    }

    /// Those before it that do not begin with a base.
    pub fn before(&self, but: u8, around: &Surroundings<W>) -> Option<Vec<LargerKmer<W>>> {
        let (first, smaller_k) = (self.first(), around.smaller_k());
        let mut others = Vec::new();
        if first.offset > 0 {
            let code = around.base(first.way, first.offset - 1)?;
            if code != but {
                let mut steps = self.steps.clone();
                steps[0].offset -= 1;
                steps[0].kmers += 1;
                others.push(self.unshifted(code, steps, around.k()));
            }
            return Some(others);
        }
        let ways = around.next(first.way.flipped())?.iter();
        let known = ways.map(|way| {
            let way = way.flipped();
            let offset = around.length(way)? - smaller_k;
            Some((way, offset, around.base(way, offset)?))
        });
        for (way, offset, code) in all(known)?.into_iter().filter(|known| known.2 != but) {
            let mut steps = vec![one(way, offset)];
            steps.extend(&self.steps);
            others.push(self.unshifted(code, steps, around.k()));
        }
        Some(others)
    }

    /// The one that begins a base earlier, whose smaller k-mers are all but the last of `steps`.
    fn unshifted(&self, code: u8, mut steps: Vec<Step>, k: usize) -> LargerKmer<W> {
        if let Some(last) = steps.last_mut() {
            last.kmers -= 1;
        }
        steps.retain(|step| step.kmers > 0);
        let back = self.kmer.reverse_complement(k).push(3 - code).masked(k);
        let kmer = back.reverse_complement(k);
        LargerKmer { kmer, steps }
    }

    /// How often it was seen, in hundredths; nothing inside where it is not there.
    pub fn depth(&self, around: &Surroundings<W>) -> Option<Option<u64>> {
        let crossing = match *self.steps {
            [one] => {
                let kmers = (around.length(one.way)? + 1 - around.k()) as u64;
                return Some(Some((around.inner(one.way)? * 100).div_ceil(kmers)));
            }
            [one, other] => around.crossing((one.way, other.way), one.kmers)?,
            _ => 0,
        };
        let count = match crossing {
            0 => around.count(self.kmer.canonical(around.k()))?,
            seen => Some(seen),
        };
        Some(count.map(|count| 100 * u64::from(count)))
    }

    /// Whether it is there.
    pub fn is_there(&self, around: &Surroundings<W>) -> Option<bool> {
        Some(self.depth(around)?.is_some())
    }
}

/// All of them, if all are known: what is not known of any of them is asked for.
pub fn all<T>(known: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let known: Vec<Option<T>> = known.collect();
    known.into_iter().collect()
}

fn one(way: Way, offset: usize) -> Step {
    Step {
        way,
        offset,
        at: 0,
        kmers: 1,
    }
}

/// Takes the first smaller k-mer off.
fn without_first(steps: &mut Vec<Step>) {
    steps[0].offset += 1;
    steps[0].kmers -= 1;
    steps.retain(|step| step.kmers > 0);
}
