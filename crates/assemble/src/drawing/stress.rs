//! Places for points so that their distances are those along the edges between them.
//!
//! The sum over all pairs of `(distance on paper / distance along edges - 1)²`, the *stress*, is
//! made small point by point (Gansner, Koren, North 2004, doi:10.1007/978-3-540-31843-9_25). It
//! begins with the two directions in which distances to some far points differ most (Brandes, Pich
//! 2006, doi:10.1007/978-3-540-70904-6_6). Only sums, products, quotients and roots are taken, in
//! one order: every machine has the same.

use std::collections::VecDeque;

/// Horizontal and vertical.
pub type Point = [f64; 2];

/// Far points at most.
const PIVOTS: usize = 40;
/// Rounds at most, in each of which every point is moved.
const ROUNDS: usize = 60;
/// Rounds end when all points together move less than so much of a step each.
const STILL: f32 = 1e-3;
/// Points that are looked at side by side.
const LANES: usize = 8;
/// So far is a point from itself, and from those that fill the last lanes: they weigh nothing.
const NOWHERE: f32 = 1e18;
/// Multiplications that find a direction.
const TURNS: usize = 60;

/// Places for connected points, each with those that an edge leads to. The widest direction is
/// horizontal.
pub fn layout(next: &[Vec<usize>]) -> Vec<Point> {
    let distances: Vec<Vec<u16>> = (0..next.len()).map(|from| steps(next, from)).collect();
    let mut places = Places::of(&begin(&distances), &distances);
    for _ in 0..ROUNDS {
        let moved: f32 = (0..next.len()).map(|point| places.relax(point)).sum();
        if moved < STILL * next.len() as f32 {
            break;
        }
    }
    let mut points = places.points(next.len());
    turn(&mut points);
    points
}

/// Edges from a point to every other.
fn steps(next: &[Vec<usize>], from: usize) -> Vec<u16> {
    let mut steps = vec![u16::MAX; next.len()];
    let mut queue = VecDeque::from([from]);
    steps[from] = 0;
    while let Some(point) = queue.pop_front() {
        for &other in &next[point] {
            if steps[other] == u16::MAX {
                steps[other] = steps[point] + 1;
                queue.push_back(other);
            }
        }
    }
    steps
}

/// Points while they are moved.
struct Places {
    x: Vec<f32>,
    y: Vec<f32>,
    /// For each point the distances along edges to all.
    distances: Vec<f32>,
}

impl Places {
    fn of(points: &[Point], distances: &[Vec<u16>]) -> Places {
        let padded = points.len().next_multiple_of(LANES);
        let axis = |axis: usize| {
            let mut axis: Vec<f32> = points.iter().map(|point| point[axis] as f32).collect();
            axis.resize(padded, 0.0);
            axis
        };
        let mut all = Vec::with_capacity(padded * points.len());
        for row in distances {
            let to = |&steps: &u16| {
                if steps == 0 {
                    NOWHERE
                } else {
                    f32::from(steps)
                }
            };
            all.extend(row.iter().map(to));
            all.resize(all.len() + padded - row.len(), NOWHERE);
        }
        Places {
            x: axis(0),
            y: axis(1),
            distances: all,
        }
    }

    /// Moves a point to where the others want it, the near ones most; how far.
    fn relax(&mut self, point: usize) -> f32 {
        let (own_x, own_y) = (self.x[point], self.y[point]);
        let row = &self.distances[point * self.x.len()..][..self.x.len()];
        let (mut sum_x, mut sum_y) = ([0.0f32; LANES], [0.0f32; LANES]);
        let mut weights = [0.0f32; LANES];
        let (rows, _) = row.as_chunks::<LANES>();
        let (xs, _) = self.x.as_chunks::<LANES>();
        let (ys, _) = self.y.as_chunks::<LANES>();
        for ((distances, xs), ys) in rows.iter().zip(xs).zip(ys) {
            for lane in 0..LANES {
                let distance = distances[lane];
                let (away_x, away_y) = (own_x - xs[lane], own_y - ys[lane]);
                let length = (away_x * away_x + away_y * away_y).sqrt().max(1e-6);
                let (weight, stretch) = (1.0 / (distance * distance), distance / length);
                sum_x[lane] += weight * (xs[lane] + stretch * away_x);
                sum_y[lane] += weight * (ys[lane] + stretch * away_y);
                weights[lane] += weight;
            }
        }
        let all: f32 = weights.iter().sum();
        if all < 1.0 / NOWHERE {
            return 0.0;
        }
        let place = [sum_x, sum_y].map(|sum| sum.iter().sum::<f32>() / all);
        (self.x[point], self.y[point]) = (place[0], place[1]);
        let (x, y) = (place[0] - own_x, place[1] - own_y);
        (x * x + y * y).sqrt()
    }

