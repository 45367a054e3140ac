//! Suffix arrays, repeats and mappability against their definitions, on random texts and on those
//! that are hardest.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::collections::{BTreeMap, BTreeSet};

use gyrase_suffix::mappability;
use gyrase_suffix::repeats::{self, RepeatKind, Spread};
use gyrase_suffix::{
    Letters, NumberArray, SuffixArray, Texts, Zeros, check_common, check_positions,
};
use gyrase_work::Progress;
use proptest::prelude::*;

/// Texts on which algorithms fail: all of one letter, Fibonacci, Thue-Morse, de Bruijn, none.
fn adversaries() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new(), b"A".to_vec(), b"AA".to_vec(), b"BA".to_vec()];
    all.push(vec![b'A'; 300]);
    let (mut one, mut two) = (b"A".to_vec(), b"AB".to_vec());
    while two.len() < 400 {
        (one, two) = (two.clone(), [two, one].concat());
    }
    all.push(two);
    let thue_morse = (0..512u32).map(|number| b"AB"[number.count_ones() as usize % 2]);
    all.push(thue_morse.collect());
    all.push(de_bruijn(4));
    all.push((0..=255).chain((0..=255).rev()).chain([0; 9]).collect());
    all
}

/// All words of so many of the letters A, C, G and T, by the least Lyndon words.
fn de_bruijn(order: usize) -> Vec<u8> {
    let (mut word, mut text) = (vec![0u8], Vec::new());
    loop {
        if order.is_multiple_of(word.len()) {
            text.extend(word.iter().map(|&letter| b"ACGT"[usize::from(letter)]));
        }
        let length = word.len();
        word = (0..order).map(|place| word[place % length]).collect();
        while word.last() == Some(&3) {
            word.pop();
        }
        match word.last_mut() {
            Some(last) => *last += 1,
            None => return text,
        }
    }
}

/// The order of two suffixes: sentinels are smaller than letters, and the first of two is smaller.
fn suffix<'t>(
    text: &'t [u8],
    zeros: Zeros,
    start: usize,
) -> impl Iterator<Item = (u8, usize)> + 't {
    (start..text.len()).map(move |place| match text[place] {
        0 if zeros == Zeros::Sentinels => (0, place),
        letter => (letter, text.len()),
    })
}

fn check(text: &[u8], zeros: Zeros) {
    let sorted = SuffixArray::of(text, zeros).unwrap();
    let mut expected: Vec<usize> = (0..text.len()).collect();
    expected.sort_by(|&one, &other| suffix(text, zeros, one).cmp(suffix(text, zeros, other)));
    let found: Vec<usize> = sorted.positions.iter().collect();
    assert!(found == expected, "{zeros:?} of {text:?}");
    let common = |pair: [usize; 2]| {
        let [one, other] = pair.map(|start| suffix(text, zeros, start));
        one.zip(other)
            .take_while(|(one, other)| one == other)
            .count()
    };
    let pairs = expected.windows(2).map(|pair| common([pair[0], pair[1]]));
    let first = (!text.is_empty()).then_some(0);
    assert!(
        sorted.common.iter().eq(first.into_iter().chain(pairs)),
        "{text:?}"
    );
    check_positions(text, zeros, &sorted.positions).unwrap();
    check_common(text, zeros, &sorted.positions, &sorted.common).unwrap();
}

#[test]
fn hard_texts_are_sorted() {
    for mut text in adversaries() {
        check(&text, Zeros::Letters);
        text.iter_mut()
            .for_each(|letter| *letter = (*letter).max(1));
        text.push(0);
        check(&text, Zeros::Sentinels);
        // Copies of one text: what decides is which of them it is.
        check(&text.repeat(3), Zeros::Sentinels);
    }
    for text in [&b"\0"[..], b"\0\0\0", b"\0A\0\0A\0"] {
        check(text, Zeros::Sentinels);
        check(text, Zeros::Letters);
    }
}

