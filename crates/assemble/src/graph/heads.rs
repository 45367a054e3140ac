//! The first bases of ways of other processes.

use std::collections::HashMap;
use std::ops::Range;

use gyrase_fabric::{FabricError, World};

use super::shared::SharedGraph;
use crate::records::{append_bases, put_slice};
use crate::way::Way;
use crate::{BaseSlice, BaseString};

/// All bases of the nodes of this process, and the first ones of ways of others.
pub struct Heads<'g> {
    graph: &'g SharedGraph,
    /// Where the bases of each way of others are.
    others: HashMap<Way, Range<usize>>,
    /// These bases, and the reverse complement of those of each way in the same place.
    strands: [BaseString; 2],
}

impl<'g> Heads<'g> {
    /// With the first `bases` bases of `ways`, or all that they have.
    ///
    /// Collective.
    pub fn of(
        graph: &'g SharedGraph,
        mut ways: Vec<Way>,
        bases: usize,
        world: &dyn World,
    ) -> Result<Heads<'g>, FabricError> {
        let own = graph.own();
        ways.retain(|&way| graph.if_own(way).is_none());
        ways.sort_unstable();
        ways.dedup();
        let mut others = HashMap::new();
        let [mut forward, mut backward] = [BaseString::default(), BaseString::default()];
        let answer = |way: Way, bytes: &mut Vec<u8>| {
            put_slice(own.bases(way).slice(0..bases.min(own.length(way))), bytes);
        };
        graph.ask(&ways, world, answer, |way, from| {
            let head = append_bases(from, &mut forward);
            backward.append_reverse_complement(&forward, head.clone());
            others.insert(way, head);
        })?;
        Ok(Heads {
            graph,
            others,
            strands: [forward, backward],
        })
    }

    /// The nodes of this process.
    pub fn graph(&self) -> &'g SharedGraph {
        self.graph
    }

    /// Some of the first bases of a way.
    pub fn first(&self, way: Way, bases: Range<usize>) -> BaseSlice<'_> {
        match self.others.get(&way) {
            Some(head) => BaseSlice::of(&self.strands[0], head.clone()).slice(bases),
            None => self.own(way).slice(bases),
        }
    }

    /// So many of the last bases of a way.
    pub fn last(&self, way: Way, bases: usize) -> BaseSlice<'_> {
        let all = match self.others.get(&way.flipped()) {
            Some(head) => BaseSlice::of(&self.strands[1], head.clone()),
            None => self.own(way),
        };
        all.behind(all.len() - bases)
    }

    fn own(&self, way: Way) -> BaseSlice<'g> {
        self.graph.own().bases(self.graph.own_way(way))
    }
}
