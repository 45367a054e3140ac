//! K-mer databases of other programs: read into ours, and written from it.
//!
//! [`import`] reads the databases of KMC ([`kmc`]), files in the format that several tools share
//! ([`kff`]), and the texts that `kmc_dump` and `jellyfish dump` write ([`text`]). [`export`]
//! writes all of them. What comes in has its counts summed, and its k-mers made canonical unless it
//! is stranded; what goes out is in the order of the letters.

mod error;
mod export;
mod import;
pub mod kff;
pub mod kmc;
mod open;
mod plan;
mod scatter;
mod sink;
mod source;
pub mod text;

pub use crate::dump::Style as TextStyle;
pub use error::{ExchangeError, FilePosition};
pub use export::{ExportConfig, Exported, Format, export};
pub use import::{ImportConfig, Imported, import};
pub use plan::{ExchangePlan, plan_export, plan_import};
pub use sink::Plan;
pub use source::{KmerSource, WideKmer};
