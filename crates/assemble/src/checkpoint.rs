//! What an assembly keeps behind each k, for a run that goes on where an earlier one was cut short.
//!
//! The first process keeps the graph of all. Of what it finds it tells the others all but the
//! nodes: a graph follows from them, whoever has them.

use std::sync::Arc;

use gyrase_fabric::{Alone, Numbers, SpillFolder, World, numbers};
use gyrase_kmer::with_words;
use gyrase_tabulate::{KeptWork, clear_kept, spill_path};

use crate::among::Among;
use crate::config::{AssemblyError, Config};
use crate::graph::{Graph, Pieces, SharedGraph, compact_among, shape_of};
use crate::solid::KmerDepth;
use crate::stage::GraphStage;
use crate::unitigs::records::{put_bases, take_bases, take_number};
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
    resume: bool,
    /// In the first process.
    kept: Option<KeptWork>,
}

impl<'w> Checkpoints<'w> {
    /// Finds what earlier runs kept; where nothing is to be kept, what there is goes.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(config: &Config, world: &'w dyn World) -> Result<Checkpoints<'w>, AssemblyError> {
        let root = spill_path(&config.tmp, KIND, &config.output);
        let first = world.rank() == 0;
        if first && !config.resume {
            clear_kept(&root);
        }
        let open = || {
            let folder = Arc::new(SpillFolder::new(root.join("rank-0"), None, false));
            KeptWork::open(&Alone, &root, &config.job(), folder)
        };
        let kept = (first && config.resume).then(open).transpose()?;
        Ok(Checkpoints {
            world,
            resume: config.resume,
            kept,
        })
    }

    /// The last state that an earlier run kept.
    ///
    /// Collective.
    pub fn last(&self, among: &Among) -> Result<(Option<State>, Resumed), AssemblyError> {
        if !self.resume {
            return Ok((None, Resumed::default()));
        }
        let last = || {
            let kept = self.kept.as_ref()?;
            (0..=kept.last()?).rev().find_map(|stage| kept.get(stage))
        };
        let bytes = last().unwrap_or_default();
        let mut nodes = &bytes[..];
        let told = take_numbers(&mut nodes);
        let told = self.world.broadcast(0, bytes_of(&told))?;
        let state = match &take_numbers(&mut &told[..])[..] {
            [] => None,
            numbers => Some(State::of(numbers.to_vec(), &pieces(nodes), among)?),
        };
        let resumed = Resumed {
            behind: state.as_ref().map(|state| state.graph.k()),
            had_other: self.kept.as_ref().is_some_and(KeptWork::had_other),
        };
        Ok((state, resumed))
    }

    /// Keeps a state.
    ///
    /// Collective.
    pub fn put(&self, state: &State) -> Result<(), AssemblyError> {
        if !self.resume {
            return Ok(());
        }
        let graph = state.graph.clone().at_first(self.world)?;
        match &self.kept {
            Some(kept) => Ok(kept.put(state.stages.len(), &state.to_bytes(&graph))?),
            None => Ok(()),
        }
    }
}

/// With the name of the folder.
const KIND: &str = "gyrase-assemble";

/// Removes what a run kept, once nothing is to be made of it any more.
pub fn forget(config: &Config) {
    clear_kept(&spill_path(&config.tmp, KIND, &config.output));
}

impl State {
    fn to_bytes(&self, graph: &Graph) -> Vec<u8> {
        let mut numbers = Vec::new();
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

/// What [`bytes_of`] made, from the front of more; nothing of nothing.
fn take_numbers(from: &mut &[u8]) -> Vec<u64> {
    let count = if from.is_empty() {
        0
    } else {
        take_number(from)
    };
    (0..count).map(|_| take_number(from)).collect()
}

/// The nodes that were kept.
fn pieces(mut from: &[u8]) -> Pieces {
    let (mut pieces, mut at) = (Pieces::default(), 0);
    let numbers = take_numbers(&mut from);
    if !numbers.is_empty() {
        let bases = take_bases(&mut from);
        for &[length, count] in numbers.as_chunks().0 {
            let end = at + length as usize;
            pieces.push_bases(BaseSlice::of(&bases, at..end), count);
            at = end;
        }
    }
    pieces
}
