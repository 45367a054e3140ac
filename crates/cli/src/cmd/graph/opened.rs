//! Graphs that verbs read, and their segments by name.

use std::path::Path;

use gyrase_assemble::gfa::SegmentGraph;

use crate::failure::{Failure, Result};
use crate::session::Session;

/// Reads a graph; one without segments is told of.
pub fn open(path: &Path, session: &Session) -> Result<SegmentGraph> {
    let graph = SegmentGraph::open(path, session.memory)?;
    if graph.segments().is_empty() {
        tracing::warn!("{}: the graph has no segment", path.display());
    }
    session.note("inputs", path.display().to_string());
    Ok(graph)
}

/// The segments of names.
pub fn named(graph: &SegmentGraph, path: &Path, names: &[String]) -> Result<Vec<usize>> {
    let find = |name: &String| {
        graph.find(name.as_bytes()).ok_or_else(|| {
            let shown = graph.segments().len().min(3);
            let first: Vec<_> = (0..shown)
                .map(|segment| String::from_utf8_lossy(graph.name(segment)))
                .collect();
            let first = match first.is_empty() {
                true => "it has none".to_owned(),
                false => format!("its first are {}", first.join(", ")),
            };
            let path = path.display();
            Failure::usage(format!("{path} has no segment named {name}; {first}"))
        })
    };
    names.iter().map(find).collect()
}
