//! Windows of what is translated: the stretches in which scores are fitted to the composition.

use std::ops::Range;

use gyrase_align::residue::STOP;

/// Residues of a window to each side of an alignment.
const BORDER: usize = 200;

/// Residues beside an alignment, up to a stop, that do not count where it is so far from the stop.
const MARGIN: usize = 20;

/// Windows around ranges of a frame that has so many residues, joined where they touch; each with
/// the numbers of its ranges, in their order.
pub(super) fn windows(ranges: &[Range<usize>], residues: usize) -> Vec<(Range<usize>, Vec<usize>)> {
    let around =
        |range: &Range<usize>| range.start.saturating_sub(BORDER)..residues.min(range.end + BORDER);
    let mut single: Vec<(Range<usize>, usize)> = ranges.iter().map(around).zip(0..).collect();
    single.sort_by_key(|(window, number)| (window.start, window.end, *number));
    let mut windows: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    for (window, number) in single {
        match windows.last_mut() {
            Some((last, numbers)) if last.end >= window.start => {
                last.end = last.end.max(window.end);
                numbers.push(number);
            }
            _ => windows.push((window, vec![number])),
        }
    }
    windows
        .iter_mut()
        .for_each(|(_, numbers)| numbers.sort_unstable());
    windows
}

/// The part of a window whose composition counts for an alignment in it: to the next stops, less
/// what is near to them.
pub(super) fn composed(window: &[u8], aligned: &Range<usize>) -> Range<usize> {
    let stop = |residue: &u8| *residue == STOP;
    let start = match window[..aligned.start].iter().rposition(stop) {
        Some(stop) => (stop + 1 + MARGIN).min(aligned.start),
        None => 0,
    };
    let end = match window[aligned.end..].iter().position(stop) {
        Some(ahead) => (aligned.end + ahead)
            .saturating_sub(MARGIN)
            .max(aligned.end),
        None => window.len(),
    };
    start..end
}

#[cfg(test)]
mod tests {
    use gyrase_align::residue::code;

    use super::*;

    #[test]
    fn windows_are_joined_where_they_touch() {
        let ranges = [1000..1100, 100..150, 560..600, 551..560, 2000..2001];
        let expected = [
            (0..350, vec![1]),
            (351..1300, vec![0, 2, 3]),
            (1800..2100, vec![4]),
        ];
        assert_eq!(windows(&ranges, 2100), expected);
        let joined = windows(&[100..150, 550..560], 600);
        assert_eq!(joined, [(0..600, vec![0, 1])]);
    }

    #[test]
    fn composition_ends_before_stops() {
        let mut window = vec![code(b'A'); 200];
        assert_eq!(composed(&window, &(90..110)), 0..200);
        window[30] = STOP;
        window[150] = STOP;
        assert_eq!(composed(&window, &(90..110)), 51..130);
        assert_eq!(composed(&window, &(40..140)), 40..140);
        assert_eq!(composed(&window, &(20..160)), 0..200);
        assert_eq!(composed(&window, &(0..200)), 0..200);
    }
}
