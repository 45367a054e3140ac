//! Walks through a graph that several processes have together: each asks about its own reads.
//!
//! ```text
//!  read ──▶ who has an anchor of it: where this is in a node
//!       ──▶ who has the node: how far both are equal in either direction, and which node is next
//!       ──▶ who has that node: the same
//! ```
//!
//! A process asks about many reads at a time: those that came last, and those of before that are
//! not through yet.

use std::mem::take;

use gyrase_fabric::FabricError;
use gyrase_kmer::{Kmer, mix, with_words};
use gyrase_work::{in_parallel, in_threads};

use crate::Error;
use crate::among::Among;
use crate::anchors::{ANSWER, Anchors, Found, Sought, canonical};
use crate::batches::{Batches, READS};
use crate::config::AssemblyError;
use crate::graph::{SharedGraph, Way, shape_of};
use crate::minimizers::Scheme;
use crate::over_bins::over_bins;
use crate::reads::{Block, NONE, ReadBlocks, pack, packed_bytes, unpack};
use crate::records::{of_three, three};
use crate::walk::{Step, Walk};

/// Reads that are unpacked at a time.
const AT_ONCE: usize = 16;

/// The hash of a k-mer, and bits of another hash: in a graph of 10^10 k-mers the chance that two
/// have one key is 10^-9.
const KEY: usize = 12;
type Key = [u8; KEY];

/// A side of an anchor, in the direction of the read.
const BEFORE: usize = 0;
const BEHIND: usize = 1;

/// That nothing follows that a read goes on with, and that nothing follows.
const OTHER: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;

/// The nodes of this process, and the anchors that fall to it.
pub struct SharedNodes<'g> {
    graph: &'g SharedGraph,
    scheme: Scheme,
    anchors: Anchors<'g, KEY>,
    key_of: fn(u64, &[u8]) -> (Key, bool),
    /// What follows each way with each base, or [`OTHER`].
    next: Vec<[u32; 4]>,
    among: &'g Among<'g>,
}

impl<'g> SharedNodes<'g> {
    /// With anchors of which one is among so many neighbouring k-mers.
    ///
    /// Collective.
    ///
    /// # Errors
    /// The graph is too large; another process failed.
    pub fn of(
        graph: &'g SharedGraph,
        neighbours: usize,
        among: &'g Among,
    ) -> Result<SharedNodes<'g>, Error> {
        let scheme = Scheme::new(graph.k(), neighbours);
        with_words!(shape_of(graph.k()), W => Ok(SharedNodes {
            graph,
            scheme,
            anchors: Anchors::of(graph, scheme, key::<W>, among)?,
            key_of: key_of::<W>,
            next: followers(graph, among)?,
            among,
        }))
    }

    /// Calls `each` with the sequences of this process and their walks, in no particular order, by
    /// a thread for each of `states`, and with the number of the block; returns the states.
    ///
    /// Collective.
    ///
    /// # Errors
    /// Those of `each`, which may be called after one; another process failed, or somebody
    /// cancelled.
    pub fn for_each<S: Send>(
        &self,
        sequences: &dyn ReadBlocks,
        states: Vec<S>,
        each: impl Fn(&mut S, usize, &[u8], &Walk) -> Result<(), AssemblyError> + Sync,
    ) -> Result<Vec<S>, AssemblyError> {
        let mut shares: Vec<Share<S>> = states.into_iter().map(Share::of).collect();
        let mut batches = Batches::of(sequences, shares.len());
        loop {
            let open = open_in(&shares);
            let add = |share: &mut Share<S>, number| {
                share.add(number, &*sequences.get(number)?);
                Ok::<_, AssemblyError>(())
            };
            shares = over_bins(shares, batches.take(open), self.among.progress, add)?;
            batches.note(open_in(&shares) - open);
            let anchors = |keys: &[u8]| self.anchors.answers(keys.as_chunks().0);
            self.ask(
                &mut shares,
                Share::ask_for_anchors,
                anchors,
                Share::take_anchors,
            )?;
            let nodes = |questions: &[u8]| self.answers(questions);
            self.ask(&mut shares, Share::ask_for_nodes, nodes, Share::take_nodes)?;
            shares = in_parallel(shares, |mut share| {
                share.tell(self, &each)?;
                Ok::<_, AssemblyError>(share)
            })?;
            let left = open_in(&shares) + batches.left();
            if self.among.sum(left)? == 0 {
                return Ok(shares.into_iter().map(|share| share.state).collect());
            }
        }
    }

    /// Asks all processes what each share asks, and gives it the answers, both by process.
    ///
    /// Collective.
    fn ask<S: Send>(
        &self,
        shares: &mut [Share<S>],
        question: impl Fn(&mut Share<S>, &Self) -> Vec<Vec<u8>> + Sync,
        answer: impl Fn(&[u8]) -> Vec<u8> + Sync,
        take: impl Fn(&mut Share<S>, &Self, &[&[u8]]) + Sync,
    ) -> Result<(), FabricError> {
        let asked = in_threads(shares.iter_mut().collect(), |share| question(share, self));
        let mut messages = vec![Vec::new(); self.among.world.ranks()];
        for questions in asked {
            for (message, question) in messages.iter_mut().zip(questions) {
                put_part(&question, message);
            }
        }
        // Who is asked nothing gets no message.
        let is_empty = |message: &Vec<u8>| parts(message).all(<[u8]>::is_empty);
        messages
            .iter_mut()
            .filter(|message| is_empty(message))
            .for_each(Vec::clear);
        let answers = self.among.ask_all(messages, |message| {
            let mut all = Vec::new();
            parts(message).for_each(|part| put_part(&answer(part), &mut all));
            all
        })?;
        let mut of_ranks: Vec<_> = answers.iter().map(|message| parts(message)).collect();
        let mut of_share = || {
            let parts = of_ranks.iter_mut().map(|parts| parts.next());
            parts.map(Option::unwrap_or_default).collect::<Vec<&[u8]>>()
        };
        let shares = shares.iter_mut().map(|share| (share, of_share()));
        in_threads(shares.collect(), |(share, answers)| {
            take(share, self, &answers)
        });
        Ok(())
    }

    /// Answers to questions about nodes of this process.
    fn answers(&self, mut questions: &[u8]) -> Vec<u8> {
        let (mut answers, mut codes) = (Vec::new(), Vec::new());
        while let Some((numbers, rest)) = questions.split_first_chunk() {
            let [way, offset, len] = of_three(*numbers);
            let (packed, rest) = rest.split_at(packed_bytes(len as usize));
            codes.clear();
            unpack(packed, len as usize, &mut codes);
            let way = self.graph.own_way(Way::of_index(way as usize));
            answers.extend(three(self.go_on(way, offset as usize, &codes)));
            questions = rest;
        }
        answers
    }

    /// How many codes are equal to the bases of a way from an offset on, how many k-mers it has,
    /// and what is next if all of its bases are equal.
    fn go_on(&self, way: Way, offset: usize, codes: &[u8]) -> [u32; 3] {
        let own = self.graph.own();
        let bases = own.bases(way).behind(offset);
        let equal = bases.equal(codes);
        let next = match codes.get(equal) {
            _ if equal < bases.len() => OTHER,
            _ if own.next(way).is_empty() => DEAD,
            Some(&code) => self.next[way.index()][usize::from(code)],
            None => OTHER,
        };
        [equal as u32, own.kmers(way) as u32, next]
    }
}

