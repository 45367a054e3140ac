//! Graphs in files of any assembler: GFA 1.
//!
//! A **segment** is a sequence with a name; a **link** says that the end of one overlaps the
//! beginning of another, each read in one of its two directions. [`SegmentGraph`] keeps the text of
//! a file and knows where each line of it is, so that what is written of a part of a graph is what
//! stood there, whatever else its lines say.

mod error;
mod facts;
mod part;
mod read;
mod text;
mod unitigs;

use std::ops::Range;

use crate::graph::{Edges, Way};

pub use error::{GfaError, GfaProblem};
pub use facts::{Component, GraphFacts};
pub(crate) use facts::{components, median_depth};
pub use part::PartLines;
pub use unitigs::{Converted, unitigs_to_gfa};

/// A segment of a graph.
#[derive(Clone, Debug)]
pub struct GraphSegment {
    /// The line of the file, from 1.
    number: u32,
    line: Range<usize>,
    name: Range<usize>,
    /// Its bases, also where the file leaves the letters out and tells their number; 0 where it
    /// does not.
    pub length: u64,
    /// How often it was read, on average; `None` where the file does not say.
    pub depth: Option<f64>,
}

/// A link of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLink {
    /// What ends in it.
    pub from: Way,
    /// What begins in it.
    pub to: Way,
    /// Bases that both share; `None` where the file does not say.
    pub overlap: Option<u32>,
}

/// A graph as a file has it.
#[derive(Debug, Default)]
pub struct SegmentGraph {
    text: Vec<u8>,
    headers: Vec<Range<usize>>,
    segments: Vec<GraphSegment>,
    /// The segments by name.
    by_name: Vec<u32>,
    links: Vec<SegmentLink>,
    link_lines: Vec<Range<usize>>,
    /// Paths: their lines and the fields that name their segments.
    paths: Vec<(Range<usize>, Range<usize>)>,
    /// Lines of other kinds.
    others: u64,
    edges: Edges,
}

impl SegmentGraph {
    /// The segments, in the order of the file.
    pub fn segments(&self) -> &[GraphSegment] {
        &self.segments
    }

    /// The links, in the order of the file; some files have each in both directions.
    pub fn links(&self) -> &[SegmentLink] {
        &self.links
    }

    /// What follows each segment.
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// The name of a segment.
    pub fn name(&self, segment: usize) -> &[u8] {
        &self.text[self.segments[segment].name.clone()]
    }

    /// The segment of a name.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let order = |&segment: &u32| self.name(segment as usize).cmp(name);
        let place = self.by_name.binary_search_by(order).ok()?;
        Some(self.by_name[place] as usize)
    }
}
