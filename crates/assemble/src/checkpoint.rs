//! What an assembly keeps behind each k, for a run that goes on where an earlier one was cut short.
//!
//! Each process keeps its share of the graph, with all that is known of it but the nodes. A k is
//! there when the shares of all are; any number of processes go on from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use gyrase_fabric::{Numbers, SpillFolder, World, numbers};
use gyrase_kmer::with_words;
use gyrase_tabulate::{KeptWork, clear_kept, spill_path};

use crate::among::Among;
use crate::config::{AssemblyError, Config};
use crate::graph::{Pieces, SharedGraph, compact_among, shape_of};
use crate::records::{put_bases, take_bases, take_number};
use crate::solid::KmerDepth;
use crate::stage::GraphStage;
use crate::{BaseSlice, BaseString};

numbers!(KmerDepth { least, peak });
numbers!(GraphStage {
    k,
    nodes,
    cleaned,
    left
});

/// How far an assembly is.
#[derive(Debug)]
pub struct State {
    /// The last graph, cleaned.
    pub graph: SharedGraph,
    /// What the counts of the k-mers say.
    pub depth: KmerDepth,
    /// Each k so far.
    pub stages: Vec<GraphStage>,
    /// k-mers of a metagenome that came back between dead ends, and behind them.
    pub spared: [u64; 2],
    /// Places of a metagenome's first graph that no read led over, and that were cut.
    pub cut: u64,
    /// Nodes of strains that were left out.
    pub strains: u64,
}

/// What a run found of an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// The k behind which it goes on.
    pub behind: Option<usize>,
    /// There was something of other reads or options, which is gone now.
    pub had_other: bool,
}

/// Where it is kept.
pub struct Checkpoints<'w> {
    world: &'w dyn World,
    /// Nothing where nothing is to be kept.
    kept: Option<KeptWork>,
}

/// The share of one of so many processes, behind so many stages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    stage: usize,
    ranks: usize,
    rank: usize,
}

/// The processes that see each share, by rank.
type Seen = BTreeMap<Share, Vec<usize>>;

impl Share {
    /// Bits of a rank.
    const BITS: u32 = 24;

    /// The number by which it is kept.
    fn number(self) -> usize {
        (self.stage << Share::BITS | self.ranks) << Share::BITS | self.rank
    }

    /// That of a number.
    fn of(number: usize) -> Share {
        let lowest = |number: usize| number % (1 << Share::BITS);
        Share {
            stage: number >> (2 * Share::BITS),
            ranks: lowest(number >> Share::BITS),
            rank: lowest(number),
        }
    }

    /// All that were kept together with it.
    fn all(self) -> impl Iterator<Item = Share> {
        (0..self.ranks).map(move |rank| Share { rank, ..self })
    }
}

