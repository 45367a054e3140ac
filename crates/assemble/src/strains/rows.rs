//! Bubbles in a row: where one ends another begins.

use std::collections::HashMap;

use super::bubble::Bubble;
use crate::Error;
use crate::among::Among;
use crate::graph::{Graph, SharedGraph, Way};

/// What follows the node before a bubble.
#[derive(Clone, Copy)]
struct Row {
    /// The order of the bubble, and whether it is read from its end: the last is kept.
    order: (u64, bool),
    /// k-mers between both nodes.
    between: u64,
    end: End,
}

/// A node behind a bubble.
#[derive(Clone, Copy)]
struct End {
    way: Way,
    kmers: u64,
    /// Nothing follows.
    is_dead: bool,
}

/// Bytes of an end, and of a row with the node before it.
const END: usize = 13;
const ROW: usize = 4 + 9 + 8 + END;

/// A bubble whose row is followed.
struct Followed {
    bubble: usize,
    kmers: u64,
    at: End,
    /// Where it goes on in the other direction.
    back: Option<End>,
}

/// Those of some bubbles whose row is so long, or ends where nothing follows.
///
/// Collective.
pub fn long(
    bubbles: Vec<Bubble>,
    least: u64,
    graph: &SharedGraph,
    among: &Among,
) -> Result<Vec<Bubble>, Error> {
    if least == 0 {
        return Ok(bubbles);
    }
    let ends = ends(&bubbles, graph, among)?;
    let rows = rows(&bubbles, &ends, graph, among)?;
    let mut is_long = vec![false; bubbles.len()];
    let follow = |(bubble, &[back, at]): (usize, &[End; 2])| Followed {
        bubble,
        kmers: bubbles[bubble].kmers() + at.kmers,
        at,
        back: Some(back),
    };
    let mut open: Vec<Followed> = ends.iter().enumerate().map(follow).collect();
    while among.sum(open.len())? > 0 {
        let question = |at: usize| graph.question(open[at].at.way);
        let all: Vec<usize> = (0..open.len()).collect();
        let answers = among.ask(&all, question, |way| {
            let way = Way::of_bytes(way);
            rows.get(&way).map_or([0; ROW], |row| row.to_bytes(way))
        })?;
        let (mut left, mut answers) = (Vec::new(), answers.into_iter());
        for mut one in open {
            let row = Row::of_bytes(answers.next().expect("an answer for each")).map(|row| row.1);
            match row.filter(|_| one.kmers < least) {
                Some(row) => {
                    one.kmers += row.between + row.end.kmers;
                    one.at = row.end;
                    left.push(one);
                }
                None if one.at.is_dead => is_long[one.bubble] = true,
                None => match one.back.take() {
                    Some(back) => {
                        one.kmers += back.kmers;
                        one.at = back;
                        left.push(one);
                    }
                    None => is_long[one.bubble] = one.kmers >= least,
                },
            }
        }
        open = left;
    }
    let mut is_long = is_long.into_iter();
    let mut bubbles = bubbles;
    bubbles.retain(|_| is_long.next().expect("there are as many"));
    Ok(bubbles)
}

/// The nodes before and behind bubbles, as they are entered from these.
///
/// Collective.
fn ends(bubbles: &[Bubble], graph: &SharedGraph, among: &Among) -> Result<Vec<[End; 2]>, Error> {
    let own = graph.own();
    let ways = |bubble: &Bubble| [bubble.ends[0].flipped(), bubble.ends[1]];
    let all: Vec<Way> = bubbles.iter().flat_map(ways).collect();
    let answers = among.ask(
        &all,
        |way| graph.question(way),
        |way| {
            let way = Way::of_bytes(way);
            End::of(own, graph.own_way(way), way).to_bytes()
        },
    )?;
    let ends: Vec<End> = answers.into_iter().map(End::of_bytes).collect();
    Ok(ends.as_chunks().0.to_vec())
}

/// The rows that begin at nodes of this process.
///
/// Collective.
fn rows(
    bubbles: &[Bubble],
    ends: &[[End; 2]],
    graph: &SharedGraph,
    among: &Among,
) -> Result<HashMap<Way, Row>, Error> {
    let both = |(bubble, &[back, at]): (&Bubble, &[End; 2])| {
        let [from, to] = bubble.ends;
        let row = |is_back, end| Row {
            order: (bubble.order, is_back),
            between: bubble.kmers(),
            end,
        };
        [(from, row(false, at)), (to.flipped(), row(true, back))]
    };
    let all: Vec<(Way, Row)> = bubbles.iter().zip(ends).flat_map(both).collect();
    let mut rows: HashMap<Way, Row> = HashMap::new();
    let word = |(way, row): (Way, Row)| (graph.owner(way.node()), row.to_bytes(way));
    among.tell(&all, word, |bytes| {
        let (way, row) = Row::of_bytes(bytes).expect("a row is told");
        let kept = rows.entry(way).or_insert(row);
        if row.order > kept.order {
            *kept = row;
        }
    })?;
    Ok(rows)
}

impl End {
    fn of(own: &Graph, own_way: Way, way: Way) -> End {
        End {
            way,
            kmers: own.kmers(own_way),
            is_dead: own.next(own_way).is_empty(),
        }
    }

    fn to_bytes(self) -> [u8; END] {
        let mut bytes = [0; END];
        bytes[..4].copy_from_slice(&self.way.to_bytes());
        bytes[4..12].copy_from_slice(&self.kmers.to_le_bytes());
        bytes[12] = u8::from(self.is_dead);
        bytes
    }

    fn of_bytes(bytes: [u8; END]) -> End {
        let (way, rest) = bytes.split_first_chunk().expect("four bytes of thirteen");
        let (kmers, rest) = rest.split_first_chunk().expect("eight of the others");
        End {
            way: Way::of_bytes(*way),
            kmers: u64::from_le_bytes(*kmers),
            is_dead: rest[0] > 0,
        }
    }
}

impl Row {
    fn to_bytes(self, way: Way) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        bytes[..4].copy_from_slice(&way.to_bytes());
        bytes[4..12].copy_from_slice(&self.order.0.to_le_bytes());
        // No row is all zeros.
        bytes[12] = 2 | u8::from(self.order.1);
        bytes[13..21].copy_from_slice(&self.between.to_le_bytes());
        bytes[21..].copy_from_slice(&self.end.to_bytes());
        bytes
    }

    /// Nothing where there is no row.
    fn of_bytes(bytes: [u8; ROW]) -> Option<(Way, Row)> {
        let number = |at: usize| {
            let eight = bytes[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(eight)
        };
        let way = Way::of_index(number(0) as u32 as usize);
        let row = Row {
            order: (number(4), bytes[12] & 1 == 1),
            between: number(13),
            end: End::of_bytes(bytes[21..].try_into().expect("an end is left")),
        };
        (bytes[12] > 0).then_some((way, row))
    }
}
