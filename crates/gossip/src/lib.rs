//! Plans that move data among devices which are wired unevenly, such as the GPUs of a DGX-1.
//!
//! The method is that of Gossip (Kobus, Jünger, Hundt and Schmidt 2019,
//! doi:10.1145/3337821.3337889), whose files it reads and writes.
//!
//! - A [`Topology`] says how many links lead from each device to each other one.
//! - A [`Collective`] says who has a message for whom: scatter, gather, broadcast, all-to-all.
//! - A [`TransferPlan`] cuts each message into chunks, and says which way each chunk takes, and in
//!   which order. Ways may lead over other devices: two devices without a link between them reach
//!   each other, and narrow links are helped by wide ones.
//! - [`planner::plan`] makes plans, each with a [`Bound`] that no plan is faster than.
//! - [`simulator`] says what a plan takes on a machine that one does not have.
//! - [`execute`] carries it out.
//! - [`draw_topology`] and [`draw_plan`] draw them.
//!
//! Times without a unit are in *link times*: what one message takes over one link.
//!
//! ```
//! use gyrase_gossip::{Collective, Config, Method, Topology, planner};
//! use gyrase_work::Progress;
//!
//! let planned = planner::plan(
//!     &Config {
//!         topology: "dgx-1".parse()?,
//!         collective: Collective::AllToAll,
//!         method: Method::Auto,
//!         chunks: None,
//!         sizes: None,
//!     },
//!     &Progress::default(),
//! )?;
//! // Each quad has 16 messages for the other, over 6 links: 16 / 6 link times at least.
//! assert!((planned.bound.time - 16.0 / 6.0).abs() < 1e-6);
//! // With messages in 3 chunks, the plan takes no longer.
//! assert_eq!(planned.plan.chunks(), 3);
//! assert!(planned.efficiency() > 0.999);
//! # Ok::<(), gyrase_gossip::GossipError>(())
//! ```

mod collective;
mod error;
pub mod execute;
mod pictures;
mod plan;
pub mod planner;
pub mod simulator;
mod topology;
mod transfers;

pub use collective::Collective;
pub use error::GossipError;
pub use pictures::{draw_plan, draw_topology};
pub use plan::{Hop, Route, TransferPlan};
pub use planner::{Bottleneck, Bound, Config, Method, Planned};
pub use topology::{Edge, Topology};
pub use transfers::{Sizes, Transfer, Transfers};
