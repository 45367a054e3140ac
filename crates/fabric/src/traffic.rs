//! What moved between processes.

/// What the exchange came to, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Rounds of all processes: the same number in each.
    pub rounds: u64,
    /// Bytes sent to other processes.
    pub sent: u64,
    /// Bytes that came from other processes.
    pub received: u64,
    /// Stretches of one partition's records that were sent.
    pub pieces: u64,
    /// Send buffers that were allocated.
    pub buffers: u64,
    /// Most bytes received in a round.
    pub most_received: u64,
}
