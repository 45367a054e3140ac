//! Why reads are not looked up on a GPU.

use std::path::PathBuf;

/// Why reads are not looked up on a GPU.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// There is no library.
    #[error(
        "{} is not beside the program, and {} does not name it; `cargo xtask gpu` makes it",
        crate::FILE,
        crate::VARIABLE
    )]
    Absent,
    /// The library is no library, or lacks a function.
    #[error("the library {} cannot be loaded: {source}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the system says.
        source: libloading::Error,
    },
    /// The library is of another version of Gyrase.
    #[error(
        "the library {} has functions of version {found} where {expected} is needed; take the one \
         that came with this program",
        path.display()
    )]
    Version {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// That of this program.
        expected: i32,
    },
    /// No driver, or one that is too old.
    #[error("{why}")]
    Driver {
        /// What CUDA says.
        why: String,
    },
    /// There is no GPU.
    #[error("the driver sees no GPU")]
    NoGpu,
    /// There is no GPU of that number.
    #[error("there is no GPU {number}; they are numbered from 0, and there are {count}")]
    NoSuchGpu {
        /// The number.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// The windows of the database are longer than a warp takes.
    #[error("a GPU takes windows of up to {most} letters, those of the database have {window}")]
    Window {
        /// Letters of a window.
        window: usize,
        /// The most that a GPU takes.
        most: usize,
    },
    /// The database does not fit the memory.
    #[error("the database takes {least} bytes of the memory of a GPU, and {room} may be taken")]
    Memory {
        /// Bytes that are enough.
        least: u64,
        /// Bytes that may be taken.
        room: u64,
    },
    /// A batch does not fit what a pipeline may take: another can.
    #[error("a batch takes more of the memory of the GPU than it may")]
    Declined,
    /// A bucket of the database points outside of its partition, or a location is in no target.
    #[error("the database is damaged: it points to what is not there")]
    Damaged,
    /// The device failed; it is of no more use to this process.
    #[error("the GPU failed: {why}")]
    Failed {
        /// What CUDA says.
        why: String,
    },
}
