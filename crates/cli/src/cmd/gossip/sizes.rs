//! How large the messages are that a plan moves.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_gossip::{Collective, Sizes, TransferPlan};

use crate::failure::{Failure, Result};
use crate::size::Size;
use crate::texts;

/// Messages of one size, or of many.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Amounts {
    /// Bytes of all messages together, which have one size: 512M, 4G; several, with commas between
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',')]
    bytes: Vec<Size>,

    /// Bytes of each message: a line for each source, with a number for each target
    #[arg(long, value_name = "FILE.tsv")]
    sizes: Option<PathBuf>,
}

impl Amounts {
    /// The file with sizes.
    pub fn file(&self) -> Option<&PathBuf> {
        self.sizes.as_ref()
    }

    /// The sizes of messages, of each run that is asked for.
    pub fn of(&self, plan: &TransferPlan, memory: u64) -> Result<Vec<Sizes>> {
        let (collective, devices) = (plan.collective(), plan.devices());
        if let Some(path) = &self.sizes {
            return Ok(vec![read(path, collective, devices)?]);
        }
        if self.bytes.is_empty() {
            let what = "say how large the messages are: --bytes 1G, or --sizes FILE.tsv";
            return Err(Failure::usage(what));
        }
        let sized = |size: &Size| Sizes::even(collective, devices, size.of(memory));
        Ok(self.bytes.iter().map(sized).collect())
    }
}

/// Reads bytes of each message.
pub fn read(path: &Path, collective: Collective, devices: usize) -> Result<Sizes> {
    let name = path.display().to_string();
    Ok(Sizes::parse(
        &name,
        &texts::text(path)?,
        collective,
        devices,
    )?)
}
