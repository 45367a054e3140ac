//! The processes of a job over MPI: the fabric's contract in space.
//!
//! [`start`] says whether this process is one of several that a launcher (`mpirun`, `srun`)
//! started. If so, it loads the *shim* for the launcher's MPI: a small C library (`shim.c`) that
//! [`setup`] compiled with the site's `mpicc`. So one binary serves Open MPI, MPICH and machines
//! without any. A [`Job`] ends by [`Job::end`], also when something failed: a failure of one
//! process ends all of them.
//!
//! One thread of each process makes the calls of MPI, whatever its other threads do. A few times a
//! second the processes ask one another whether all is well (the *heartbeat*), so that nobody waits
//! for one that failed. A second thread, in turn with the first, listens whether the rank before
//! this one still lives (the *watchdog*), so that nobody waits for one that is silent.
//!
//! # Example
//!
//! One program, by itself or under `mpirun -n 8`:
//!
//! ```
//! use gyrase_fabric::{Alone, FabricError, World};
//! use gyrase_fabric_mpi::{Ended, ExitCodes, Failed, start};
//!
//! /// Reads of all processes, of which this one had some.
//! fn total(reads: u64, world: &dyn World) -> Result<u64, FabricError> {
//!     Ok(world.sum(&[reads])?[0])
//! }
//!
//! let codes = ExitCodes { memory: 4, mpi: 8, stopped: 130 };
//! match start(codes, |_waited| ())? {
//!     None => assert_eq!(total(1000, &Alone)?, 1000), // no MPI is touched
//!     Some(job) => {
//!         let done = total(1000, &job).map(|all| println!("{all} reads"));
//!         let failed = |error: FabricError| Failed {
//!             code: codes.mpi,
//!             stopped: false,
//!             message: error.to_string(),
//!         };
//!         let ended = job.end(done.map_err(failed), |message| eprintln!("{message}"));
//!         assert_eq!(ended, Ended::Well);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod awake;
pub mod clock;
mod collectives;
mod counters;
mod end;
mod engine;
mod error;
mod exit_codes;
mod family;
mod heartbeat;
mod job;
mod launch;
mod messages;
mod mpi;
mod neighbours;
mod pieces;
mod setup;
#[allow(unsafe_code, reason = "MPI is a C library that is loaded at run time")]
mod shim;
mod tasks;
mod trial;
mod turns;
mod watchdog;
mod window;
mod world;

pub use counters::Counters;
pub use end::{Ended, Failed};
pub use error::{SetupError, StartError};
pub use exit_codes::ExitCodes;
pub use family::Family;
pub use job::{Job, start};
pub use launch::{Launch, installed, loads_libraries};
pub use neighbours::neighbours;
pub use setup::{Installed, folder, library, setup};
pub use window::OneSided;