    fn points(&self, count: usize) -> Vec<Point> {
        (0..count)
            .map(|point| [self.x[point], self.y[point]].map(f64::from))
            .collect()
    }
}

/// The first places: how distances to far points differ, in the two directions in which they do so
/// most.
fn begin(distances: &[Vec<u16>]) -> Vec<Point> {
    let pivots = pivots(distances);
    let rows = centred(distances, &pivots);
    let first = direction(&rows, None);
    let second = direction(&rows, Some(&first));
    let along = |row: &[f64], direction: &[f64]| -> f64 {
        row.iter().zip(direction).map(|(a, b)| a * b).sum()
    };
    let places = rows
        .iter()
        .map(|row| [along(row, &first), along(row, &second)]);
    let places: Vec<Point> = places.collect();
    let scale = scale(distances, &pivots, &places);
    let place = |(point, place): (usize, &Point)| {
        // Points with the same distances to all are not to lie in one place.
        let apart = [point % 7, point % 11].map(|odd| (odd as f64 - 3.0) * 0.003);
        [0, 1].map(|axis| scale * place[axis] + apart[axis])
    };
    places.iter().enumerate().map(place).collect()
}

/// What makes distances on paper those along the edges to far points, as well as can be.
fn scale(distances: &[Vec<u16>], pivots: &[usize], places: &[Point]) -> f64 {
    let (mut wanted, mut there) = (0.0, 0.0);
    for &pivot in pivots {
        for (place, &steps) in places.iter().zip(&distances[pivot]) {
            let [x, y] = [0, 1].map(|axis| place[axis] - places[pivot][axis]);
            let (square, steps) = (x * x + y * y, f64::from(steps.max(1)));
            wanted += square.sqrt() / steps;
            there += square / (steps * steps);
        }
    }
    if there > 0.0 { wanted / there } else { 0.0 }
}

/// For each point the squares of the distances to far points, less the means of rows and columns.
fn centred(distances: &[Vec<u16>], pivots: &[usize]) -> Vec<Vec<f64>> {
    let square = |pivot: usize, point: usize| {
        let distance = f64::from(distances[pivot][point]);
        distance * distance
    };
    let (points, columns) = (distances.len() as f64, pivots.len() as f64);
    let means: Vec<f64> = pivots
        .iter()
        .map(|&pivot| (0..distances.len()).map(|p| square(pivot, p)).sum::<f64>() / points)
        .collect();
    let all = means.iter().sum::<f64>() / columns;
    (0..distances.len())
        .map(|point| {
            let row: Vec<f64> = pivots.iter().map(|&pivot| square(pivot, point)).collect();
            let mean = row.iter().sum::<f64>() / columns;
            let centre = |(square, column): (&f64, &f64)| -0.5 * (square - mean - column + all);
            row.iter().zip(&means).map(centre).collect()
        })
        .collect()
}

/// Points, each the farthest from those before.
fn pivots(distances: &[Vec<u16>]) -> Vec<usize> {
    let mut nearest = vec![u16::MAX; distances.len()];
    let mut pivots = vec![0];
    while pivots.len() < PIVOTS.min(distances.len()) {
        let last = pivots[pivots.len() - 1];
        for (near, &distance) in nearest.iter_mut().zip(&distances[last]) {
            *near = distance.min(*near);
        }
        let farthest =
            (0..distances.len()).max_by_key(|&point| (nearest[point], usize::MAX - point));
        match farthest {
            Some(point) if nearest[point] > 0 => pivots.push(point),
            _ => break,
        }
    }
    pivots
}

