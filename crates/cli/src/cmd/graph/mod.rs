//! `gyrase graph`: what is done with graphs of assemblies.

mod draw;
mod info;
mod opened;
mod subgraph;
mod to_gfa;

use clap::{Args, Subcommand};

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase graph info asm/graph.gfa
  gyrase graph draw asm/graph.gfa -o graph.svg
  gyrase graph subgraph asm/graph.gfa --around contig_7 --distance 2 -o part.gfa
  gyrase graph to-gfa unitigs.fa -o unitigs.gfa

Graphs are GFA 1, of Gyrase or any other assembler, plain or compressed.";

/// Look into graphs of assemblies: GFA 1.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Graph {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say what a graph holds: segments, links, components, dead ends
    Info(info::Info),
    /// Draw a graph: SVG or PNG
    Draw(draw::Draw),
    /// Take the part of a graph around some segments
    Subgraph(subgraph::Subgraph),
    /// Make GFA 1 of unitigs that BCALM 2 or `gyrase unitigs` wrote as FASTA
    ToGfa(to_gfa::ToGfa),
}

impl Graph {
    /// Does it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Info(verb) => verb.run(session),
            What::Draw(verb) => verb.run(session),
            What::Subgraph(verb) => verb.run(session),
            What::ToGfa(verb) => verb.run(session),
        }
    }
}
