//! `gyrase graph info`.

use std::path::PathBuf;

use clap::Args;
use gyrase_assemble::gfa::GraphFacts;
use gyrase_picture::words::{grouped, percent};
use serde_json::{Value, json};

use super::opened;
use crate::failure::Result;
use crate::places;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase graph info asm/graph.gfa
  gyrase graph info asm/graph.gfa --json | jq .dead_ends";

/// Say what a graph holds: segments, links, components, dead ends.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Info {
    /// The graph, GFA 1, plain or compressed; `-` for a pipe
    #[arg(value_name = "GRAPH.gfa")]
    graph: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Info {
    /// Prints the facts.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.graph], [places::standard_output()])?;
        let graph = opened::open(&self.graph, session)?;
        let facts = GraphFacts::of(&graph);
        session.note("counts", in_json(&facts));
        let text = match self.json {
            true => format!("{:#}\n", in_json(&facts)),
            false => table(&facts),
        };
        sink::write_all(None, text.as_bytes())
    }
}

fn in_json(facts: &GraphFacts) -> Value {
    let lengths = &facts.lengths;
    let ((n50, l50), (n90, l90)) = (lengths.n(50), lengths.n(90));
    let largest = facts.components.first();
    json!({
        "segments": lengths.count(0),
        "bases": lengths.total(0),
        "longest": lengths.largest(),
        "shortest": lengths.smallest(),
        "n50": n50, "l50": l50, "n90": n90, "l90": l90,
        "aun": lengths.aun_tenths() as f64 / 10.0,
        "links": facts.links,
        "overlap_least": facts.overlaps.map(|overlaps| overlaps.0),
        "overlap_most": facts.overlaps.map(|overlaps| overlaps.1),
        "dead_ends": facts.dead_ends,
        "without_links": facts.isolated,
        "components": facts.components.len(),
        "circular_components": facts.circular(),
        "largest_component": largest.map_or(0, |largest| largest.bases),
        "largest_component_segments": largest.map_or(0, |largest| largest.segments.len()),
        "median_depth": facts.median_depth,
    })
}

fn table(facts: &GraphFacts) -> String {
    let lengths = &facts.lengths;
    let ((n50, l50), aun) = (lengths.n(50), lengths.aun_tenths());
    let segments = lengths.count(0) as u64;
    let overlaps = match facts.overlaps {
        Some((least, most)) if least == most => format!("{least} bases"),
        Some((least, most)) => format!("{least} to {most} bases"),
        None => "not told".to_owned(),
    };
    let largest = facts
        .components
        .first()
        .map_or("none".to_owned(), |largest| {
            let segments = largest.segments.len() as u64;
            format!(
                "{} bases in {} segments",
                grouped(largest.bases),
                grouped(segments)
            )
        });
    let depth = facts
        .median_depth
        .map_or("not told".to_owned(), |depth| format!("{depth:.2}"));
    let rows = [
        ("segments", grouped(segments)),
        ("bases", grouped(lengths.total(0))),
        ("longest", grouped(lengths.largest())),
        ("shortest", grouped(lengths.smallest())),
        (
            "N50",
            format!("{} (L50 {})", grouped(n50), grouped(l50 as u64)),
        ),
        ("auN", format!("{}.{}", grouped(aun / 10), aun % 10)),
        ("links", grouped(facts.links)),
        ("overlaps", overlaps),
        (
            "dead ends",
            format!(
                "{} of {} ({})",
                grouped(facts.dead_ends),
                grouped(2 * segments),
                percent(facts.dead_ends, 2 * segments)
            ),
        ),
        ("without links", grouped(facts.isolated)),
        (
            "components",
            format!(
                "{}, {} of them circular",
                grouped(facts.components.len() as u64),
                grouped(facts.circular())
            ),
        ),
        ("largest", largest),
        ("median depth", depth),
    ];
    rows.iter()
        .map(|(name, value)| format!("{name:<15}{value}\n"))
        .collect()
}
