//! `gyrase gossip topology`.

use std::path::PathBuf;

use clap::Args;
use gyrase_gossip::{Collective, Topology, draw_topology, planner};

use super::given::{in_words, plural};
use super::wiring::{self, Changes};
use crate::failure::Result;
use crate::places::{self, Picture};
use crate::session::Session;
use crate::sink::{self, Sink};

const EXAMPLES: &str = "\
Examples:
  gyrase gossip topology --list
  gyrase gossip topology dgx-1 --plot dgx-1.svg
  gyrase gossip topology dgx-1 --devices 0,1,2,3 -o half.json
  nvidia-smi topo -m | gyrase gossip topology - --plot here.png

A file is JSON, as -o writes it, or what `nvidia-smi topo -m` prints. Where that
shows more links than a device has, a switch is assumed; --ports says it.";

/// Say how devices are wired, and draw it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Wires {
    /// A topology: a name of --list, or a file; `-` for a pipe
    #[arg(value_name = "TOPOLOGY", required_unless_present = "list")]
    topology: Option<PathBuf>,

    /// List the names of topologies
    #[arg(long, conflicts_with_all = ["topology", "output", "plot"])]
    list: bool,

    /// Write it as JSON
    #[arg(long, short, value_name = "FILE.json")]
    output: Option<PathBuf>,

    /// Draw it, as SVG or PNG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    changes: Changes,
}

impl Wires {
    /// Prints the links and what follows from them.
    pub fn run(self, session: &Session) -> Result<()> {
        let files = [&self.output, &self.plot];
        let outputs = files
            .into_iter()
            .flatten()
            .chain([places::standard_output()]);
        session.keep_apart(self.topology.iter().filter_map(wiring::file), outputs)?;
        let Some(source) = &self.topology else {
            return sink::write_all(None, listed().as_bytes());
        };
        let picture = self.plot.as_deref().map(Picture::of).transpose()?;
        let topology = self.changes.topology(source)?;
        let mut written = vec![sink::written(None, told(&topology)?.as_bytes())?];
        if let Some(path) = &self.output {
            written.push(sink::written(Some(path), topology.to_json().as_bytes())?);
        }
        if let Some(picture) = picture {
            let drawn = picture.finish(draw_topology(&topology));
            written.push(sink::written(self.plot.as_deref(), &drawn)?);
        }
        written.into_iter().try_for_each(Sink::finish)
    }
}

fn listed() -> String {
    Topology::presets()
        .map(|(name, what)| format!("{name:<14}{what}\n"))
        .collect()
}

/// Links as a table, and what bounds the collectives.
fn told(topology: &Topology) -> Result<String> {
    let devices = topology.devices();
    let mut text = format!("{}\n\n      ", topology.name());
    let row = |cells: Vec<String>| cells.concat() + "\n";
    text += &row((0..devices).map(|to| format!("{to:>4}")).collect());
    for from in 0..devices {
        let cell = |to| match topology.links(from, to) {
            _ if from == to => "   .".to_owned(),
            links => format!("{links:>4}"),
        };
        text += &format!("{from:>6}{}", row((0..devices).map(cell).collect()));
    }
    if let Some(ports) = topology.ports() {
        let ports: Vec<String> = ports.iter().map(u32::to_string).collect();
        text += &format!("\nports to the switch: {}\n", ports.join(" "));
    }
    let rings = planner::rings(topology);
    text += &format!(
        "\n{} of {} GB/s a link and direction\n",
        plural(devices, "device"),
        topology.rate()
    );
    text += &match rings.is_empty() {
        true => "no rings through all devices\n".to_owned(),
        false => {
            let names = |ring: &Vec<usize>| {
                ring.iter()
                    .map(usize::to_string)
                    .collect::<Vec<_>>()
                    .join("-")
            };
            let all: Vec<String> = rings.iter().map(names).collect();
            format!(
                "{} through all devices: {}\n",
                plural(rings.len(), "ring"),
                all.join(", ")
            )
        }
    };
    if let Some((from, to)) = topology.apart() {
        return Ok(text + &format!("no links lead from device {from} to device {to}\n"));
    }
    for (collective, name) in [
        (Collective::AllToAll, "all-to-all"),
        (Collective::Scatter { main: 0 }, "scatter:0"),
        (Collective::Broadcast { main: 0 }, "broadcast:0"),
    ] {
        let bound = planner::bound(topology, collective, None)?;
        text += &format!("least time of {name:<12} {}\n", in_words(&bound));
    }
    Ok(text + "times are in what one message takes over one link\n")
}