#[test]
fn whatever_is_changed_is_found() {
    for (text, zeros) in [
        (&b"GATTACAGATTACA"[..], Zeros::Letters),
        (b"GATTA\0CAGA\0\0GATTA\0", Zeros::Sentinels),
        (b"AAAAAAAA", Zeros::Letters),
    ] {
        let sorted = SuffixArray::of(text, zeros).unwrap();
        for place in 0..text.len() {
            for number in 0..=text.len() + 1 {
                let [mut positions, mut common] = [sorted.positions.clone(), sorted.common.clone()];
                if positions.get(place) != number {
                    positions.set(place, number);
                    check_positions(text, zeros, &positions).unwrap_err();
                }
                if common.get(place) != number {
                    common.set(place, number);
                    check_common(text, zeros, &sorted.positions, &common).unwrap_err();
                }
            }
            let mut swapped = sorted.positions.clone();
            let next = (place + 1) % text.len();
            swapped.set(place, sorted.positions.get(next));
            swapped.set(next, sorted.positions.get(place));
            check_positions(text, zeros, &swapped).unwrap_err();
        }
        let shorter: NumberArray = sorted.positions.iter().skip(1).collect();
        check_positions(text, zeros, &shorter).unwrap_err();
    }
}

#[test]
fn transforms_are_the_letters_before() {
    let text = b"banana\0";
    let sorted = SuffixArray::of(text, Zeros::Sentinels).unwrap();
    assert!(sorted.transform(text).eq(*b"annb\0aa"));
}

/// A set of texts, each with the number of its file.
fn set(texts: &[(u32, Vec<u8>)]) -> Texts {
    let mut set = Texts::new(Letters::Bases);
    for (number, (file, letters)) in (1..).zip(texts) {
        set.push(format!("t{number}").as_bytes(), *file, letters);
    }
    set
}

fn reverse_complement(word: &[u8]) -> Vec<u8> {
    gyrase_seq::reverse_complement(word)
}

/// How often the k letters from a place on occur, by looking everywhere.
fn naive_counts(texts: &[(u32, Vec<u8>)], k: usize, both_strands: bool) -> Vec<Vec<usize>> {
    let is_word = |word: &&[u8]| word.iter().all(|letter| b"ACGT".contains(letter));
    let words = texts
        .iter()
        .flat_map(|(_, text)| text.windows(k).filter(is_word));
    let mut counts: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word.to_vec()).or_default() += 1;
        if both_strands {
            *counts.entry(reverse_complement(word)).or_default() += 1;
        }
    }
    let count = |word: &[u8]| if is_word(&word) { counts[word] } else { 0 };
    let of_text = |text: &Vec<u8>| text.windows(k).map(count).collect();
    texts.iter().map(|(_, text)| of_text(text)).collect()
}

fn check_mappability(texts: &[(u32, Vec<u8>)], k: usize, both_strands: bool) {
    let config = mappability::Config {
        k,
        both_strands,
        counts: true,
        memory: 1 << 30,
    };
    let mut out = Vec::new();
    mappability::run(&config, set(texts), None, &mut out, &Progress::default()).unwrap();
    let mut expected = String::new();
    for (number, counts) in (1..).zip(naive_counts(texts, k, both_strands)) {
        let mut start = 0;
        for group in counts.chunk_by(|one, other| one == other) {
            let end = start + group.len();
            if group[0] > 0 {
                expected += &format!("t{number}\t{start}\t{end}\t{}\n", group[0]);
            }
            start = end;
        }
    }
    assert_eq!(String::from_utf8(out).unwrap(), expected, "{texts:?}, {k}");
}

/// Where a word occurs: text, place in it, strand; and the letters around, if any.
type Copies = Vec<(usize, usize, bool)>;

