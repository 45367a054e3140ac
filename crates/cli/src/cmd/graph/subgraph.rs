//! `gyrase graph subgraph`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::things;
use serde_json::json;

use super::opened;
use crate::failure::Result;
use crate::places::or_standard_output;
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase graph subgraph asm/graph.gfa --around contig_7 -o part.gfa
  gyrase graph subgraph g.gfa.gz --around 12 --around 31 --distance 5 > part.gfa

The lines of the part are those of the graph, in their order. Paths are kept
that lead through nothing else.";

/// Take the part of a graph around some segments.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Subgraph {
    /// The graph, GFA 1, plain or compressed; `-` for a pipe
    #[arg(value_name = "GRAPH.gfa")]
    graph: PathBuf,

    /// A segment, by its name; may be given several times
    #[arg(long, value_name = "NAME", required = true)]
    around: Vec<String>,

    /// Links from such a segment to the last that is taken
    #[arg(long, value_name = "N", default_value_t = 1)]
    distance: u64,

    /// File to make, compressed where its name says so [default: standard output]
    #[arg(long, short, value_name = "FILE.gfa")]
    output: Option<PathBuf>,
}

impl Subgraph {
    /// Writes the part, and says how much it is.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.graph], [or_standard_output(&self.output)])?;
        let graph = opened::open(&self.graph, session)?;
        let around = opened::named(&graph, &self.graph, &self.around)?;
        let kept = graph.near(&around, self.distance);
        let mut sink = Sink::open(self.output.as_deref())?;
        let written = graph
            .write_part(&kept, &mut sink)
            .map_err(|source| sink.error(source))?;
        sink.finish()?;
        session.note(
            "counts",
            json!({
                "segments": written.segments, "links": written.links,
                "paths": written.paths, "left_out": written.left_out,
            }),
        );
        let left_out = match written.left_out {
            0 => String::new(),
            lines => format!(
                "; {} of paths and other kinds left out",
                things(lines, "line")
            ),
        };
        tracing::info!(
            segments = written.segments,
            links = written.links,
            "{}, {}{left_out}",
            things(written.segments, "segment"),
            things(written.links, "link")
        );
        Ok(())
    }
}
