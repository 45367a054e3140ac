//! GFA 1 from text.

use std::ops::Range;
use std::path::Path;

use super::text::{fields, lines, shown, whole};
use super::{GfaError, GfaProblem, GraphSegment, SegmentGraph, SegmentLink};
use crate::graph::{Edges, Way};

impl SegmentGraph {
    /// Reads a file, compressed or not; `-` is standard input. The text may take half of `memory`.
    ///
    /// # Errors
    /// The file cannot be read, or a line breaks the format.
    pub fn open(path: &Path, memory: u64) -> Result<SegmentGraph, GfaError> {
        let text = whole(path, memory / 2)?;
        SegmentGraph::parse(text).map_err(|(line, problem)| GfaError::Line {
            path: path.to_path_buf(),
            line,
            problem,
        })
    }

    /// Reads a text; an error has the number of its line.
    pub(crate) fn parse(text: Vec<u8>) -> Result<SegmentGraph, (u64, GfaProblem)> {
        let mut reading = Reading::default();
        for (number, line) in lines(&text) {
            reading
                .line(&text, number, line)
                .map_err(|problem| (number, problem))?;
        }
        let Reading { mut graph, ends } = reading;
        graph.text = text;
        graph.by_name = by_name(&graph)?;
        for (number, overlap, ends) in ends {
            let [from, to] = ends.map(|(name, backward)| way(&graph, name, backward));
            let (from, to) = from
                .and_then(|from| Ok((from, to?)))
                .map_err(|problem| (number, problem))?;
            graph.links.push(SegmentLink { from, to, overlap });
        }
        graph.edges = edges(&graph);
        Ok(graph)
    }
}

/// The segments in the order of their names; no two have one.
fn by_name(graph: &SegmentGraph) -> Result<Vec<u32>, (u64, GfaProblem)> {
    let mut order: Vec<u32> = (0..graph.segments.len() as u32).collect();
    order.sort_by(|&a, &b| graph.name(a as usize).cmp(graph.name(b as usize)));
    for two in order.windows(2) {
        let [first, second] = [two[0], two[1]].map(|segment| segment as usize);
        if graph.name(first) == graph.name(second) {
            let problem = GfaProblem::Twice {
                name: shown(graph.name(first)),
                of: "line",
                first: graph.segments[first].number.into(),
            };
            return Err((graph.segments[second].number.into(), problem));
        }
    }
    Ok(order)
}

fn way(graph: &SegmentGraph, name: Range<usize>, backward: bool) -> Result<Way, GfaProblem> {
    let name = &graph.text[name];
    let Some(segment) = graph.find(name) else {
        return Err(GfaProblem::Missing { name: shown(name) });
    };
    let way = Way::forward(segment);
    Ok(if backward { way.flipped() } else { way })
}

/// The links in both directions.
fn edges(graph: &SegmentGraph) -> Edges {
    let both = graph.links.iter().flat_map(|link| {
        [
            (link.from, link.to),
            (link.to.flipped(), link.from.flipped()),
        ]
    });
    Edges::of(graph.segments.len(), both.collect(), Vec::new())
}

/// A name, and whether it is read backward.
type End = (Range<usize>, bool);

#[derive(Default)]
struct Reading {
    graph: SegmentGraph,
    /// Links: line, overlap, and what they name, which may come later.
    ends: Vec<(u64, Option<u32>, [End; 2])>,
}

impl Reading {
    fn line(&mut self, text: &[u8], number: u64, line: Range<usize>) -> Result<(), GfaProblem> {
        let bytes = &text[line.clone()];
        match bytes {
            [] | [b'#', ..] => {}
            [b'H'] | [b'H', b'\t', ..] => {
                if bytes.windows(6).any(|tag| tag == b"VN:Z:2") {
                    return Err(GfaProblem::Version);
                }
                self.graph.headers.push(line);
            }
            [b'S', b'\t', ..] => self.segment(text, number, line)?,
            [b'L', b'\t', ..] => self.link(text, number, line)?,
            [b'P', b'\t', ..] => {
                let names = fields(text, line.clone()).nth(2).unwrap_or(0..0);
                self.graph.paths.push((line, names));
            }
            [b'E' | b'F' | b'G' | b'O' | b'U', b'\t', ..] => return Err(GfaProblem::Version),
            [kind, b'\t', ..] if kind.is_ascii_uppercase() => self.graph.others += 1,
            _ => {
                return Err(GfaProblem::Kind {
                    found: shown(bytes),
                });
            }
        }
        Ok(())
    }

