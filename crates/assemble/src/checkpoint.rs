//! What an assembly keeps behind each k, for a run that goes on where an earlier one was cut short.
//!
//! The first process keeps the graph of all, and tells the others what it finds. A graph follows
//! from its nodes.

use std::sync::Arc;

use gyrase_fabric::{Alone, Numbers, SpillFolder, World, numbers};
use gyrase_tabulate::{KeptWork, clear_kept, spill_path};

use crate::config::{AssemblyError, Config};
use crate::graph::{Graph, Pieces, SharedGraph, compact};
use crate::solid::KmerDepth;
use crate::stage::GraphStage;
use crate::unitigs::records::{put_bases, take_bases};
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
    pub fn last(&self) -> Result<(Option<State>, Resumed), AssemblyError> {
        if !self.resume {
            return Ok((None, Resumed::default()));
        }
        let last = || {
            let kept = self.kept.as_ref()?;
            (0..=kept.last()?).rev().find_map(|stage| kept.get(stage))
        };
        let bytes = self.world.broadcast(0, last().unwrap_or_default())?;
        let state = (!bytes.is_empty()).then(|| State::of_bytes(&bytes, self.world));
        let state = state.transpose()?;
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
        let graph = state.graph.copied(self.world)?;
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
        self.spared
            .iter()
            .for_each(|spared| spared.put(&mut numbers));
        self.cut.put(&mut numbers);
        self.strains.put(&mut numbers);
        self.stages.len().put(&mut numbers);
        self.stages.iter().for_each(|stage| stage.put(&mut numbers));
        graph.len().put(&mut numbers);
        let mut bases = BaseString::default();
        for way in graph.nodes() {
            (graph.length(way), graph.count(way)).put(&mut numbers);
            graph.bases(way).append_to(&mut bases);
        }
        let mut bytes = (numbers.len() as u64).to_le_bytes().to_vec();
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        put_bases(&bases, &mut bytes);
        bytes
    }

    /// Collective.
    fn of_bytes(bytes: &[u8], world: &dyn World) -> Result<State, AssemblyError> {
        let mut from = bytes;
        let mut number = || crate::unitigs::records::take_number(&mut from);
        let numbers: Vec<u64> = (0..number()).map(|_| number()).collect();
        let mut numbers = numbers.into_iter();
        let (k, depth) = <(usize, KmerDepth)>::take(&mut numbers);
        let spared = std::array::from_fn(|_| u64::take(&mut numbers));
        let cut = u64::take(&mut numbers);
        let strains = u64::take(&mut numbers);
        let stages = (0..usize::take(&mut numbers)).map(|_| GraphStage::take(&mut numbers));
        let stages = stages.collect();
        let bases = take_bases(&mut from);
        let (mut pieces, mut at) = (Pieces::default(), 0);
        for _ in 0..usize::take(&mut numbers) {
            let (length, count) = <(usize, u64)>::take(&mut numbers);
            pieces.push_bases(BaseSlice::of(&bases, at..at + length), count);
            at += length;
        }
        Ok(State {
            graph: SharedGraph::share_of(compact(k, &pieces, 1), world)?,
            depth,
            stages,
            spared,
            cut,
            strains,
        })
    }
}
