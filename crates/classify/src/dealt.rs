//! How work is dealt to the processes of a job.

use gyrase_fabric::World;

/// Which process this is of those that work is dealt to in rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dealt {
    pub rank: usize,
    pub ranks: usize,
}

impl Dealt {
    /// All of it to the only process.
    pub(crate) const ALL: Dealt = Dealt { rank: 0, ranks: 1 };

    /// To this process of a job.
    pub(crate) fn of(world: &dyn World) -> Dealt {
        Dealt {
            rank: world.rank(),
            ranks: world.ranks(),
        }
    }
}
