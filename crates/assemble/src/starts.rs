//! Where the nodes of a graph begin, in both directions: by that sequences that were made of nodes
//! are found again.

use gyrase_fabric::FabricError;

use crate::among::Among;
use crate::asked::AskedNodes;
use crate::graph::{SharedGraph, Way};
use crate::rolling::Rolling;
use crate::walk::Step;
use crate::{BaseSlice, BaseString};

/// Bits of the filter for each way: of the windows with which none begins it leaves one in so many.
const BITS_OF_WAY: usize = 16;
/// No way.
const NONE: [u8; 4] = [u8::MAX; 4];

/// The ways of a graph by their first k-mers, each in the process that its hash falls to. Every
/// process has a filter of all.
pub struct Starts<'g> {
    graph: &'g SharedGraph,
    rolling: Rolling,
    /// Ascending, with the hashes.
    ways: Vec<(u64, Way)>,
    filter: Filter,
}

/// Which hashes some way may have: a run of the bits is of each process.
struct Filter {
    words: Vec<u64>,
    words_of_process: usize,
}

/// A step, and whether it is all of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOfPath {
    pub step: Step,
    pub is_whole: bool,
}

/// A window of a sequence with which a way may begin.
#[derive(Clone, Copy)]
struct Candidate {
    sequence: usize,
    at: usize,
    hash: u64,
}

impl<'g> Starts<'g> {
    /// Those of a graph.
    ///
    /// Collective.
    pub fn of(graph: &'g SharedGraph, among: &Among) -> Result<Starts<'g>, FabricError> {
        let (own, k) = (graph.own(), graph.k());
        let rolling = Rolling::new(k);
        let hashed = own.ways().map(|way| {
            let first = own.bases(way).slice(0..k).codes();
            (rolling.start(&first).hash(), graph.number(way))
        });
        let hashed: Vec<(u64, Way)> = hashed.collect();
        let mut filter = Filter::new(2 * graph.len(), among.world.ranks());
        let mut ways = Vec::new();
        let word = |(hash, way): (u64, Way)| {
            let mut bytes = [0; 12];
            bytes[..8].copy_from_slice(&hash.to_le_bytes());
            bytes[8..].copy_from_slice(&way.to_bytes());
            (filter.owner(hash), bytes)
        };
        among.tell(&hashed, word, |bytes| {
            let (hash, way) = bytes.split_first_chunk().expect("twelve bytes");
            let way = way.try_into().expect("four are left");
            ways.push((u64::from_le_bytes(*hash), Way::of_bytes(way)));
        })?;
        ways.sort_unstable();
        ways.iter().for_each(|&(hash, _)| filter.add(hash));
        filter.share(among)?;
        Ok(Starts {
            graph,
            rolling,
            ways,
            filter,
        })
    }

    /// The ways that each sequence of nodes passes, in their order. They may overlap by less than
    /// others do. A ring may begin in the middle of one.
    ///
    /// Collective.
    pub fn paths(
        &self,
        sequences: &[Vec<u8>],
        among: &Among,
    ) -> Result<Vec<Vec<StepOfPath>>, FabricError> {
        let mut candidates = Vec::new();
        for (sequence, codes) in sequences.iter().enumerate() {
            self.windows(codes, |at, hash| {
                candidates.push(Candidate { sequence, at, hash });
            });
        }
        let question = |one: Candidate| (self.filter.owner(one.hash), one.hash.to_le_bytes());
        let found = among.ask(&candidates, question, |hash| self.begun(hash))?;
        let found = candidates.iter().zip(&found).flat_map(|(one, ways)| {
            let ways = ways.as_chunks().0.iter().filter(|&&way| way != NONE);
            ways.map(|&way| (one.sequence, one.at, Way::of_bytes(way)))
        });
        let found: Vec<(usize, usize, Way)> = found.collect();
        let ways = found.iter().map(|one| one.2);
        let nodes = AskedNodes::of(self.graph, ways, among)?;
        let k = self.graph.k();
        let mut paths = vec![Vec::new(); sequences.len()];
        let mut within: Vec<(usize, Vec<Way>)> = Vec::new();
        for begun in found.chunk_by(|one, next| one.0 == next.0) {
            let sequence = begun[0].0;
            let path = &mut paths[sequence];
            *path = path_of(&nodes, k, &sequences[sequence], begun);
            if let Some(first) = path.first().filter(|first| first.step.at > 0) {
                within.push((sequence, nodes.before(first.step.way).collect()));
            }
        }
        let ways = within.iter().flat_map(|one| &one.1).copied();
        let nodes = AskedNodes::of(self.graph, ways, among)?;
        for (sequence, ways) in within {
            let path = &mut paths[sequence];
            let begin = &sequences[sequence][..path[0].step.at + k - 1];
            let ending = |way| ending(&nodes.bases(way), k, way, begin);
            path.splice(..0, ways.into_iter().find_map(ending));
        }
        Ok(paths)
    }

    /// Calls `each` with every window of a sequence with which a way may begin, and its hash.
    fn windows(&self, codes: &[u8], mut each: impl FnMut(usize, u64)) {
        let k = self.graph.k();
        let mut window = self.rolling.start(&codes[..k]);
        for at in 0.. {
            let hash = window.hash();
            if self.filter.has(hash) {
                each(at, hash);
            }
            if at + k == codes.len() {
                return;
            }
            window = self.rolling.next(window, codes[at], codes[at + k]);
        }
    }

    /// The ways of this process with a hash: of one node or, by chance, of two. One of a single
    /// k-mer has the same in both directions.
    fn begun(&self, hash: [u8; 8]) -> [u8; 4 * NONE.len()] {
        let hash = u64::from_le_bytes(hash);
        let first = self.ways.partition_point(|&(other, _)| other < hash);
        let equal = self.ways[first..].iter().take_while(|way| way.0 == hash);
        let mut found = [u8::MAX; 4 * NONE.len()];
        let places = found.as_chunks_mut().0.iter_mut();
        places
            .zip(equal)
            .for_each(|(place, way)| *place = way.1.to_bytes());
        found
    }
}

impl Filter {
    /// Without any of so many ways.
    fn new(ways: usize, ranks: usize) -> Filter {
        let words = (ways * BITS_OF_WAY).div_ceil(64 * ranks).max(1);
        Filter {
            words: vec![0; words * ranks],
            words_of_process: words,
        }
    }