/// The maximal repeats, by the definition: every word that occurs twice, unless all of its copies
/// have the same letter on one side.
fn naive_repeats(texts: &[(u32, Vec<u8>)], least: usize, both: bool) -> BTreeSet<(Copies, usize)> {
    type Side = BTreeSet<Option<u8>>;
    let mut words: BTreeMap<Vec<u8>, (Copies, [Side; 2], [usize; 2])> = BTreeMap::new();
    for (number, (_, text)) in texts.iter().enumerate() {
        for strand in 0..1 + usize::from(both) {
            let letters = if strand == 0 {
                text.clone()
            } else {
                reverse_complement(text)
            };
            let at = |place: Option<usize>| {
                let letter = letters.get(place?).copied();
                letter.filter(|letter| b"ACGT".contains(letter))
            };
            for start in 0..letters.len() {
                for end in start + least..=letters.len() {
                    let word = &letters[start..end];
                    if !word.iter().all(|letter| b"ACGT".contains(letter)) {
                        break;
                    }
                    let entry = words.entry(word.to_vec()).or_default();
                    let place = if strand == 0 {
                        start
                    } else {
                        letters.len() - end
                    };
                    entry.0.push((number, place, strand == 1));
                    for (side, letter) in [at(start.checked_sub(1)), at(Some(end))]
                        .into_iter()
                        .enumerate()
                    {
                        entry.1[side].insert(letter);
                        entry.2[side] += usize::from(letter.is_none());
                    }
                }
            }
        }
    }
    let maximal = words
        .into_iter()
        .filter_map(|(word, (mut copies, sides, ends))| {
            let count = copies.len();
            copies.sort_unstable();
            copies.dedup_by_key(|copy| (copy.0, copy.1));
            let differ = (0..2).all(|side| sides[side].len() > 1 || ends[side] > 1);
            (count > 1 && differ && copies.len() > 1 && !copies[0].2)
                .then_some((copies, word.len()))
        });
    maximal.collect()
}

fn found_repeats(texts: &[(u32, Vec<u8>)], config: &repeats::Config) -> BTreeSet<(Copies, usize)> {
    let mut out = Vec::new();
    repeats::run(
        config,
        set(texts),
        None,
        &mut out,
        None,
        &Progress::default(),
    )
    .unwrap();
    let mut found: BTreeMap<usize, (Copies, usize)> = BTreeMap::new();
    for line in String::from_utf8(out).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |field: usize| fields[field].parse::<usize>().unwrap();
        let text: usize = fields[3][1..].parse().unwrap();
        let entry = found.entry(number(0)).or_default();
        entry.0.push((text - 1, number(4) - 1, fields[6] == "-"));
        entry.1 = number(1);
        assert_eq!(number(5) - number(4) + 1, number(1));
        assert_eq!(fields[7].parse::<u32>().unwrap(), texts[text - 1].0 + 1);
    }
    let ordered = found
        .values()
        .map(|(copies, length)| (copies[0].0, copies[0].1, !length));
    assert!(ordered.is_sorted());
    found.into_values().collect()
}

fn check_repeats(texts: &[(u32, Vec<u8>)], least: usize, both_strands: bool) {
    let mut config = repeats::Config {
        least,
        kind: RepeatKind::Maximal,
        spread: Spread::Anywhere,
        both_strands,
        memory: 1 << 30,
    };
    let expected = naive_repeats(texts, least, both_strands);
    assert_eq!(
        found_repeats(texts, &config),
        expected,
        "{texts:?}, {least}, {both_strands}"
    );
    let files = |copies: &Copies| {
        copies
            .iter()
            .map(|copy| texts[copy.0].0)
            .collect::<Vec<_>>()
    };
    config.spread = Spread::BetweenFiles;
    let mut between = expected.clone();
    between.retain(|(copies, _)| files(copies).iter().collect::<BTreeSet<_>>().len() > 1);
    assert_eq!(found_repeats(texts, &config), between);
    config.spread = Spread::WithinFile;
    let mut within = expected.clone();
    within.retain(|(copies, _)| files(copies).windows(2).any(|pair| pair[0] == pair[1]));
    assert_eq!(found_repeats(texts, &config), within);
    config.spread = Spread::Anywhere;
    config.kind = RepeatKind::Supermaximal;
    if !both_strands {
        let inside = |(copies, length): &(Copies, usize)| {
            expected.iter().any(|(others, longer)| {
                longer > length
                    && others.iter().any(|other| {
                        copies.iter().any(|copy| {
                            let offset = copy.1.checked_sub(other.1);
                            copy.0 == other.0
                                && offset.is_some_and(|offset| offset + length <= *longer)
                        })
                    })
            })
        };
        let mut supermaximal = expected.clone();
        supermaximal.retain(|repeat| !inside(repeat));
        assert_eq!(found_repeats(texts, &config), supermaximal, "{texts:?}");
    }
}