/// Reads of shares that are not through.
fn open_in<S>(shares: &[Share<S>]) -> usize {
    shares.iter().map(|share| share.reads.len()).sum()
}

/// The key of a k-mer in its canonical direction.
fn key<const W: usize>(hash: u64, kmer: Kmer<W>) -> Key {
    let more = kmer.0.iter().fold(0, |sum, &word| mix(sum ^ word));
    let mut key = [0; KEY];
    key[..8].copy_from_slice(&hash.to_le_bytes());
    key[8..].copy_from_slice(&(more as u32).to_le_bytes());
    key
}

/// The key of a k-mer, and whether it is in its canonical direction.
fn key_of<const W: usize>(hash: u64, codes: &[u8]) -> (Key, bool) {
    let (kmer, is_canonical) = canonical::<W>(codes);
    (key(hash, kmer), is_canonical)
}

/// What follows each way of this process with each base.
///
/// Collective.
fn followers(graph: &SharedGraph, among: &Among) -> Result<Vec<[u32; 4]>, FabricError> {
    let (own, k) = (graph.own(), graph.k());
    let of_way = |way: Way| own.next(way).iter().map(move |&next| (way, next));
    let edges: Vec<(Way, Way)> = own.ways().flat_map(of_way).collect();
    let bases = among.ask(
        &edges,
        |(_, next)| graph.question(next),
        |way| [own.bases(graph.own_way(Way::of_bytes(way))).base(k - 1)],
    )?;
    let mut followers = vec![[OTHER; 4]; 2 * own.len()];
    for ((way, next), [base]) in edges.into_iter().zip(bases) {
        followers[way.index()][usize::from(base)] = next.index() as u32;
    }
    Ok(followers)
}

/// The reads that a thread asks about.
struct Share<S> {
    state: S,
    reads: Vec<Read>,
    /// Those that are through, whose memory the next ones take.
    through: Vec<Read>,
    /// What was asked, in order: of which read, and of which process.
    asked: Vec<(usize, usize)>,
    /// The same of anchors: where the k-mer begins, and whether it is in its canonical direction.
    anchors: Vec<(usize, bool)>,
}