    /// The word and the bit of a hash.
    #[inline(always)]
    fn place(&self, hash: u64) -> (usize, u64) {
        let place = (u128::from(hash) * (64 * self.words.len() as u128)) >> 64;
        let place = place as usize;
        (place / 64, 1 << (place % 64))
    }

    /// The process that a hash falls to.
    fn owner(&self, hash: u64) -> usize {
        self.place(hash).0 / self.words_of_process
    }

    fn add(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        self.words[word] |= bit;
    }

    #[inline(always)]
    fn has(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.words[word] & bit != 0
    }

    /// Tells all processes what each knows of its own.
    ///
    /// Collective.
    fn share(&mut self, among: &Among) -> Result<(), FabricError> {
        let own = among.world.rank() * self.words_of_process;
        let own = &self.words[own..own + self.words_of_process];
        let own: Vec<u8> = own.iter().flat_map(|word| word.to_le_bytes()).collect();
        let all = among.world.all_gather(&own)?.concat();
        let all = all.as_chunks().0.iter();
        self.words = all.map(|&word| u64::from_le_bytes(word)).collect();
        Ok(())
    }
}

/// The steps of a sequence, of the ways that may begin in it, and where.
fn path_of(
    nodes: &AskedNodes,
    k: usize,
    codes: &[u8],
    begun: &[(usize, usize, Way)],
) -> Vec<StepOfPath> {
    let (mut path, mut from) = (Vec::new(), 0);
    for &(_, at, way) in begun {
        if at < from {
            continue;
        }
        let node = nodes.bases(way);
        let bases = BaseSlice::whole(&node).equal(&codes[at..]);
        if bases < k {
            continue;
        }
        let kmers = bases + 1 - k;
        from = at + kmers;
        path.push(StepOfPath {
            step: Step {
                way,
                offset: 0,
                at,
                kmers,
            },
            is_whole: bases == node.len(),
        });
    }
    path
}

/// The end of a way of some bases with which a sequence begins: a k-mer or more.
fn ending(bases: &BaseString, k: usize, way: Way, begin: &[u8]) -> Option<StepOfPath> {
    let behind = bases.len().checked_sub(begin.len())?;
    let end = BaseSlice::whole(bases).behind(behind);
    (end.equal(begin) == begin.len()).then_some(StepOfPath {
        step: Step {
            way,
            offset: behind,
            at: 0,
            kmers: begin.len() + 1 - k,
        },
        is_whole: behind == 0,
    })
}
