//! The topology that a verb is given.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_gossip::{GossipError, Topology};

use crate::failure::{Failure, Result};
use crate::texts;

/// How a topology is changed before it is used.
#[derive(Debug, Args)]
#[command(next_help_heading = "The topology")]
pub struct Changes {
    /// Take only these of its devices, in this order
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    devices: Vec<usize>,

    /// Ports of each device, where all go through a switch
    #[arg(long, value_name = "N")]
    ports: Option<u32>,

    /// What a link carries in a direction, in 10^9 bytes a second
    #[arg(long, value_name = "GB/S")]
    link_rate: Option<f64>,
}

impl Changes {
    /// The topology of a name or a file, changed.
    pub fn topology(&self, source: &Path) -> Result<Topology> {
        let mut topology = open(source)?;
        if !self.devices.is_empty() {
            topology = topology.of_devices(&self.devices)?;
        }
        if let Some(ports) = self.ports {
            let devices = topology.devices();
            topology = topology.with_ports(vec![ports; devices])?;
        }
        if let Some(rate) = self.link_rate {
            topology = topology.with_rate(rate)?;
        }
        Ok(topology)
    }
}

/// A topology by its name, or in a file: JSON, or what `nvidia-smi topo -m` prints.
pub fn open(source: &Path) -> Result<Topology> {
    let name = source.display().to_string();
    let unknown = match name.parse() {
        Ok(topology) => return Ok(topology),
        Err(error @ GossipError::Preset { .. }) => error,
        Err(error) => return Err(error.into()),
    };
    if name != "-" && !source.exists() {
        let help = "no file has this name either; `gyrase gossip topology --list` has the names";
        return Err(Failure::usage(format!("{unknown}, and {help}")));
    }
    let text = texts::text(source)?;
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    Ok(match text.trim_start().starts_with(['{', '[']) {
        true => Topology::from_json(&stem, &text)?,
        false => Topology::from_smi(&name, &text)?,
    })
}

/// The file of a topology, if it is one.
pub fn file(source: &PathBuf) -> Option<&PathBuf> {
    let named = source.display().to_string().parse::<Topology>().is_ok();
    (!named).then_some(source)
}
