//! Matrices: the score of every pair of residues.

mod tables;

use crate::residue::{ANY, BORDER, CODES, code};
use tables::Triangle;

/// The score of a pair that no alignment may hold: one with a border, or with an unused code.
/// Less than minus three times the best score of every matrix here.
pub const FORBIDDEN: i8 = -64;

/// Letters that the tables have scores for; U and O borrow theirs.
const SCORED: usize = 25;

/// Scores of pairs of residues by their codes, as BLAST+ 2.12 has them.
///
/// U scores as C and O as X. A pair with [`BORDER`] or an unused code is [`FORBIDDEN`].
#[derive(Debug, PartialEq, Eq)]
pub struct Matrix {
    name: &'static str,
    rows: [[i8; CODES]; CODES],
}

static ALL: [Matrix; 8] = [
    Matrix::of("BLOSUM45", &tables::BLOSUM45),
    Matrix::of("BLOSUM50", &tables::BLOSUM50),
    Matrix::of("BLOSUM62", &tables::BLOSUM62),
    Matrix::of("BLOSUM80", &tables::BLOSUM80),
    Matrix::of("BLOSUM90", &tables::BLOSUM90),
    Matrix::of("PAM30", &tables::PAM30),
    Matrix::of("PAM70", &tables::PAM70),
    Matrix::of("PAM250", &tables::PAM250),
];

impl Matrix {
    /// The matrix of that name, in upper or lower case; `None` for one that is not among [`all`].
    ///
    /// [`all`]: Matrix::all
    ///
    /// ```
    /// use gyrase_align::{matrix::Matrix, residue};
    ///
    /// let matrix = Matrix::named("blosum62").ok_or("no such matrix")?;
    /// assert_eq!(matrix.score(residue::code(b'W'), residue::code(b'W')), 11);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn named(name: &str) -> Option<&'static Matrix> {
        ALL.iter().find(|one| one.name.eq_ignore_ascii_case(name))
    }

    /// Every matrix that there is.
    pub fn all() -> &'static [Matrix] {
        &ALL
    }

    /// Its name, in upper case.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The score of two codes, below [`CODES`]; larger ones count as [`BORDER`].
    pub fn score(&self, a: u8, b: u8) -> i8 {
        self.rows[a.min(BORDER) as usize][b.min(BORDER) as usize]
    }

    /// The scores of each code with all others: 32 rows of 32, and symmetric.
    pub fn rows(&self) -> &[[i8; CODES]; CODES] {
        &self.rows
    }

    const fn of(name: &'static str, triangle: &Triangle) -> Matrix {
        let mut rows = [[FORBIDDEN; CODES]; CODES];
        let mut a = 0;
        while a < CODES {
            let mut b = 0;
            while b < CODES {
                if let (Some(one), Some(other)) = (scored_as(a), scored_as(b)) {
                    rows[a][b] = triangle[place(one, other)];
                }
                b += 1;
            }
            a += 1;
        }
        Matrix { name, rows }
    }
}

/// The code whose scores a code has.
const fn scored_as(one: usize) -> Option<usize> {
    if one < SCORED {
        Some(one)
    } else if one == code(b'U') as usize {
        Some(code(b'C') as usize)
    } else if one == code(b'O') as usize {
        Some(ANY as usize)
    } else {
        None
    }
}

const fn place(a: usize, b: usize) -> usize {
    let (large, small) = if a < b { (b, a) } else { (a, b) };
    large * (large + 1) / 2 + small
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residue::{LETTERS, STOP};

    fn scores(name: &str, pairs: &[&[u8; 2]]) -> Vec<i8> {
        let matrix = Matrix::named(name).unwrap();
        let score = |pair: &&[u8; 2]| matrix.score(code(pair[0]), code(pair[1]));
        pairs.iter().map(score).collect()
    }

    #[test]
    fn scores_are_those_of_the_published_tables() {
        let pairs = [
            b"AA", b"WW", b"RK", b"LI", b"NB", b"QZ", b"LJ", b"X*", b"**",
        ];
        let pairs: Vec<&[u8; 2]> = pairs.to_vec();
        for (name, expected) in [
            ("BLOSUM45", [5, 15, 3, 2, 5, 4, 4, -5, 1]),
            ("BLOSUM50", [5, 15, 3, 2, 5, 4, 4, -5, 1]),
            ("BLOSUM62", [4, 11, 2, 2, 4, 4, 3, -4, 1]),
            ("BLOSUM80", [5, 11, 2, 1, 5, 4, 3, -6, 1]),
            ("BLOSUM90", [5, 11, 2, 1, 5, 5, 4, -6, 1]),
            ("PAM30", [6, 13, 0, -1, 6, 6, 6, -17, 1]),
            ("PAM70", [5, 13, 2, 1, 5, 5, 5, -11, 1]),
            ("PAM250", [2, 17, 3, 2, 2, 3, 5, -8, 1]),
        ] {
            assert_eq!(scores(name, &pairs), expected, "{name}");
        }
    }

    #[test]
    fn a_matrix_is_symmetric_and_a_residue_likes_itself_best() {
        for matrix in Matrix::all() {
            for a in 0..CODES as u8 {
                for b in 0..CODES as u8 {
                    assert_eq!(matrix.score(a, b), matrix.score(b, a));
                    let standard = a < 20 && b < 20;
                    assert!(!standard || matrix.score(a, a) >= matrix.score(a, b));
                }
            }
        }
    }

    #[test]
    fn rare_letters_borrow_scores_and_borders_forbid() {
        for matrix in Matrix::all() {
            for &other in LETTERS {
                let other = code(other);
                assert_eq!(
                    matrix.score(code(b'U'), other),
                    matrix.score(code(b'C'), other)
                );
                assert_eq!(matrix.score(code(b'O'), other), matrix.score(ANY, other));
                assert_eq!(matrix.score(BORDER, other), FORBIDDEN);
                assert_eq!(matrix.score(other, 27), FORBIDDEN);
                assert_eq!(matrix.score(other, 255), FORBIDDEN);
            }
            assert_eq!(matrix.score(STOP, STOP), 1);
            let best = matrix.rows().iter().flatten().max().unwrap();
            assert!(i16::from(FORBIDDEN) < -3 * i16::from(*best));
        }
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(Matrix::named("pam30").unwrap().name(), "PAM30");
        assert_eq!(Matrix::named("BLOSUM61"), None);
        assert_eq!(Matrix::named(""), None);
    }
}