    fn segment(&mut self, text: &[u8], number: u64, line: Range<usize>) -> Result<(), GfaProblem> {
        let all: Vec<Range<usize>> = fields(text, line.clone()).skip(1).collect();
        let [name, letters, tags @ ..] = all.as_slice() else {
            return Err(fields_missing("a segment", "a name and letters", all.len()));
        };
        let (name, letters) = (name.clone(), &text[letters.clone()]);
        let told = shown(&text[name.clone()]);
        let is_left_out = letters == b"*";
        let is_letter = |&byte: &u8| byte.is_ascii_alphabetic() || byte == b'=' || byte == b'.';
        if !is_left_out && (letters.is_empty() || !letters.iter().all(is_letter)) {
            return Err(GfaProblem::Letters { name: told });
        }
        let tags = Tags::of(text, tags)?;
        let length = match (is_left_out, tags.length) {
            (true, length) => length.unwrap_or(0),
            (false, Some(length)) if length != letters.len() as u64 => {
                return Err(GfaProblem::Length {
                    name: told,
                    found: letters.len() as u64,
                    told: length,
                });
            }
            (false, _) => letters.len() as u64,
        };
        self.graph.segments.push(GraphSegment {
            number: number as u32,
            line,
            name,
            length,
            depth: tags.depth(length),
        });
        Ok(())
    }

    fn link(&mut self, text: &[u8], number: u64, line: Range<usize>) -> Result<(), GfaProblem> {
        let all: Vec<Range<usize>> = fields(text, line.clone()).skip(1).collect();
        let [from, one, to, other, more @ ..] = all.as_slice() else {
            let expected = "two names with a direction each";
            return Err(fields_missing("a link", expected, all.len()));
        };
        let direction = |field: &Range<usize>| match &text[field.clone()] {
            b"+" => Ok(false),
            b"-" => Ok(true),
            other => Err(GfaProblem::Direction {
                found: shown(other),
            }),
        };
        let ends = [
            (from.clone(), direction(one)?),
            (to.clone(), direction(other)?),
        ];
        let overlap = more.first().map_or(Ok(None), |field| {
            let cigar = &text[field.clone()];
            overlap(cigar).ok_or_else(|| GfaProblem::Overlap {
                found: shown(cigar),
            })
        })?;
        self.graph.link_lines.push(line);
        self.ends.push((number, overlap, ends));
        Ok(())
    }
}

fn fields_missing(kind: &'static str, expected: &'static str, found: usize) -> GfaProblem {
    GfaProblem::Fields {
        kind,
        expected,
        found,
    }
}

/// The bases of the first sequence that a CIGAR aligns; `None` in it where nobody says.
fn overlap(cigar: &[u8]) -> Option<Option<u32>> {
    if cigar == b"*" {
        return Some(None);
    }
    let (mut bases, mut number) = (0u32, None);
    for &byte in cigar {
        match byte {
            b'0'..=b'9' => {
                let digits: u32 = number.unwrap_or(0);
                number = Some(
                    digits
                        .checked_mul(10)?
                        .checked_add(u32::from(byte - b'0'))?,
                );
            }
            b'M' | b'=' | b'X' | b'D' | b'N' => bases = bases.checked_add(number.take()?)?,
            b'I' | b'S' | b'H' | b'P' => _ = number.take()?,
            _ => return None,
        }
    }
    (number.is_none() && !cigar.is_empty()).then_some(Some(bases))
}

/// What the tags of a segment say.
#[derive(Default)]
struct Tags {
    length: Option<u64>,
    depth: Option<f64>,
    count: Option<u64>,
}

impl Tags {
    fn of(text: &[u8], tags: &[Range<usize>]) -> Result<Tags, GfaProblem> {
        let mut found = Tags::default();
        for tag in tags.iter().map(|tag| &text[tag.clone()]) {
            let Some((name, value)) = tag.split_at_checked(5) else {
                continue;
            };
            let value = std::str::from_utf8(value).unwrap_or_default();
            let understood = match name {
                b"LN:i:" => set(&mut found.length, value.parse()),
                b"DP:f:" | b"dp:f:" | b"DP:i:" | b"dp:i:" => {
                    let depth = value.parse().ok().filter(|depth: &f64| depth.is_finite());
                    set(&mut found.depth, depth.ok_or(()))
                }
                b"KC:i:" | b"RC:i:" | b"FC:i:" => set(&mut found.count, value.parse()),
                _ => true,
            };
            if !understood {
                return Err(GfaProblem::Tag { tag: shown(tag) });
            }
        }
        Ok(found)
    }

    /// How often each base was read; counts are of k-mers, fragments or reads, as Bandage has it.
    fn depth(&self, length: u64) -> Option<f64> {
        let counted = || Some(self.count? as f64 / length.max(1) as f64);
        self.depth.or_else(counted)
    }
}

/// Sets the first of several values; whether there is one.
fn set<T, E>(place: &mut Option<T>, value: Result<T, E>) -> bool {
    let Ok(value) = value else {
        return false;
    };
    place.get_or_insert(value);
    true
}
