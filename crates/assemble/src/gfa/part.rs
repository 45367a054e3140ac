//! A part of a graph, as the lines of its file.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::SegmentGraph;
use crate::graph::Way;

/// What of a graph was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartLines {
    /// Segments.
    pub segments: u64,
    /// Links between them.
    pub links: u64,
    /// Paths through them alone.
    pub paths: u64,
    /// Paths and lines of other kinds that the part lacks.
    pub left_out: u64,
}

impl SegmentGraph {
    /// The segments that are at most so many links away from one of `from`, in any direction.
    pub fn near(&self, from: &[usize], distance: u64) -> Vec<bool> {
        let mut near = vec![false; self.segments.len()];
        let mut queue = VecDeque::new();
        for &segment in from {
            near[segment] = true;
            queue.push_back((segment, 0));
        }
        while let Some((segment, away)) = queue.pop_front() {
            if away == distance {
                continue;
            }
            let way = Way::forward(segment);
            let both = [way, way.flipped()];
            for next in both.iter().flat_map(|&way| self.edges.next(way)) {
                if !std::mem::replace(&mut near[next.node()], true) {
                    queue.push_back((next.node(), away + 1));
                }
            }
        }
        near
    }

    /// Writes the lines of the segments that are `kept`, of the links between them and of the paths
    /// that need no others.
    ///
    /// # Errors
    /// As `out` has them.
    pub fn write_part(&self, kept: &[bool], out: &mut dyn Write) -> io::Result<PartLines> {
        let mut put = |line: &std::ops::Range<usize>| -> io::Result<()> {
            out.write_all(&self.text[line.clone()])?;
            out.write_all(b"\n")
        };
        let mut written = PartLines {
            left_out: self.others,
            ..PartLines::default()
        };
        self.headers.iter().try_for_each(&mut put)?;
        for (segment, _) in self.segments.iter().zip(kept).filter(|found| *found.1) {
            put(&segment.line)?;
            written.segments += 1;
        }
        for (link, line) in self.links.iter().zip(&self.link_lines) {
            if kept[link.from.node()] && kept[link.to.node()] {
                put(line)?;
                written.links += 1;
            }
        }
        for (line, names) in &self.paths {
            let names = self.text[names.clone()].split(|&byte| byte == b',' || byte == b';');
            let is_kept = |name: &[u8]| {
                let name = name.strip_suffix(b"+").or(name.strip_suffix(b"-"));
                name.and_then(|name| self.find(name))
                    .is_some_and(|found| kept[found])
            };
            if names.into_iter().all(is_kept) {
                put(line)?;
                written.paths += 1;
            } else {
                written.left_out += 1;
            }
        }
        Ok(written)
    }
}
