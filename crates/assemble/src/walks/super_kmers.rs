//! Sequences cut into super-k-mers, wherever in the sequence these are.

use crate::rolling::Rolling;

/// Bases of a minimizer, where k-mers have as many.
const MINIMIZER: usize = 10;
/// Hashes that are kept: more than a k-mer has minimizers.
const KEPT: usize = 128;
/// k-mers of the longest: repeats of few bases have one minimizer.
const LONGEST: usize = 4096;

/// Calls `each` with all runs of neighbouring k-mers whose minimizers have one hash: where the
/// first begins, how many they are, and the hash, which is the same for both strands.
pub fn super_kmers<E>(
    codes: &[u8],
    k: usize,
    mut each: impl FnMut(usize, usize, u64) -> Result<(), E>,
) -> Result<(), E> {
    let Some(kmers) = (codes.len() + 1).checked_sub(k).filter(|&kmers| kmers > 0) else {
        return Ok(());
    };
    let m = MINIMIZER.min(k);
    let (rolling, window) = (Rolling::new(m), k - m + 1);
    let mut hashes = [0; KEPT];
    let mut last = rolling.start(&codes[..m]);
    // The least hash, where it is, and where the run of it begins.
    let (mut least, mut place, mut start) = (u64::MAX, 0, 0);
    for at in 0..kmers + window - 1 {
        hashes[at % KEPT] = last.hash();
        if at + m < codes.len() {
            last = rolling.next(last, codes[at], codes[at + m]);
        }
        let Some(kmer) = (at + 1).checked_sub(window) else {
            if hashes[at % KEPT] <= least {
                (least, place) = (hashes[at % KEPT], at);
            }
            continue;
        };
        let before = least;
        if hashes[at % KEPT] <= least {
            (least, place) = (hashes[at % KEPT], at);
        } else if place < kmer {
            let all = (kmer..=at).rev().map(|at| (hashes[at % KEPT], at));
            (least, place) = all
                .min_by_key(|one| one.0)
                .expect("a k-mer has a minimizer");
        }
        if kmer > start && (least != before || kmer - start == LONGEST) {
            each(start, kmer - start, before)?;
            start = kmer;
        }
    }
    each(start, kmers - start, least)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_kmer_is_in_the_run_of_its_least_hash(
            codes in proptest::collection::vec(0..4u8, 0..300),
            k in 5..40usize,
        ) {
            let mut next = 0;
            let Ok(()) = super_kmers(&codes, k, |from, kmers, hash| {
                assert!(from == next && kmers > 0);
                next += kmers;
                let m = MINIMIZER.min(k);
                for kmer in codes[from..from + kmers + k - 1].windows(k) {
                    let hashes = kmer.windows(m).map(|one| Rolling::new(m).start(one).hash());
                    assert_eq!(hashes.min(), Some(hash));
                }
                Ok::<_, Infallible>(())
            });
            prop_assert_eq!(next, (codes.len() + 1).saturating_sub(k));
        }
    }
}
