//! A graph as a picture, as Bandage draws it: segments are bands, as long as they are and as wide
//! as they were often read, and thin lines are links.
//!
//! A component is laid out so that distances on paper are those along the graph (module `stress`):
//! what is one path becomes a line, a ring becomes a ring, and what a repeat holds together lies
//! around it. Components are then packed into rows, the largest first. Nothing is drawn by chance:
//! equal graphs make equal pictures, on any machine.

mod chain;
mod pack;
mod paint;
mod stress;

use crate::contig::HeaderStyle;
use crate::gfa::{SegmentGraph, components, median_depth};
use crate::graph::{Edges, Outlines};
use chain::Placed;

/// Segments of a component that can be told apart in a picture.
const MOST: usize = 1500;
/// Segments of all components.
const MOST_OF_ALL: usize = 4000;

/// What is drawn of a segment.
#[derive(Clone, Debug)]
struct Band {
    name: String,
    length: u64,
    depth: Option<f64>,
}

/// A graph that is laid out, to be drawn in any width.
#[derive(Debug)]
pub struct Drawing {
    bands: Vec<Band>,
    edges: Edges,
    /// The components that are drawn, most bases first.
    placed: Vec<Placed>,
    /// Bases from one point of a band to the next.
    step: u64,
    /// Components and their segments that are not.
    left_out: (u64, u64),
    median_depth: Option<f64>,
}

impl Drawing {
    /// Of a graph of a file.
    pub fn of_segments(graph: &SegmentGraph) -> Drawing {
        let name = |segment| String::from_utf8_lossy(graph.name(segment)).into_owned();
        let bands = graph.segments().iter().enumerate();
        let bands = bands.map(|(segment, one)| Band {
            name: name(segment),
            length: one.length,
            depth: one.depth,
        });
        Drawing::of(bands.collect(), graph.edges().clone())
    }

    /// Of an assembly, with names of a style.
    pub fn of_contigs(graph: &Outlines, style: HeaderStyle) -> Drawing {
        let bands = graph.nodes().map(|way| Band {
            name: style.name(&graph.contig(way)),
            length: graph.length(way) as u64,
            depth: Some(graph.count(way) as f64 / graph.kmers(way) as f64),
        });
        Drawing::of(bands.collect(), graph.edges().clone())
    }

    fn of(bands: Vec<Band>, edges: Edges) -> Drawing {
        let lengths: Vec<u64> = bands.iter().map(|band| band.length).collect();
        let mut drawn = Vec::new();
        let (mut segments, mut left_out) = (0, (0, 0));
        for component in components(&edges, &lengths) {
            let more = component.segments.len();
            if more <= MOST && segments + more <= MOST_OF_ALL {
                segments += more;
                drawn.push(component);
            } else {
                left_out = (left_out.0 + 1, left_out.1 + more as u64);
            }
        }
        let step = chain::step(drawn.iter().map(|component| component.bases).sum());
        let placed = drawn
            .iter()
            .map(|component| Placed::of(component, &lengths, &edges, step))
            .collect();
        let depths = bands.iter().map(|band| (band.depth, band.length));
        Drawing {
            median_depth: median_depth(depths),
            placed,
            step,
            bands,
            edges,
            left_out,
        }
    }

    /// Components, and segments of them, that are too many to be drawn.
    pub fn left_out(&self) -> (u64, u64) {
        self.left_out
    }
}