#[test]
fn repeats_of_hard_texts_are_those_of_the_definition() {
    for text in adversaries() {
        let letters: Vec<u8> = text
            .iter()
            .take(40)
            .map(|letter| letter % 2 * 2 + b'A')
            .collect();
        let texts = [
            (0, letters.clone()),
            (1, letters),
            (1, b"ACNNCA".to_vec()),
            (2, Vec::new()),
        ];
        for both_strands in [false, true] {
            check_repeats(&texts, 1, both_strands);
            check_repeats(&texts, 4, both_strands);
            check_mappability(&texts, 1, both_strands);
            check_mappability(&texts, 5, both_strands);
        }
    }
}

#[test]
fn duplicates_are_equal_from_end_to_end() {
    let texts = [
        &b"ACGTT"[..],
        b"ACGT",
        b"AACGT",
        b"acgtt",
        b"",
        b"",
        b"ACGTT",
        b"TTTT",
    ];
    let texts: Vec<(u32, Vec<u8>)> = (0..).zip(texts.map(<[u8]>::to_vec)).collect();
    let told = |both_strands| {
        let config = repeats::Config {
            least: 100,
            kind: RepeatKind::default(),
            spread: Spread::default(),
            both_strands,
            memory: 1 << 30,
        };
        let (mut out, mut duplicates) = (Vec::new(), Vec::new());
        let wanted: Option<&mut dyn std::io::Write> = Some(&mut duplicates);
        let ran = repeats::run(
            &config,
            set(&texts),
            None,
            &mut out,
            wanted,
            &Progress::default(),
        );
        (
            ran.unwrap().duplicates,
            String::from_utf8(duplicates).unwrap(),
        )
    };
    let lines = "1\t5\t3\tt1\t+\t1\n1\t5\t3\tt4\t+\t4\n1\t5\t3\tt7\t+\t7\n";
    assert_eq!(
        told(false),
        (2, format!("{}\n{lines}", repeats::DUPLICATE_COLUMNS))
    );
    let (more, both) = told(true);
    assert_eq!(more, 3);
    assert!(
        both.contains("1\t5\t4\tt1\t+\t1\n1\t5\t4\tt3\t-\t3\n1\t5\t4\tt4\t+\t4\n"),
        "{both}"
    );
}

fn dna() -> impl Strategy<Value = Vec<u8>> {
    let letters = prop::sample::select(b"AAAACCCGTN".to_vec());
    prop::collection::vec(letters, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_texts_are_sorted(text in prop::collection::vec(0u8..4, 0..80)) {
        check(&text, Zeros::Letters);
        check(&[text, vec![0]].concat(), Zeros::Sentinels);
    }

    #[test]
    fn random_sets_have_the_repeats_and_counts_of_the_definition(
        texts in prop::collection::vec((0u32..3, dna()), 0..4),
        k in 1usize..7,
        both in any::<bool>(),
    ) {
        let mut texts = texts;
        texts.sort_by_key(|text| text.0);
        check_mappability(&texts, k, both);
        check_repeats(&texts, k, both);
    }
}
