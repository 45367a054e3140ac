//! The rounds.

use gyrase_fabric::{FabricError, World, look_up};
use gyrase_work::Progress;

use super::block::{Dealt, Line, TextBlock};
use super::minima::Minima;
use super::sample_sort::{send, sort_among, word_of};
use crate::error::{BASE_OF_RANK, Error, admit};
use crate::numbers::{NARROW, NumberArray, WIDE, number_width};

/// Bytes for each suffix that is not alone in its bucket: its place, the bucket by which it goes,
/// and what sorting over several processes takes.
const UNRESOLVED: u64 = 8 + 16 + 48;

/// Bytes of memory that a round takes in a process that has `own` of the letters, and that many
/// suffixes that are not alone in their buckets.
pub(crate) fn round_memory(letters: u64, own: u64, unresolved: u64) -> u64 {
    BASE_OF_RANK + own + NumberArray::bytes(3 * own, letters) + UNRESOLVED * unresolved
}

/// The block of the suffix array that a process has.
pub(crate) struct Sorted {
    /// Where the suffixes begin.
    pub positions: NumberArray,
    /// What each shares with the one before.
    pub common: Minima,
}

/// Suffixes that are sorted by their first letters.
pub(crate) struct Sorting<'a> {
    world: &'a dyn World,
    line: Line,
    progress: &'a Progress,
    memory: u64,
    sorted: Sorted,
    /// For each position that is dealt to this process the bucket of its suffix.
    buckets: NumberArray,
    /// Bytes of a position, and of a bucket, where they are sent.
    width: usize,
    /// Places of this process whose suffixes are not alone in their buckets, ascending.
    unresolved: Vec<usize>,
    borders: Borders,
    /// How many letters the order goes by.
    depth: usize,
}

/// How buckets go on where the block of a process ends.
#[derive(Clone, Copy)]
struct Borders {
    /// The bucket that the block begins in.
    first_bucket: usize,
    /// Whether the place behind the block begins a bucket, or there is none.
    next_begins: bool,
}

/// A place that begins a bucket from now on, and the range in which neighbours share the least.
struct Cut {
    /// Of this process.
    place: usize,
    low: usize,
    high: usize,
}

