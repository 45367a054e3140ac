//! The length adjustment: what the ends of sequences take from a search space.
//!
//! An alignment that begins near an end has no room to reach its score. So the space is
//! `(m - l)(n - N l)` pairs for a query of m, N subjects of n letters together, and l the length
//! that a chance alignment is expected to have: the whole part of the solution of
//! `l = alpha / lambda * ln(K (m - l)(n - N l)) + beta`. After Altschul and others, Nucleic Acids
//! Res. 29 (2001) 351.

use super::Karlin;

/// Steps in which BLAST+ seeks the adjustment; what it has then is taken.
const STEPS: u32 = 20;

/// What is searched: one query in all subjects. All of them, whatever part is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchSpace {
    /// Letters of the query.
    pub query: u64,
    /// Letters of all subjects.
    pub letters: u64,
    /// How many subjects there are.
    pub sequences: u64,
}

impl SearchSpace {
    /// The length adjustment, in letters: 0 where nothing would be left.
    pub fn adjustment(&self, karlin: &Karlin) -> u64 {
        let room = Room::of(self, karlin);
        room.most().map_or(0, |most| room.adjustment(most))
    }

    /// Pairs of positions that are left: the effective search space, 0 for an empty query.
    pub fn effective(&self, karlin: &Karlin) -> f64 {
        let adjustment = self.adjustment(karlin);
        let letters = self.letters as f64 - self.sequences as f64 * adjustment as f64;
        letters.max(1.0) * (self.query as f64 - adjustment as f64)
    }
}

/// The equation in numbers.
struct Room {
    query: f64,
    letters: f64,
    sequences: f64,
    k: f64,
    slope: f64,
    beta: f64,
}

impl Room {
    fn of(space: &SearchSpace, karlin: &Karlin) -> Room {
        Room {
            query: space.query as f64,
            letters: space.letters as f64,
            sequences: space.sequences as f64,
            k: karlin.k,
            slope: karlin.alpha / karlin.lambda,
            beta: karlin.beta,
        }
    }

    /// The largest length that leaves `K (m - l)(n - N l)` at max(m, n); `None` if none does.
    fn most(&self) -> Option<f64> {
        let sum = self.query * self.sequences + self.letters;
        let product = self.letters * self.query - self.query.max(self.letters) / self.k;
        let root = (sum * sum - 4.0 * self.sequences * product).sqrt();
        (product >= 0.0 && sum > 0.0).then(|| 2.0 * product / (sum + root))
    }

    /// The length that follows from a length.
    fn next(&self, length: f64) -> f64 {
        let pairs = (self.query - length) * (self.letters - self.sequences * length);
        self.slope * (self.k.ln() + pairs.ln()) + self.beta
    }

    fn adjustment(&self, most: f64) -> u64 {
        let (mut low, mut high) = (0.0, most);
        let mut length = 0.0;
        for step in 1..=STEPS {
            let next = self.next(length);
            if next >= length {
                low = length;
                if next - low <= 1.0 {
                    let up = low.ceil();
                    let reached = up <= high && self.next(up) >= up;
                    return if reached { up as u64 } else { low as u64 };
                }
                if low == high {
                    break;
                }
            } else {
                high = length;
            }
            length = match step {
                _ if (low..=high).contains(&next) => next,
                1 => high,
                _ => f64::midpoint(low, high),
            };
        }
        low as u64
    }
}
