//! Segments as chains of points, and where the points of a component lie.

use super::stress::{self, Point};
use crate::gfa::Component;
use crate::graph::{Edges, Way};

/// Points of a picture, beside the two that each segment has.
const POINTS: u64 = 700;
/// Points of a component, so that it is laid out in seconds.
const MOST_POINTS: usize = 3000;
/// Points of the smallest ring.
const RING: usize = 8;

/// Bases from one point of a chain to the next, for a picture of so many.
pub fn step(bases: u64) -> u64 {
    (bases / POINTS).max(1)
}

/// A component whose points have their places. Distances are in steps.
#[derive(Debug)]
pub struct Placed {
    /// Its segments.
    pub segments: Vec<usize>,
    /// Where the points of each begin, and the end of the last.
    starts: Vec<usize>,
    /// From 0 on in both directions.
    points: Vec<Point>,
    /// The largest of both.
    pub extent: Point,
}

impl Placed {
    /// Lays a component out.
    pub fn of(component: &Component, lengths: &[u64], edges: &Edges, step: u64) -> Placed {
        let segments = component.segments.clone();
        let starts = starts(component, lengths, edges, step);
        let last = starts[segments.len()];
        let mut next = vec![Vec::new(); last];
        let mut join = |a: usize, b: usize| {
            if a != b && !next[a].contains(&b) {
                next[a].push(b);
                next[b].push(a);
            }
        };
        for place in 0..segments.len() {
            let inner = starts[place]..starts[place + 1] - 1;
            inner.for_each(|point| join(point, point + 1));
        }
        let end = |way: Way| {
            let place = segments
                .binary_search(&way.node())
                .expect("links stay within a component");
            match way.is_backward() {
                true => starts[place],
                false => starts[place + 1] - 1,
            }
        };
        for &segment in &segments {
            let way = Way::forward(segment);
            for way in [way, way.flipped()] {
                for &to in edges.next(way) {
                    join(end(way), end(to.flipped()));
                }
            }
        }
        let points = stress::layout(&next);
        Placed::at(segments, starts, points)
    }

    fn at(segments: Vec<usize>, starts: Vec<usize>, mut points: Vec<Point>) -> Placed {
        let least = points.iter().fold([f64::MAX; 2], |least, point| {
            [least[0].min(point[0]), least[1].min(point[1])]
        });
        let mut extent = [0.0f64; 2];
        for point in &mut points {
            for axis in 0..2 {
                point[axis] -= least[axis];
                extent[axis] = extent[axis].max(point[axis]);
            }
        }
        Placed {
            segments,
            starts,
            points,
            extent,
        }
    }

    /// The points of one of its segments, by its place among them, from its first base on.
    pub fn points(&self, place: usize) -> &[Point] {
        &self.points[self.starts[place]..self.starts[place + 1]]
    }

    /// Where a way of it ends.
    pub fn end(&self, way: Way) -> Point {
        let place = self.segments.binary_search(&way.node());
        let points = self.points(place.expect("links stay within a component"));
        match way.is_backward() {
            true => points[0],
            false => points[points.len() - 1],
        }
    }
}

/// Where the points of each segment begin: two, and one more for each step.
fn starts(component: &Component, lengths: &[u64], edges: &Edges, step: u64) -> Vec<usize> {
    let least = |segment: usize| match edges.is_ring(Way::forward(segment)) {
        true => RING,
        false => 2,
    };
    let sum = |step: u64| {
        let mut starts = vec![0];
        for &segment in &component.segments {
            let points = (1 + lengths[segment] / step) as usize;
            starts.push(starts[starts.len() - 1] + points.max(least(segment)));
        }
        starts
    };
    let starts = sum(step);
    match starts[component.segments.len()] <= MOST_POINTS {
        true => starts,
        // Each as short as can be.
        false => sum(u64::MAX),
    }
}
