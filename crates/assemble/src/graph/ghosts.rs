//! What a process knows of nodes that others have (ghost nodes).

use gyrase_fabric::{FabricError, World};

use super::shared::SharedGraph;
use crate::answers::Answers;
use crate::way::Way;

/// Something about each of some nodes, as far as it was asked for.
pub struct Ghosts<T>(Answers<Way, T>);

impl<T> Default for Ghosts<T> {
    fn default() -> Ghosts<T> {
        Ghosts(Answers::default())
    }
}

impl<T> Ghosts<T> {
    /// What is known of a node; nothing, which is noted, where it was not asked for yet.
    pub fn get(&self, way: Way) -> Option<&T> {
        self.0.get(Way::forward(way.node()))
    }

    /// How often somebody looked for what is not known, since it was last asked for.
    pub fn missed(&self) -> usize {
        self.0.missed()
    }

    /// Asks the processes that have them about the nodes that are missing: `answer` appends what is
    /// to be said of a node of this process, and `take` takes it from the front.
    ///
    /// Collective.
    pub fn ask(
        &mut self,
        graph: &SharedGraph,
        world: &dyn World,
        answer: impl FnMut(Way, &mut Vec<u8>),
        take: impl Fn(&mut &[u8]) -> T,
    ) -> Result<(), FabricError> {
        let nodes = self.0.take_missing();
        self.0.reserve(nodes.len());
        let take = |node: Way, from: &mut &[u8]| self.0.insert(node, take(from));
        graph.ask(&nodes, world, answer, take)
    }
}