impl<'a> Sorting<'a> {
    /// Sorts by the first letters.
    pub fn new(
        world: &'a dyn World,
        text: &TextBlock,
        memory: u64,
        progress: &'a Progress,
    ) -> Result<Sorting<'a>, Error> {
        progress.start("sort suffixes", 0);
        let line = text.line;
        let letters = line.things;
        let width = number_width(letters as u64);
        let words = sort_among(world, [8, width], || text.words(), line.own().len())?;
        let zeros = |count| NumberArray::zeros(count, letters as u64);
        let sorted = Sorted {
            positions: zeros(words.len()),
            common: Minima::unknown(words.len(), letters),
        };
        let mut sorting = Sorting {
            world,
            line,
            progress,
            memory,
            sorted,
            buckets: zeros(Dealt(line).count()),
            width,
            unresolved: Vec::new(),
            borders: Borders {
                first_bucket: line.own().start,
                next_begins: true,
            },
            depth: text.width(),
        };
        sorting.begin(text, &words)?;
        drop(words);
        sorting.unresolved = (0..line.own().len()).collect();
        sorting.tell_buckets(|_| None)?;
        sorting.leave_resolved();
        Ok(sorting)
    }

    /// Takes what is sorted by words, and cuts it into buckets.
    fn begin(&mut self, text: &TextBlock, words: &[[u64; 2]]) -> Result<(), FabricError> {
        let mut before = self.of_the_one_before(words.last().map(|word| word[0]))?;
        for (place, &[word, position]) in words.iter().enumerate() {
            self.sorted.positions.set(place, position as usize);
            match before {
                None => self.sorted.common.set(place, 0),
                Some(before) if before != word || text.has_sentinel(word) => {
                    self.sorted.common.set(place, text.shared(before, word));
                }
                Some(_) => {}
            }
            before = Some(word);
        }
        self.find_borders()
    }

    /// Sorts by all letters.
    pub fn run(mut self) -> Result<Sorted, Error> {
        loop {
            let unresolved = self.world.sum(&[self.unresolved.len() as u64])?[0];
            if unresolved == 0 {
                return Ok(self.sorted);
            }
            self.progress.go_on()?;
            self.has_memory()?;
            self.double()?;
        }
    }

    /// Refuses a round that takes more memory than is allowed.
    fn has_memory(&self) -> Result<(), Error> {
        let (letters, own) = (self.line.things as u64, self.line.own().len() as u64);
        let needed = round_memory(letters, own, self.unresolved.len() as u64);
        let needed = self.world.max(&[needed])?[0];
        admit(
            "sorting what repeats, in each process,",
            needed,
            self.memory,
        )
    }

    /// Makes the order by `depth` letters one by twice as many.
    fn double(&mut self) -> Result<(), Error> {
        let mut keyed = match self.width {
            NARROW => self.keyed::<NARROW>()?,
            _ => self.keyed::<WIDE>()?,
        };
        self.sort_buckets(&mut keyed)?;
        let cuts = self.cuts(&keyed)?;
        for (&place, &[_, position]) in self.unresolved.iter().zip(&keyed) {
            self.sorted.positions.set(place, position as usize);
        }
        drop(keyed);
        let least = self.least_shared(&cuts)?;
        let buckets: Vec<usize> = self.buckets_of_unresolved().collect();
        for (cut, least) in cuts.iter().zip(least) {
            self.sorted.common.set(cut.place, self.depth + least);
        }
        drop(cuts);
        self.find_borders()?;
        self.tell_buckets(|number| Some(buckets[number]))?;
        self.leave_resolved();
        self.depth *= 2;
        Ok(())
    }

    /// For each unresolved suffix the bucket of that `depth` letters further on, and its position.
    /// A position, and a bucket, is sent in `W` bytes.
    fn keyed<const W: usize>(&self) -> Result<Vec<[u64; 2]>, FabricError> {
        let (positions, dealt) = (&self.sorted.positions, Dealt(self.line));
        let question = |&place: &usize| {
            let further = positions.get(place) + self.depth;
            let number = dealt.number(further);
            (dealt.owner(further), lowest::<W>(number))
        };
        let questions = self.unresolved.iter().map(question);
        let answer = |number: [u8; W]| lowest::<W>(self.buckets.get(word_of(&number) as usize));
        let mut keyed = Vec::with_capacity(self.unresolved.len());
        look_up(self.world, questions, answer, |bucket| {
            let position = positions.get(self.unresolved[keyed.len()]);
            keyed.push([word_of(&bucket), position as u64]);
        })?;
        Ok(keyed)
    }

    /// Sorts within each bucket: alone where the process has the whole of it, else with the others.
    fn sort_buckets(&self, keyed: &mut [[u64; 2]]) -> Result<(), FabricError> {
        let begins = |number: &usize| self.begins(self.unresolved[*number]);
        let all = keyed.len();
        let first = (0..all).find(begins).unwrap_or(all);
        let last = match self.borders.next_begins {
            true => all,
            false => (first..all).rev().find(begins).unwrap_or(first),
        };
        let mut start = first;
        for number in first + 1..=last {
            if number == last || begins(&number) {
                keyed[start..number].sort_unstable();
                start = number;
            }
        }
        let first_bucket = self.borders.first_bucket;
        let buckets = [first_bucket, self.last_bucket().unwrap_or(first_bucket)];
        let shared = || Shared {
            keyed,
            first,
            last,
            buckets,
            at: 0,
        };
        let together = sort_among(self.world, [self.width; 3], shared, shared().len())?;
        let places = (0..first).chain(last..all);
        for (place, [_, further, position]) in places.zip(together) {
            keyed[place] = [further, position];
        }
        Ok(())
    }

    /// Where buckets are to be cut: the suffixes of a bucket go by different ones there.
    fn cuts(&self, keyed: &[[u64; 2]]) -> Result<Vec<Cut>, FabricError> {
        let is_last = |&&place: &&usize| place + 1 == self.line.own().len();
        let last = self.unresolved.last().filter(is_last);
        // What is resolved at the end of a block is in no bucket that goes on behind it.
        let last = last
            .and(keyed.last())
            .map_or(u64::MAX, |&[further, _]| further);
        let own = !self.line.own().is_empty();
        let mut before = self.of_the_one_before(own.then_some(last))?;
        let mut cuts = Vec::new();
        for (&place, &[further, _]) in self.unresolved.iter().zip(keyed) {
            if !self.begins(place)
                && let Some(before) = before.filter(|&before| before != further)
            {
                let (low, high) = (before as usize + 1, further as usize + 1);
                cuts.push(Cut { place, low, high });
            }
            before = Some(further);
        }
        Ok(cuts)
    }

    /// The least that neighbours share in the range of each cut.
    fn least_shared(&self, cuts: &[Cut]) -> Result<Vec<usize>, FabricError> {
        let of_ranks = self
            .world
            .all_gather_of(&[self.sorted.common.least_of_all() as u64])?;
        let mut of_blocks = Minima::unknown(of_ranks.len(), usize::MAX);
        for (rank, &[least]) in of_ranks.iter().enumerate() {
            of_blocks.set(rank, least as usize);
        }
        let ends = |cut: &Cut| [cut.low, cut.high - 1].map(|place| self.line.owner(place));
        // What of a range one of them has.
        let part = |cut: &Cut, rank: usize| {
            let block = self.line.of(rank);
            let part = [cut.low.max(block.start), cut.high.min(block.end)];
            (rank, part.map(|place| place - block.start))
        };
        let firsts = cuts.iter().map(|cut| part(cut, ends(cut)[0]));
        let mut least = self.least_in(firsts)?;
        let is_far = |cut: &Cut| ends(cut)[0] < ends(cut)[1];
        let far: Vec<usize> = (0..cuts.len())
            .filter(|&number| is_far(&cuts[number]))
            .collect();
        let lasts = far
            .iter()
            .map(|&number| part(&cuts[number], ends(&cuts[number])[1]));
        let of_lasts = self.least_in(lasts)?;
        for (&number, last) in far.iter().zip(of_lasts) {
            let [first_rank, last_rank] = ends(&cuts[number]);
            let between = of_blocks.least(first_rank + 1..last_rank);
            least[number] = least[number].min(between).min(last);
        }
        Ok(least)
    }

    /// The least that neighbours share in ranges, each within the block of a process.
    fn least_in(
        &self,
        ranges: impl ExactSizeIterator<Item = (usize, [usize; 2])>,
    ) -> Result<Vec<usize>, FabricError> {
        match self.width {
            NARROW => self.least_of::<{ 2 * NARROW }, NARROW>(ranges),
            _ => self.least_of::<{ 2 * WIDE }, WIDE>(ranges),
        }
    }

    /// The same where a place is sent in `W` bytes, and a range in `R`.
    fn least_of<const R: usize, const W: usize>(
        &self,
        ranges: impl ExactSizeIterator<Item = (usize, [usize; 2])>,
    ) -> Result<Vec<usize>, FabricError> {
        let questions = ranges.map(|(rank, [low, high])| {
            let mut range = [0; R];
            range[..W].copy_from_slice(&lowest::<W>(low));
            range[W..].copy_from_slice(&lowest::<W>(high));
            (rank, range)
        });
        // What is not known has all bits set, in as few bytes too, and is larger than all.
        let answer = |range: [u8; R]| {
            let [low, high] = [&range[..W], &range[W..]].map(|place| word_of(place) as usize);
            lowest::<W>(self.sorted.common.least(low..high))
        };
        let mut all = Vec::with_capacity(questions.len());
        look_up(self.world, questions, answer, |least| {
            all.push(word_of(&least) as usize)
        })?;
        Ok(all)
    }

    /// Tells the owners of unresolved suffixes which their buckets are, where they were others.
    fn tell_buckets(&mut self, before: impl Fn(usize) -> Option<usize>) -> Result<(), FabricError> {
        let buckets: Vec<[u64; 2]> = {
            let buckets = self.buckets_of_unresolved().enumerate();
            let others = buckets.filter(|&(number, bucket)| before(number) != Some(bucket));
            let told = others.map(|(number, bucket)| {
                let position = self.sorted.positions.get(self.unresolved[number]);
                [position as u64, bucket as u64]
            });
            told.collect()
        };
        let dealt = Dealt(self.line);
        let told = buckets.iter().map(|&[position, bucket]| {
            let position = position as usize;
            let number = dealt.number(position) as u64;
            (dealt.owner(position), [number, bucket])
        });
        send(self.world, [self.width; 2], told, |_, [number, bucket]| {
            self.buckets.set(number as usize, bucket as usize);
        })
    }

    /// The bucket of each unresolved suffix.
    fn buckets_of_unresolved(&self) -> impl Iterator<Item = usize> + '_ {
        let start = self.line.own().start;
        let mut bucket = self.borders.first_bucket;
        self.unresolved.iter().map(move |&place| {
            if self.begins(place) {
                bucket = start + place;
            }
            bucket
        })
    }

    /// Leaves out what is alone in its bucket.
    fn leave_resolved(&mut self) {
        let mut unresolved = std::mem::take(&mut self.unresolved);
        let places = self.line.own().len();
        unresolved.retain(|&place| {
            let next_begins = match place + 1 == places {
                true => self.borders.next_begins,
                false => self.begins(place + 1),
            };
            !self.begins(place) || !next_begins
        });
        self.unresolved = unresolved;
    }

    /// Whether a bucket begins at a place of this process.
    fn begins(&self, place: usize) -> bool {
        self.sorted.common.is_known(place)
    }

    /// The last bucket that begins in the block.
    fn last_bucket(&self) -> Option<usize> {
        let own = self.line.own();
        let last = (0..own.len()).rev().find(|&place| self.begins(place));
        last.map(|place| own.start + place)
    }

    /// Finds how buckets go on at the ends of the block.
    fn find_borders(&mut self) -> Result<(), FabricError> {
        let own = self.line.own();
        let first_begins = own.is_empty() || self.begins(0);
        // 0 where no bucket begins in the block.
        let last = self.last_bucket().map_or(0, |bucket| bucket + 1);
        let all = self
            .world
            .all_gather_of(&[u64::from(first_begins), last as u64])?;
        let (before, behind) = all.split_at(self.line.peer.rank);
        let before = before.iter().rev().find(|block| block[1] > 0);
        // An empty block begins nothing, and what is behind it decides.
        let blocks = (self.line.peer.rank + 1..).zip(&behind[1..]);
        let mut there = blocks.filter(|&(rank, _)| !self.line.of(rank).is_empty());
        self.borders = Borders {
            first_bucket: before.map_or(own.start, |block| block[1] as usize - 1),
            next_begins: there.next().is_none_or(|(_, block)| block[0] == 1),
        };
        Ok(())
    }

    /// What the process gives that has the place before the block: each gives something of the
    /// last place of its own, if it has one.
    fn of_the_one_before(&self, last: Option<u64>) -> Result<Option<u64>, FabricError> {
        let own = [u64::from(last.is_some()), last.unwrap_or(0)];
        let all = self.world.all_gather_of(&own)?;
        let before = all[..self.line.peer.rank].iter().rev();
        Ok(before
            .filter(|[there, _]| *there == 1)
            .map(|one| one[1])
            .next())
    }
}

/// What a process has of buckets that others have a part of too: those at its ends.
struct Shared<'k> {
    keyed: &'k [[u64; 2]],
    /// The first bucket ends here.
    first: usize,
    /// The last bucket begins here.
    last: usize,
    /// Both.
    buckets: [usize; 2],
    /// How many were given.
    at: usize,
}

impl Iterator for Shared<'_> {
    type Item = [u64; 3];

    fn next(&mut self) -> Option<[u64; 3]> {
        let in_first = self.at < self.first;
        let number = if in_first {
            self.at
        } else {
            self.at - self.first + self.last
        };
        let &[further, position] = self.keyed.get(number)?;
        self.at += 1;
        Some([
            self.buckets[usize::from(!in_first)] as u64,
            further,
            position,
        ])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = self.first + self.keyed.len() - self.last - self.at;
        (rest, Some(rest))
    }
}

impl ExactSizeIterator for Shared<'_> {}

/// The lowest bytes of a number: all others are zeros, or it is larger than all.
fn lowest<const W: usize>(number: usize) -> [u8; W] {
    std::array::from_fn(|at| (number >> (8 * at)) as u8)
}