impl<'w> Checkpoints<'w> {
    /// Finds what earlier runs kept; where nothing is to be kept, what there is goes.
    ///
    /// Collective.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(config: &Config, world: &'w dyn World) -> Result<Checkpoints<'w>, AssemblyError> {
        let root = spill_path(&config.tmp, KIND, &config.output);
        if !config.resume {
            clear_kept(&root);
            return Ok(Checkpoints { world, kept: None });
        }
        let own = root.join(format!("rank-{}", world.rank()));
        let folder = Arc::new(SpillFolder::new(own, None, false));
        Ok(Checkpoints {
            world,
            kept: Some(KeptWork::open(world, &root, &config.job(), folder)?),
        })
    }

    /// The last state that an earlier run kept.
    ///
    /// Collective.
    pub fn last(&self, among: &Among) -> Result<(Option<State>, Resumed), AssemblyError> {
        let Some(kept) = &self.kept else {
            return Ok((None, Resumed::default()));
        };
        let had_other = kept.had_other();
        let numbers = kept
            .numbers()
            .flat_map(|number| (number as u64).to_le_bytes());
        let of_all = self.world.all_gather(&numbers.collect::<Vec<u8>>())?;
        let mut seen = Seen::new();
        for (rank, numbers) in of_all.iter().enumerate() {
            for &number in numbers.as_chunks().0 {
                let share = Share::of(u64::from_le_bytes(number) as usize);
                seen.entry(share).or_default().push(rank);
            }
        }
        let first = |share: &&Share| share.rank == 0;
        for share in seen.keys().rev().filter(first) {
            if share.all().all(|share| seen.contains_key(&share))
                && let Some(state) = self.state(kept, *share, &seen, among)?
            {
                let behind = Some(state.graph.k());
                return Ok((Some(state), Resumed { behind, had_other }));
            }
        }
        let behind = None;
        Ok((None, Resumed { behind, had_other }))
    }

    /// The state that was kept in some shares; nothing where one is damaged.
    ///
    /// Collective.
    fn state(
        &self,
        kept: &KeptWork,
        share: Share,
        seen: &Seen,
        among: &Among,
    ) -> Result<Option<State>, AssemblyError> {
        // Where all processes see a share, each takes some.
        let is_own = |share: &Share| {
            let ranks = &seen[share];
            ranks[share.rank % ranks.len()] == self.world.rank()
        };
        let own = share.all().filter(is_own);
        let own: Option<Vec<Vec<u8>>> = own.map(|share| kept.get(share.number())).collect();
        let Some(own) = self.world.if_all_have(own)? else {
            return Ok(None);
        };
        let (mut told, mut nodes) = (Vec::new(), Pieces::default());
        for bytes in own {
            let mut from = &bytes[..];
            told = take_numbers(&mut from);
            add_nodes(from, &mut nodes);
        }
        let told = self.world.all_gather(&bytes_of(&told))?;
        let told = told.iter().map(|bytes| take_numbers(&mut &bytes[..]));
        let told = told.max_by_key(Vec::len).unwrap_or_default();
        Ok(Some(State::of(told, &nodes, among)?))
    }

    /// Keeps the share of this process in a state.
    pub fn put(&self, state: &State) -> Result<(), AssemblyError> {
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        let share = Share {
            stage: state.stages.len(),
            ranks: self.world.ranks(),
            rank: self.world.rank(),
        };
        Ok(kept.put(share.number(), &state.to_bytes())?)
    }
}

/// With the name of the folder.
const KIND: &str = "gyrase-assemble";

/// Removes what a run kept, once nothing is to be made of it any more: each process of a job does.
pub fn forget(config: &Config) {
    clear_kept(&spill_path(&config.tmp, KIND, &config.output));
}

impl State {
    fn to_bytes(&self) -> Vec<u8> {
        let (graph, mut numbers) = (self.graph.own(), Vec::new());
        (graph.k(), self.depth).put(&mut numbers);
        (self.spared, (self.cut, self.strains)).put(&mut numbers);
        self.stages.iter().for_each(|stage| stage.put(&mut numbers));
        let mut bytes = bytes_of(&numbers);
        let mut bases = BaseString::default();
        numbers.clear();
        for way in graph.nodes() {
            (graph.length(way), graph.count(way)).put(&mut numbers);
            graph.bases(way).append_to(&mut bases);
        }
        bytes.extend(bytes_of(&numbers));
        put_bases(&bases, &mut bytes);
        bytes
    }

    /// Of numbers that all processes have, and of the nodes of each.
    ///
    /// Collective.
    fn of(numbers: Vec<u64>, nodes: &Pieces, among: &Among) -> Result<State, AssemblyError> {
        let mut numbers = numbers.into_iter();
        let (k, depth) = <(usize, KmerDepth)>::take(&mut numbers);
        let (spared, (cut, strains)) = <([u64; 2], (u64, u64))>::take(&mut numbers);
        let mut stages = Vec::new();
        while numbers.len() > 0 {
            stages.push(GraphStage::take(&mut numbers));
        }
        Ok(State {
            graph: with_words!(shape_of(k), W => compact_among::<W>(k, nodes, among))?,
            depth,
            stages,
            spared,
            cut,
            strains,
        })
    }
}

/// Numbers, with how many they are.
fn bytes_of(numbers: &[u64]) -> Vec<u8> {
    let count = numbers.len() as u64;
    let all = [count].into_iter().chain(numbers.iter().copied());
    all.flat_map(u64::to_le_bytes).collect()
}

/// What [`bytes_of`] made, from the front of more.
fn take_numbers(from: &mut &[u8]) -> Vec<u64> {
    let count = take_number(from);
    (0..count).map(|_| take_number(from)).collect()
}

/// Adds the nodes of a share.
fn add_nodes(mut from: &[u8], nodes: &mut Pieces) {
    let numbers = take_numbers(&mut from);
    let (bases, mut at) = (take_bases(&mut from), 0);
    for &[length, count] in numbers.as_chunks().0 {
        let end = at + length as usize;
        nodes.push_bases(BaseSlice::of(&bases, at..end), count);
        at = end;
    }
}
