//! What `nvidia-smi topo -m` prints.

use super::{NVLINK2, Topology};
use crate::error::GossipError;

/// No device has more links than this: more to all others together mean a switch.
const MOST_LINKS: u32 = 18;

impl Topology {
    /// Reads the table that `nvidia-smi topo -m` prints. Columns and rows of other things than
    /// GPUs are left out, and so is the legend.
    ///
    /// The table does not say whether a switch is between devices. One is assumed where the links
    /// of a device to all others are more than 18, which no device has; each then has as many
    /// ports as links to one other. [`Topology::with_ports`] says it where that is wrong.
    ///
    /// # Errors
    /// There is no table, a row of it is missing or too short, or a cell is not understood.
    pub fn from_smi(name: &str, text: &str) -> Result<Topology, GossipError> {
        let lines: Vec<String> = text.lines().map(without_escapes).collect();
        let wrong = |line: usize, what: String| GossipError::Smi {
            name: name.to_owned(),
            line: line + 1,
            what,
        };
        let is_header = |line: &String| line.split_whitespace().next() == Some("GPU0");
        let second = |line: &String| line.split_whitespace().nth(1).is_some_and(is_gpu);
        let header = lines
            .iter()
            .position(|line| is_header(line) && second(line));
        let Some(header) = header else {
            let what = "no line that begins with GPU0 GPU1, as the table does".to_owned();
            return Err(wrong(0, what));
        };
        let columns = lines[header]
            .split_whitespace()
            .take_while(|word| is_gpu(word));
        let devices = columns.count();
        let mut links = vec![Vec::new(); devices];
        for (number, line) in lines.iter().enumerate().skip(header + 1) {
            let mut words = line.split_whitespace();
            let device = words.next().filter(|word| is_gpu(word));
            let Some(device) = device.and_then(|word| word[3..].parse::<usize>().ok()) else {
                continue;
            };
            if device >= devices || !links[device].is_empty() {
                return Err(wrong(
                    number,
                    format!("a row of GPU{device}, which has no column, or a second one"),
                ));
            }
            let cells = words.take(devices).map(|cell| {
                let expected = || format!("{cell:?}, where X, NV1, PIX, SYS or the like should be");
                links_of(cell).ok_or_else(|| wrong(number, expected()))
            });
            links[device] = cells.collect::<Result<Vec<u32>, _>>()?;
            if links[device].len() != devices {
                let found = links[device].len();
                let what = format!("{found} cells for {devices} GPUs");
                return Err(wrong(number, what));
            }
        }
        if let Some(missing) = links.iter().position(Vec::is_empty) {
            return Err(wrong(lines.len(), format!("no row of GPU{missing}")));
        }
        let topology = Topology::new(name, links, NVLINK2)?;
        match switch_ports(&topology) {
            Some(ports) => topology.with_ports(ports),
            None => Ok(topology),
        }
    }
}

/// Ports of each device, where its links are too many to be its own.
fn switch_ports(topology: &Topology) -> Option<Vec<u32>> {
    let devices = 0..topology.devices();
    let many = devices
        .clone()
        .any(|from| topology.leaving(from) > MOST_LINKS);
    let most = |from: usize| topology.links[from].iter().copied().max().unwrap_or(0);
    many.then(|| devices.map(|from| most(from).max(1)).collect())
}

fn is_gpu(word: &str) -> bool {
    word.strip_prefix("GPU")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

fn links_of(cell: &str) -> Option<u32> {
    match cell {
        "X" | "SYS" | "NODE" | "PHB" | "PXB" | "PIX" | "SOC" | "N/A" => Some(0),
        cell => cell.strip_prefix("NV")?.parse().ok(),
    }
}

/// A line without the sequences that underline on a terminal.
fn without_escapes(line: &str) -> String {
    let mut plain = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => {
                let _ = letters.find(char::is_ascii_alphabetic);
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a DGX-1 prints it, underlined, with network cards.
    fn printed(topology: &Topology) -> String {
        let devices = topology.devices();
        let names: Vec<String> = (0..devices).map(|i| format!("GPU{i}")).collect();
        let mut text = format!(
            "\t\u{1b}[4m{}\tmlx5_0\tCPU Affinity\tNUMA Affinity\u{1b}[0m\n",
            names.join("\t")
        );
        for from in 0..devices {
            let cell = |to| match topology.links(from, to) {
                _ if from == to => " X ".to_owned(),
                0 => "SYS".to_owned(),
                links => format!("NV{links}"),
            };
            let cells: Vec<String> = (0..devices).map(cell).collect();
            text += &format!("GPU{from}\t{}\tPIX\t0-19,40-59\t0\n", cells.join("\t"));
        }
        text + "mlx5_0\tPIX\tPIX\n\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing\n"
    }

    #[test]
    fn tables_are_read() {
        for name in [
            "dgx-1",
            "alternative",
            "s1",
            "s3",
            "dgx-2",
            "h100",
            "ring-2",
        ] {
            let expected: Topology = name.parse().unwrap();
            let read = Topology::from_smi(name, &printed(&expected)).unwrap();
            assert_eq!(read.edges(), expected.edges());
            assert_eq!(read.ports(), expected.ports(), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let table = printed(&"s1".parse().unwrap());
        let error = |text: &str| Topology::from_smi("t", text).unwrap_err().to_string();
        assert!(error("").contains("GPU0 GPU1"));
        assert!(error(&table.replacen("NV2", "NVX", 1)).contains("line 2"));
        assert!(error(&table.replacen("GPU3\tNV2", "GPU2\tNV2", 1)).contains("line 5"));
        let cut = table.lines().take(4).collect::<Vec<_>>().join("\n");
        assert!(error(&cut).contains("no row of GPU3"));
        assert!(error("\tGPU0\tGPU1\nGPU0\tX\nGPU1\tNV1\tX\n").contains("1 cells for 2"));
    }
}
