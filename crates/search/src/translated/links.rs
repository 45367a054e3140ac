//! Alignments of a protein and a strand that follow each other, taken together: as exons do, with
//! at most so much between them.
//!
//! After BLAST's linking of alignments with uneven gaps (`link_hsps.c`): the best alignment takes
//! whatever makes its E-value the smallest, again and again.

use std::ops::Range;

use gyrase_align::statistics::sum::PairSpace;

/// Residues of the protein that may be between two alignments.
const GAP: usize = 40;
/// Residues that two alignments may have in common.
pub(super) const OVERLAP: usize = 9;

/// Positions of the protein at which the next alignment may begin.
const STARTS: f64 = (OVERLAP + GAP + 1) as f64;

/// An alignment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    /// Where it is in the protein.
    pub protein: Range<usize>,
    /// Where it is in the frame of the strand.
    pub translated: Range<usize>,
    /// 1 or -1.
    pub strand: i8,
    /// The number of the frame of the query.
    pub frame: usize,
    /// Its normalised score.
    pub score: f64,
    /// Its E-value: by itself, then of all that it is taken with.
    pub evalue: f64,
}

/// What decides which are taken together.
pub(super) struct Links {
    /// By frames of the query: what they offer with the subject.
    pub spaces: Vec<PairSpace>,
    /// Residues of the frame that may be between two alignments.
    pub gap: usize,
}

/// Alignments that are taken together, in the order of the protein.
struct Set {
    members: Vec<usize>,
    score: f64,
    evalue: f64,
}

impl Links {
    /// The E-value of so many alignments, by the sum of their scores and the frame of the first.
    pub(super) fn evalue(&self, number: usize, score: f64, frame: usize) -> f64 {
        let starts = (STARTS, (OVERLAP + self.gap + 1) as f64);
        self.spaces[frame].near(number, score, starts)
    }

    /// Takes alignments together; of equal ones the first in their order is the better.
    pub(super) fn link(&self, pieces: &mut [Piece]) {
        let mut sets: Vec<Set> = (pieces.iter().enumerate())
            .map(|(number, piece)| Set {
                members: vec![number],
                score: piece.score,
                evalue: piece.evalue,
            })
            .collect();
        let mut set_of: Vec<usize> = (0..pieces.len()).collect();
        let mut by_score = set_of.clone();
        by_score.sort_by(|&one, &other| pieces[other].score.total_cmp(&pieces[one].score));
        let mut by_place = set_of.clone();
        by_place.sort_by_key(|&one| (pieces[one].protein.start, pieces[one].translated.start));
        for head in by_score {
            if sets[set_of[head]].members.len() > 1 {
                continue;
            }
            while let Some((other, evalue)) =
                self.best_for(set_of[head], &sets, &set_of, &by_place, pieces)
            {
                let taken = std::mem::take(&mut sets[other].members);
                let score = sets[other].score;
                let set = &mut sets[set_of[head]];
                set.members = merged(&set.members, &taken, pieces);
                set.score += score;
                set.evalue = evalue;
                taken.iter().for_each(|&one| set_of[one] = set_of[head]);
            }
        }
        for set in &sets {
            for &one in &set.members {
                pieces[one].evalue = set.evalue;
            }
        }
    }

    /// The set that makes the E-value of another the smallest, and that E-value.
    fn best_for(
        &self,
        own: usize,
        sets: &[Set],
        set_of: &[usize],
        by_place: &[usize],
        pieces: &[Piece],
    ) -> Option<(usize, f64)> {
        let members = &sets[own].members;
        let (first, last) = (&pieces[members[0]], &pieces[members[members.len() - 1]]);
        let from = first.protein.start as i64 - GAP as i64;
        let reaches = |one: usize| pieces[one].protein.end as i64 >= from;
        let near = by_place.iter().copied();
        let near = near.skip_while(|&one| !reaches(one));
        let near = near.take_while(|&one| pieces[one].protein.start < last.protein.end + GAP);
        let mut best = None;
        let mut least = sets[own].evalue;
        for one in near {
            let other = set_of[one];
            let before = sets[other].members.iter();
            let before = before.take_while(|&&member| member != one).last();
            if other == own || before.is_some_and(|&before| reaches(before)) {
                continue;
            }
            let all = merged(members, &sets[other].members, pieces);
            if !self.follow(&all, pieces) {
                continue;
            }
            let score = sets[own].score + sets[other].score;
            let evalue = self.evalue(all.len(), score, first.frame);
            if evalue < least.min(sets[other].evalue) {
                (best, least) = (Some((other, evalue)), evalue);
            }
        }
        best
    }

