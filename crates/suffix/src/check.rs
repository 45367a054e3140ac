//! Checks a suffix array in linear time, without sorting.
//!
//! The rule is that of sufcheck (Burkhardt, Kärkkäinen 2003): an array is the suffix array exactly
//! if its suffixes begin with letters that do not fall, and those that begin with one letter are in
//! the order of what follows them, which the array itself tells.

use crate::numbers::NumberArray;
use crate::sort::{SENTINEL, Zeros};

/// Whether `positions` are the suffix array of `text`.
///
/// # Errors
/// A sentence that says where it is not.
pub fn check_positions(text: &[u8], zeros: Zeros, positions: &NumberArray) -> Result<(), String> {
    let length = text.len();
    if positions.len() != length {
        return Err(format!(
            "{} suffixes of a text of {length} letters",
            positions.len()
        ));
    }
    if let Some(position) = positions.iter().find(|&position| position >= length) {
        return Err(format!(
            "a suffix at {position} of a text of {length} letters"
        ));
    }
    let mut next = first_places(text);
    let first_letters = positions.iter().map(|position| text[position]);
    if !first_letters.is_sorted() {
        return Err("the first letters of the suffixes are not in order".into());
    }
    let mut expect = |position: usize| {
        let place = &mut next[usize::from(text[position])];
        *place += 1;
        match positions.get(*place - 1) {
            found if found == position => Ok(()),
            found => Err(format!(
                "the suffix at {position} should be number {}, where that at {found} is",
                *place - 1
            )),
        }
    };
    let sentinels = zeros == Zeros::Sentinels;
    if sentinels {
        let all = (0..length).filter(|&position| text[position] == SENTINEL);
        all.into_iter().try_for_each(&mut expect)?;
    } else if length > 0 {
        // What is before the end of the text, which is the smallest suffix of all.
        expect(length - 1)?;
    }
    let before = positions
        .iter()
        .filter_map(|position| position.checked_sub(1));
    before
        .filter(|&position| !(sentinels && text[position] == SENTINEL))
        .try_for_each(expect)
}

/// How many letters of a text are smaller than each.
fn first_places(text: &[u8]) -> [usize; 256] {
    let mut places = [0; 256];
    text.iter()
        .for_each(|&letter| places[usize::from(letter)] += 1);
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    places
}

/// Whether `common` are the longest common prefixes of neighbours in a suffix array.
///
/// They are computed again, from the array and the text alone (Kärkkäinen, Manzini, Puglisi 2009).
///
/// # Errors
/// A sentence that says where they are not.
///
/// # Panics
/// When `positions` are no suffix array of the text.
pub fn check_common(
    text: &[u8],
    zeros: Zeros,
    positions: &NumberArray,
    common: &NumberArray,
) -> Result<(), String> {
    let length = text.len();
    if common.len() != length {
        return Err(format!(
            "{} common prefixes of {length} suffixes",
            common.len()
        ));
    }
    let ends = |letter: u8| zeros == Zeros::Sentinels && letter == SENTINEL;
    let mut place_of = NumberArray::zeros(length, length as u64);
    for (place, position) in positions.iter().enumerate() {
        place_of.set(position, place);
    }
    let mut shared = 0;
    for position in 0..length {
        let place = place_of.get(position);
        shared = match place.checked_sub(1).map(|before| positions.get(before)) {
            None => 0,
            Some(before) => {
                let pairs = text[position + shared..]
                    .iter()
                    .zip(&text[before + shared..]);
                let more = pairs.take_while(|(one, other)| one == other && !ends(**one));
                shared + more.count()
            }
        };
        if common.get(place) != shared {
            return Err(format!(
                "suffix number {place} shares {shared} letters with the one before, not {}",
                common.get(place)
            ));
        }
        shared = shared.saturating_sub(1);
    }
    Ok(())
}