/// The direction in which rows differ most, and which has nothing of another.
fn direction(rows: &[Vec<f64>], without: Option<&[f64]>) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut direction: Vec<f64> = (0..columns)
        .map(|column| 1.0 + (column % 5) as f64)
        .collect();
    for _ in 0..TURNS {
        if let Some(without) = without {
            let part = product(&direction, without);
            for (own, other) in direction.iter_mut().zip(without) {
                *own -= part * other;
            }
        }
        let mut turned = vec![0.0; columns];
        for row in rows {
            let part = product(row, &direction);
            for (sum, value) in turned.iter_mut().zip(row) {
                *sum += part * value;
            }
        }
        let length = product(&turned, &turned).sqrt();
        if length < 1e-9 {
            return vec![0.0; columns];
        }
        direction = turned.iter().map(|value| value / length).collect();
    }
    direction
}

/// Turns all points so that they are widest horizontally.
fn turn(points: &mut [Point]) {
    let count = points.len() as f64;
    let mean = [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / count);
    let mut spread = [0.0; 3];
    for point in points.iter_mut() {
        *point = [point[0] - mean[0], point[1] - mean[1]];
        spread[0] += point[0] * point[0];
        spread[1] += point[0] * point[1];
        spread[2] += point[1] * point[1];
    }
    let [xx, xy, yy] = spread;
    let most = (xx + yy + ((xx - yy) * (xx - yy) + 4.0 * xy * xy).sqrt()) / 2.0;
    let axis = match xy.abs() > 1e-9 * (xx + yy) {
        true => [most - yy, xy],
        false if yy > xx => [0.0, 1.0],
        false => [1.0, 0.0],
    };
    let length = (axis[0] * axis[0] + axis[1] * axis[1]).sqrt();
    let [along, across] = axis.map(|part| part / length);
    for point in points {
        let [x, y] = *point;
        *point = [x * along + y * across, y * along - x * across];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away(a: Point, b: Point) -> f64 {
        let [x, y] = [a[0] - b[0], a[1] - b[1]];
        (x * x + y * y).sqrt()
    }

    #[test]
    fn a_path_is_a_horizontal_line() {
        let next: Vec<Vec<usize>> = (0..30usize)
            .map(|point| {
                let both = [
                    point.checked_sub(1),
                    Some(point + 1).filter(|&next| next < 30),
                ];
                both.into_iter().flatten().collect()
            })
            .collect();
        let points = layout(&next);
        for two in points.windows(2) {
            assert!((away(two[0], two[1]) - 1.0).abs() < 0.05, "{points:?}");
            assert!((two[0][1] - two[1][1]).abs() < 0.05);
        }
    }

    #[test]
    fn a_ring_is_a_ring() {
        let next: Vec<Vec<usize>> = (0..40).map(|p| vec![(p + 39) % 40, (p + 1) % 40]).collect();
        let points = layout(&next);
        let radii: Vec<f64> = points.iter().map(|&point| away(point, [0.0; 2])).collect();
        let mean = radii.iter().sum::<f64>() / 40.0;
        assert!(mean > 5.0);
        assert!(
            radii
                .iter()
                .all(|radius| (radius / mean - 1.0).abs() < 0.05),
            "{radii:?}"
        );
    }

    #[test]
    fn one_point_and_points_that_are_alike_have_places() {
        assert_eq!(layout(&[Vec::new()]).len(), 1);
        // A star: all but the middle are as far from everything.
        let mut next = vec![vec![0]; 9];
        next[0] = (1..9).collect();
        let points = layout(&next);
        for a in 1..9 {
            for b in 1..a {
                assert!(away(points[a], points[b]) > 0.3, "{points:?}");
            }
        }
    }
}