impl<S> Share<S> {
    fn of(state: S) -> Share<S> {
        Share {
            state,
            reads: Vec::with_capacity(READS),
            through: Vec::with_capacity(READS),
            asked: Vec::new(),
            anchors: Vec::new(),
        }
    }

    /// Adds the reads of a block.
    fn add(&mut self, number: usize, block: &Block) {
        block.for_each_some(AT_ONCE, |reads| {
            for codes in reads {
                let mut read = self.through.pop().unwrap_or_default();
                read.begin(number, codes);
                self.reads.push(read);
            }
        });
    }

    fn ask_for_anchors(&mut self, nodes: &SharedNodes) -> Vec<Vec<u8>> {
        let mut questions = vec![Vec::new(); nodes.among.world.ranks()];
        let reads = self.reads.iter_mut().enumerate();
        for (number, read) in reads.filter(|(_, read)| read.sides.is_none()) {
            read.sought
                .next_minimizers(&nodes.scheme, |hash, window, at| {
                    let (key, is_canonical) = (nodes.key_of)(hash, window);
                    let rank = nodes.anchors.owner(&key);
                    questions[rank].extend(key);
                    self.asked.push((number, rank));
                    self.anchors.push((at, is_canonical));
                });
        }
        questions
    }

    fn take_anchors(&mut self, nodes: &SharedNodes, answers: &[&[u8]]) {
        let k = nodes.scheme.k();
        let mut answers: Vec<_> = answers.iter().map(|one| one.as_chunks().0.iter()).collect();
        for ((number, rank), (at, is_canonical)) in self.asked.drain(..).zip(self.anchors.drain(..))
        {
            let answer: &[u8; ANSWER] = answers[rank].next().expect("an answer to each question");
            let read = &mut self.reads[number];
            if read.sides.is_none()
                && let Some(found) = Found::of_answer(*answer, k, is_canonical)
            {
                read.begin_stretch(found, at, k);
            }
        }
    }

    fn ask_for_nodes(&mut self, nodes: &SharedNodes) -> Vec<Vec<u8>> {
        let mut questions = vec![Vec::new(); nodes.among.world.ranks()];
        let mut codes = Vec::new();
        for (number, read) in self.reads.iter().enumerate() {
            for (side, place) in read.open_sides() {
                codes.clear();
                read.codes_on(side, place.base, nodes.scheme.k(), &mut codes);
                let rank = nodes.graph.owner(place.way.node());
                let numbers = [place.way.index(), place.offset, codes.len()];
                questions[rank].extend(three(numbers.map(|number| number as u32)));
                pack(&codes, &mut questions[rank]);
                self.asked.push((2 * number + side, rank));
            }
        }
        questions
    }

    fn take_nodes(&mut self, nodes: &SharedNodes, answers: &[&[u8]]) {
        let k = nodes.scheme.k();
        let mut answers: Vec<_> = answers.iter().map(|one| one.as_chunks().0.iter()).collect();
        for (number, rank) in self.asked.drain(..) {
            let answer = answers[rank].next().expect("an answer to each question");
            self.reads[number / 2].go_on(number % 2, of_three(*answer), k);
        }
    }

    /// Tells of the reads that are through.
    fn tell(
        &mut self,
        nodes: &SharedNodes,
        each: &impl Fn(&mut S, usize, &[u8], &Walk) -> Result<(), AssemblyError>,
    ) -> Result<(), AssemblyError> {
        let mut left = take(&mut self.reads);
        for read in left.extract_if(.., |read| read.is_through(&nodes.scheme)) {
            each(&mut self.state, read.block, &read.sought.codes, &read.walk)?;
            self.through.push(read);
        }
        self.reads = left;
        Ok(())
    }
}

/// A read whose walk is looked for.
#[derive(Default)]
struct Read {
    /// The number of its block.
    block: usize,
    sought: Sought,
    /// What was found.
    walk: Walk,
    /// Behind the base that ended the last stretch.
    open: usize,
    /// Of the stretch around an anchor that is looked at: the steps before the anchor, the last
    /// first; that of the anchor, and those behind.
    steps: [Vec<Step>; 2],
    /// What is known of both of its sides.
    sides: Option<[Side; 2]>,
}

/// What is known of a side of a stretch.
#[derive(Clone, Copy)]
enum Side {
    Open(Place),
    /// It ends there, and perhaps the graph does.
    Ended(bool),
}

/// Where a read and a node are to be compared.
#[derive(Clone, Copy)]
struct Place {
    /// The way, and how many bases of it were passed.
    way: Way,
    offset: usize,
    /// Where the read was divided.
    base: usize,
}

