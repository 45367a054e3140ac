//! Which matches are of letters that occur once.

use super::ExactMatch;

/// Keeps the matches whose letters occur once in the reference and, where asked for, once in the
/// query: maximal unique matches (MUMs; Delcher et al. 1999).
///
/// `matches` are all of some query that have a least length, in the order of the query. The letters
/// of one occur again in the reference exactly if another match has them at the same place of the
/// query; and the other way round.
pub(super) fn keep_unique(matches: &mut Vec<ExactMatch>, in_query: bool) {
    let mut again = vec![false; matches.len()];
    mark_covered(matches, |one| one.query, &mut again);
    if in_query {
        mark_covered(matches, |one| one.reference, &mut again);
    }
    let mut again = again.into_iter();
    matches.retain(|_| again.next() == Some(false));
}

/// Marks the matches that lie within another, by where they start.
fn mark_covered(
    matches: &[ExactMatch],
    start: impl Fn(&ExactMatch) -> usize,
    covered: &mut [bool],
) {
    let range = |number: &usize| {
        let one = &matches[*number];
        (start(one), start(one) + one.length)
    };
    let mut order: Vec<usize> = (0..matches.len()).collect();
    order.sort_unstable_by_key(|number| {
        let (start, end) = range(number);
        (start, usize::MAX - end)
    });
    let mut furthest = 0;
    for pair in 0..order.len() {
        let number = order[pair];
        let next = order.get(pair + 1);
        let end = range(&number).1;
        if end <= furthest || next.is_some_and(|next| range(next) == range(&number)) {
            covered[number] = true;
        }
        furthest = furthest.max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_within_others_are_left_out() {
        let of = |query, reference, length| ExactMatch {
            query,
            reference,
            length,
        };
        // The second lies within the first on the query, the third and fourth are one there, the
        // fifth lies within the last on the reference.
        let all = [
            of(0, 100, 30),
            of(5, 300, 20),
            of(40, 400, 10),
            of(40, 500, 10),
            of(60, 705, 20),
            of(90, 700, 30),
        ];
        let kept = |in_query| {
            let mut matches = all.to_vec();
            keep_unique(&mut matches, in_query);
            matches
        };
        assert_eq!(kept(false), [all[0], all[4], all[5]]);
        assert_eq!(kept(true), [all[0], all[5]]);
    }
}
