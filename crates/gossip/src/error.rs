//! What can be wrong with topologies and plans.

/// Why a topology or a plan is refused, or cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum GossipError {
    /// Devices cannot be wired so.
    #[error("topology {name} has {what}")]
    Topology {
        /// Which topology.
        name: String,
        /// What it has, and what it should have.
        what: String,
    },
    /// A name that stands for no topology.
    #[error("{name:?} is no topology that is known by name")]
    Preset {
        /// The name.
        name: String,
    },
    /// Text that `nvidia-smi topo -m` does not print.
    #[error("{name}, line {line}: found {what}")]
    Smi {
        /// The file.
        name: String,
        /// The line, counted from 1.
        line: usize,
        /// What was found, and what was expected.
        what: String,
    },
    /// A file that is not the JSON that it should be.
    #[error("{name} is not what it should be")]
    Json {
        /// The file.
        name: String,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A plan that does not do what its collective asks for.
    #[error("{name} is no plan that can be run: {what}")]
    Plan {
        /// The file.
        name: String,
        /// What is wrong with it.
        what: String,
    },
    /// A device that a plan needs to reach, and cannot.
    #[error("in topology {name} no links lead from device {from} to device {to}")]
    Apart {
        /// The topology.
        name: String,
        /// Where data are.
        from: usize,
        /// Where they should be.
        to: usize,
    },
    /// What was asked for does not fit the topology.
    #[error("{what}")]
    Request {
        /// What does not fit, and what would.
        what: String,
    },
    /// The solver of programs gave up.
    #[error("the {what} of {variables} unknowns was not solved: {reason}")]
    Solver {
        /// Which program.
        what: &'static str,
        /// Its variables.
        variables: usize,
        /// What the solver says.
        reason: String,
    },
    /// Messages that do not fit the collective, or memory.
    #[error("{what}")]
    Sizes {
        /// What is wrong, and what would be right.
        what: String,
    },
    /// A device holds other bytes than it should after a run.
    #[error(
        "device {target} has other bytes than device {source_device} sent, from byte {byte} on"
    )]
    Differs {
        /// Who sent.
        source_device: usize,
        /// Who received.
        target: usize,
        /// The first byte of the message that differs.
        byte: u64,
    },
    /// GPUs did not carry a plan out.
    #[error(transparent)]
    Gpu(#[from] gyrase_gpu::GpuError),
    /// Somebody cancelled the run.
    #[error("it was stopped before its end; no output was written")]
    Cancelled,
}

impl From<gyrase_work::Cancelled> for GossipError {
    fn from(_: gyrase_work::Cancelled) -> GossipError {
        GossipError::Cancelled
    }
}