impl Read {
    /// Makes this the read of some codes.
    fn begin(&mut self, block: usize, codes: &[u8]) {
        (self.block, self.open) = (block, 0);
        self.sought.begin(codes);
        self.walk.clear();
    }

    /// Looks at the stretch around an anchor of `k` bases.
    fn begin_stretch(&mut self, found: Found, at: usize, k: usize) {
        let Found {
            way,
            offset,
            length,
        } = found;
        let before = Place {
            way: way.flipped(),
            offset: length - offset,
            base: at,
        };
        let behind = Place {
            way,
            offset: offset + k,
            base: at + k,
        };
        self.sides = Some([before, behind].map(Side::Open));
        self.steps.iter_mut().for_each(Vec::clear);
        self.steps[BEHIND].push(Step {
            way,
            offset,
            at,
            kmers: 1,
        });
    }

    /// The sides on which the stretch may go on.
    fn open_sides(&self) -> impl Iterator<Item = (usize, Place)> {
        let sides = self.sides.iter().flatten().enumerate();
        sides.filter_map(|(side, known)| match *known {
            Side::Open(place) => Some((side, place)),
            Side::Ended(_) => None,
        })
    }

    /// Appends the codes that the stretch may go on with on a side: those of bases up to where a
    /// stretch ended before, with which k-mers are there by chance.
    fn codes_on(&self, side: usize, base: usize, k: usize, codes: &mut Vec<u8>) {
        let (before, behind) = self.sought.codes.split_at(base);
        let is_none = |code: &u8| *code == NONE;
        match side {
            BEHIND => {
                let end = behind.iter().position(is_none).unwrap_or(behind.len());
                codes.extend_from_slice(&behind[..end]);
            }
            _ => {
                let open = &before[self.open.saturating_sub(k - 1).min(base)..];
                let start = open.iter().rposition(is_none).map_or(0, |none| none + 1);
                codes.extend(open[start..].iter().rev().map(|code| 3 - code));
            }
        }
    }

    /// Goes on, on an open side, with what [`SharedNodes::go_on`] says.
    fn go_on(&mut self, side: usize, [equal, kmers, next]: [u32; 3], k: usize) {
        let Some(Side::Open(place)) = self.sides.map(|sides| sides[side]) else {
            unreachable!("only of open sides is anything asked");
        };
        let (equal, kmers) = (equal as usize, kmers as usize);
        let is_anchor = self.steps[side].is_empty();
        let step = self.steps[if is_anchor { BEHIND } else { side }].last_mut();
        let step = step.expect("an anchor has a step");
        step.kmers += equal;
        if side == BEFORE {
            step.at -= equal;
            step.offset = match is_anchor {
                true => step.offset - equal,
                false => kmers - step.kmers,
            };
        }
        let known = match next {
            OTHER | DEAD => Side::Ended(next == DEAD),
            way => {
                let way = Way::of_index(way as usize);
                let (forward, at, base) = match side {
                    BEHIND => (way, place.base + equal + 1 - k, place.base + equal + 1),
                    _ => (
                        way.flipped(),
                        place.base - equal - 1,
                        place.base - equal - 1,
                    ),
                };
                self.steps[side].push(Step {
                    way: forward,
                    offset: 0,
                    at,
                    kmers: 1,
                });
                let offset = k;
                Side::Open(Place { way, offset, base })
            }
        };
        self.sides.as_mut().expect("one was open")[side] = known;
    }

    /// Ends the stretch of which both sides are known; whether nothing is left to look for.
    fn is_through(&mut self, scheme: &Scheme) -> bool {
        if let Some([Side::Ended(before), Side::Ended(behind)]) = self.sides {
            self.sides = None;
            self.end_stretch([before, behind], scheme);
        }
        self.sides.is_none() && !self.sought.is_left(scheme)
    }

    fn end_stretch(&mut self, is_dead: [bool; 2], scheme: &Scheme) {
        let [before, behind] = &self.steps;
        let steps = before.iter().rev().chain(behind).copied();
        let least = scheme.neighbours();
        let (last, is_told) = self.walk.add(steps, is_dead, least, self.open);
        let mut from = last + 1;
        if is_told {
            // No window with the base behind the last is in the graph but by chance.
            self.open = last + scheme.k() + 1;
            from = self.open.saturating_sub(least - 1);
        }
        self.sought.go_on(from);
    }
}

/// Appends how many bytes there are, and the bytes.
fn put_part(bytes: &[u8], message: &mut Vec<u8>) {
    message.extend((bytes.len() as u64).to_le_bytes());
    message.extend_from_slice(bytes);
}

/// What [`put_part`] appended.
fn parts(mut message: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (len, rest) = message.split_first_chunk()?;
        let (part, rest) = rest.split_at(u64::from_le_bytes(*len) as usize);
        message = rest;
        Some(part)
    })
}
