//! What a process ends with that did not fail by itself.

/// The exit codes of a process that ends without having failed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCodes {
    /// It gets no memory.
    pub memory: u8,
    /// MPI failed, or a rank is silent.
    pub mpi: u8,
    /// It is to stop, where nobody knows why.
    pub stopped: u8,
}
