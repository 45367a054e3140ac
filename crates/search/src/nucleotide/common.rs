//! Words that a query and a subject have in common, counted one by one.

use std::collections::HashMap;

use gyrase_align::nucleotide::BASES;

use super::scoring::NucleotideScoring;
use super::seed::Seed;

impl NucleotideScoring {
    /// How often a word of a strand of a query is in a subject.
    pub(crate) fn common_words(&self, strand: i8, query: &[u8], subject: &[u8]) -> u64 {
        if !self.setting.strands.have(strand) {
            return 0;
        }
        let seeds = self.setting.seeds.iter();
        let common = seeds.map(|seed| {
            let places = self.places(seed);
            let mut words: HashMap<u128, u64> = HashMap::new();
            for word in words_of(query, &places) {
                *words.entry(word).or_default() += 1;
            }
            let of_subject = words_of(subject, &places);
            of_subject.filter_map(|word| words.get(&word)).sum::<u64>()
        });
        common.sum()
    }

    /// Which bases of a word are equal.
    fn places(&self, seed: &Seed) -> Vec<usize> {
        match seed.is_template() {
            true => (0..seed.span)
                .filter(|place| seed.places >> place & 1 == 1)
                .collect(),
            false => (0..self.setting.word).collect(),
        }
    }
}

/// The words of a sequence that has bases only at the places of one and between them.
fn words_of<'w>(codes: &'w [u8], places: &'w [usize]) -> impl Iterator<Item = u128> + 'w {
    let span = places.last().map_or(1, |last| last + 1);
    codes.windows(span).filter_map(move |window| {
        let is_base = |&code: &u8| usize::from(code) < BASES;
        let key = || {
            let bases = places.iter().map(|&place| u128::from(window[place]));
            bases.fold(0, |key, base| key << 2 | base)
        };
        window.iter().all(is_base).then(key)
    })
}
