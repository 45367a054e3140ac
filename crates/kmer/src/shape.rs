//! What k-mers a run is about.

/// The longest k.
pub const MAX_K: usize = 127;

/// Length and strandedness of the k-mers of a run or a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    k: u8,
    stranded: bool,
}

/// A k outside 1 to 127.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("k must be from 1 to {MAX_K}, not {0}")]
pub struct ShapeError(pub usize);

impl Shape {
    /// k-mers of length `k`; canonical unless `stranded`.
    pub fn new(k: usize, stranded: bool) -> Result<Shape, ShapeError> {
        match u8::try_from(k) {
            Ok(short) if (1..=MAX_K).contains(&k) => Ok(Shape { k: short, stranded }),
            _ => Err(ShapeError(k)),
        }
    }

    /// Bases of a k-mer, 1 to 127.
    pub fn k(self) -> usize {
        usize::from(self.k)
    }

    /// True when a k-mer and its reverse complement are two different things.
    pub fn stranded(self) -> bool {
        self.stranded
    }

    /// Words of 64 bits that a k-mer takes, 1 to 4.
    pub fn words(self) -> usize {
        self.k().div_ceil(32)
    }

    /// Bases of a minimizer, a function of k alone.
    pub fn m(self) -> usize {
        match self.k() {
            k @ 1..=8 => k,
            k @ 9..=18 => k.div_ceil(2).max(8),
            19 | 20 => 9,
            21..=24 => 10,
            _ => 11,
        }
    }

    /// How many m-mers a k-mer holds: k - m + 1.
    pub fn window(self) -> usize {
        self.k() - self.m() + 1
    }
}

/// Runs a generic body with `$W` bound to the number of words of `$shape`.
#[macro_export]
macro_rules! with_words {
    ($shape:expr, $W:ident => $body:expr) => {
        match $shape.words() {
            1 => {
                const $W: usize = 1;
                $body
            }
            2 => {
                const $W: usize = 2;
                $body
            }
            3 => {
                const $W: usize = 3;
                $body
            }
            _ => {
                const $W: usize = 4;
                $body
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimizers_fit_every_k() {
        for k in 1..=MAX_K {
            let shape = Shape::new(k, false).unwrap();
            assert!(shape.m() >= 1 && shape.m() <= k && shape.m() <= 13, "k={k}");
            assert!(k <= 32 * shape.words() && k > 32 * (shape.words() - 1));
        }
        assert!(
            Shape::new(0, false).is_err()
                && Shape::new(128, false).is_err()
                && Shape::new(257, true).is_err()
        );
    }
}
