//! `gyrase graph draw`.

use std::path::PathBuf;

use clap::Args;
use gyrase_assemble::Drawing;
use gyrase_picture::words::things;

use super::opened;
use crate::failure::Result;
use crate::places::{Picture, or_standard_output};
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase graph draw asm/graph.gfa -o graph.svg
  gyrase graph draw asm/graph.gfa -o graph.png --width 1600
  gyrase graph subgraph g.gfa.gz --around 12 | gyrase graph draw - -o part.svg

A band is a segment: as long as it is, and wider where it was read more often;
thin lines are links. Components come one after the other, the largest first.";

/// Draw a graph: SVG or PNG.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Draw {
    /// The graph, GFA 1, plain or compressed; `-` for a pipe
    #[arg(value_name = "GRAPH.gfa")]
    graph: PathBuf,

    /// File to make, FILE.svg or FILE.png [default: SVG to standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Width of the picture
    #[arg(
        long, value_name = "PIXELS", default_value_t = 960,
        value_parser = clap::value_parser!(u32).range(200..=10_000),
    )]
    width: u32,
}

impl Draw {
    /// Draws it.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = or_standard_output(&self.output);
        let picture = Picture::of(output)?;
        session.keep_apart([&self.graph], [output])?;
        let graph = opened::open(&self.graph, session)?;
        let drawing = Drawing::of_segments(&graph);
        let (components, segments) = drawing.left_out();
        if components > 0 {
            tracing::warn!(
                components,
                segments,
                "{} with {} not drawn: they are too many to be told apart; `gyrase graph subgraph` \
                 takes a part of a graph",
                things(components, "component"),
                things(segments, "segment")
            );
        }
        let title = self.graph.file_name().unwrap_or_default();
        let svg = drawing.svg(&title.to_string_lossy(), f64::from(self.width));
        sink::write_all(self.output.as_deref(), &picture.finish(svg))
    }
}