    /// Whether each is on the same strand as the next, before it, and near enough.
    fn follow(&self, members: &[usize], pieces: &[Piece]) -> bool {
        members.windows(2).all(|two| {
            let (left, right) = (&pieces[two[0]], &pieces[two[1]]);
            let ordered = |left: &Range<usize>, right: &Range<usize>, gap: usize| {
                left.end + gap >= right.start
                    && left.end <= right.start + OVERLAP
                    && left.start < right.start
                    && left.end < right.end
            };
            left.strand == right.strand
                && ordered(&left.protein, &right.protein, GAP)
                && ordered(&left.translated, &right.translated, self.gap)
        })
    }
}

/// The members of two sets in the order of the protein.
fn merged(one: &[usize], other: &[usize], pieces: &[Piece]) -> Vec<usize> {
    let mut all = [other, one].concat();
    all.sort_by_key(|&member| pieces[member].protein.start);
    all
}

#[cfg(test)]
mod tests {
    use gyrase_align::statistics::sum::DECAY_GAPPED;

    use super::*;

    fn links() -> Links {
        let space = PairSpace {
            query: 300.0,
            subject: 900.0,
            search: 1e9,
            decay: DECAY_GAPPED,
        };
        Links {
            spaces: vec![space],
            gap: 40,
        }
    }

    fn piece(protein: Range<usize>, translated: Range<usize>, strand: i8) -> Piece {
        Piece {
            protein,
            translated,
            strand,
            frame: 0,
            score: 16.0,
            evalue: links().evalue(1, 16.0, 0),
        }
    }

    fn linked(mut pieces: Vec<Piece>) -> Vec<usize> {
        links().link(&mut pieces);
        let same = |one: &Piece| {
            let equal = pieces.iter().filter(|other| other.evalue == one.evalue);
            equal.count()
        };
        pieces.iter().map(same).collect()
    }

    #[test]
    fn what_follows_is_taken_together_in_any_order() {
        let own = || {
            vec![
                piece(50..90, 100..140, 1),
                piece(0..52, 20..72, 1),
                piece(125..160, 150..185, 1),
            ]
        };
        assert_eq!(linked(own()), [3; 3]);
        let mut other = own();
        other.reverse();
        assert_eq!(linked(other), [3; 3]);
        let mut pieces = own();
        links().link(&mut pieces);
        assert_eq!(pieces[0].evalue, links().evalue(3, 48.0, 0));
        assert!(pieces[0].evalue < 1e-2 * links().evalue(1, 16.0, 0));
    }

    #[test]
    fn what_is_far_crosses_or_is_on_the_other_strand_stays_alone() {
        let first = piece(0..50, 100..150, 1);
        let alone = piece(500..501, 900..901, 1);
        for (protein, translated, strand) in [
            (91..140, 150..199, 1),
            (50..99, 191..240, 1),
            (40..89, 150..199, 1),
            (50..99, 140..189, 1),
            (50..99, 20..69, 1),
            (50..99, 150..199, -1),
            (10..40, 110..140, 1),
        ] {
            let second = piece(protein, translated, strand);
            let mut pieces = vec![first.clone(), second.clone(), alone.clone()];
            links().link(&mut pieces);
            assert_eq!(pieces, [first.clone(), second, alone.clone()]);
        }
        for second in [piece(90..139, 190..239, 1), piece(41..90, 141..190, 1)] {
            assert_eq!(linked(vec![first.clone(), second]), [2; 2]);
        }
    }
}
