//! What the matrices were made of, by name.

use super::{joint, ratios};

/// The frequencies behind a substitution matrix.
#[derive(Clone, Copy, Debug)]
pub struct MatrixFrequencies {
    /// How often two residues are aligned.
    pub(super) joint: &'static [f64; joint::PAIRS],
    /// How many times more often than by chance, for ambiguous letters too.
    pub(super) ratios: &'static [f64; ratios::PAIRS],
    /// The ratio of a stop against any other letter.
    pub(super) stop: f64,
}

/// Every matrix that has frequencies.
const ALL: [(&str, MatrixFrequencies); 8] = [
    ("BLOSUM45", of(&joint::BLOSUM45, &ratios::BLOSUM45, 0.29)),
    ("BLOSUM50", of(&joint::BLOSUM50, &ratios::BLOSUM50, 0.29)),
    ("BLOSUM62", of(&joint::BLOSUM62, &ratios::BLOSUM62, 0.25)),
    ("BLOSUM80", of(&joint::BLOSUM80, &ratios::BLOSUM80, 0.14)),
    ("BLOSUM90", of(&joint::BLOSUM90, &ratios::BLOSUM90, 0.12)),
    ("PAM30", of(&joint::PAM30, &ratios::PAM30, 0.003)),
    ("PAM70", of(&joint::PAM70, &ratios::PAM70, 0.02)),
    ("PAM250", of(&joint::PAM250, &ratios::PAM250, 0.17)),
];

const fn of(
    joint: &'static [f64; joint::PAIRS],
    ratios: &'static [f64; ratios::PAIRS],
    stop: f64,
) -> MatrixFrequencies {
    MatrixFrequencies {
        joint,
        ratios,
        stop,
    }
}

impl MatrixFrequencies {
    /// The frequencies of the matrix of this name, in either case ("BLOSUM62", "pam30"); none when
    /// there are none, and its scores cannot be adjusted.
    pub fn named(name: &str) -> Option<MatrixFrequencies> {
        let found = ALL.iter().find(|one| one.0.eq_ignore_ascii_case(name));
        found.map(|one| one.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composition::grid::{sum, symmetric};

    #[test]
    fn joint_probabilities_sum_to_one() {
        for (name, frequencies) in ALL {
            let rows = symmetric(frequencies.joint).map(|row| sum(&row));
            assert!((sum(&rows) - 1.0).abs() < 1e-11, "{name}");
            assert!(frequencies.joint.iter().all(|&joint| joint > 0.0), "{name}");
        }
    }

    #[test]
    fn ratios_are_those_of_the_joint_probabilities() {
        for (name, frequencies) in ALL {
            let joint = symmetric(frequencies.joint);
            let rows = joint.map(|row| sum(&row));
            let mut next = frequencies.ratios.iter();
            for i in 0..ratios::LETTERS {
                for j in i..ratios::LETTERS {
                    let ratio = next.next().expect("a ratio a pair");
                    if j < rows.len() {
                        let expected = joint[i][j] / (rows[i] * rows[j]);
                        assert!((ratio / expected - 1.0).abs() < 0.02, "{name} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn names_have_either_case() {
        assert!(MatrixFrequencies::named("blosum62").is_some());
        assert!(MatrixFrequencies::named("BLOSUM100").is_none());
    }
}
