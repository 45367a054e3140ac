//! Positions of five bytes, in texts that are short enough to look at.

use std::path::{Path, PathBuf};

use gyrase_fabric::{Steal, testing};
use gyrase_work::Progress;

use super::{GysaFile, write};
use crate::numbers::{NumberArray, WIDE, as_if_long};
use crate::{Letters, Texts, build_in, sort};

const MEMORY: u64 = 1 << 30;

/// Sequences that repeat, in each other and in themselves.
fn sequences(folder: &Path) -> PathBuf {
    let letters = (0..2000u32).map(|at| "ACGT".as_bytes()[(at * at / 7) as usize % 4] as char);
    let one: String = letters.collect();
    let tandem = "GATTACA".repeat(90);
    let path = folder.join("x.fa");
    let content = format!(">one\n{one}\n>two\nNN{tandem}NACGTN\n>three\n{one}\n");
    std::fs::write(&path, content).expect("a file of a test");
    path
}

fn built(input: &Path, target: &Path) {
    let (inputs, progress) = ([input.to_path_buf()], Progress::default());
    let texts = Texts::read(&inputs, Some(Letters::Bases), MEMORY, &progress);
    let mut texts = texts.expect("sequences");
    let sorted = sort(&mut texts, false, MEMORY, &progress).expect("suffixes");
    write(target, &texts, &sorted, true).expect("a file");
}

#[test]
fn positions_of_five_bytes_are_those_of_four() {
    let folder = tempfile::tempdir().expect("a folder");
    let [narrow, wide, all] = ["4.gysa", "5.gysa", "all.gysa"].map(|name| folder.path().join(name));
    let input = sequences(folder.path());
    built(&input, &narrow);
    let open = |path| GysaFile::open(path).expect("a file that was written");
    let narrow = open(&narrow);
    let expected = narrow.suffix_array().expect("suffixes");
    as_if_long(|| {
        built(&input, &wide);
        let file = open(&wide);
        file.verify().expect("a file that is right");
        assert_eq!(file.facts().width, WIDE);
        let sorted = file.suffix_array().expect("suffixes");
        assert!(matches!(sorted.positions, NumberArray::Wide(_)));
        assert!(sorted.positions.iter().eq(expected.positions.iter()));
        assert!(sorted.common.iter().eq(expected.common.iter()));
        let letters = 2 * narrow.facts().letters;
        // Positions and what is shared: a byte more of each.
        assert!(file.facts().bytes.abs_diff(narrow.facts().bytes + letters) < 4 * 64);
    });
    for ranks in [2, 5] {
        let done = testing::run(ranks, Steal::Off, |world| {
            let (inputs, target, progress) = ([input.clone()], (&*all, true), Progress::default());
            let kind = Some(Letters::Bases);
            as_if_long(|| build_in(world, &inputs, kind, target, MEMORY, &progress))
        });
        assert!(done.iter().all(Result::is_ok), "{ranks} ranks");
        let [one, all] = [&wide, &all].map(|path| std::fs::read(path).expect("a file"));
        assert!(one == all, "{ranks} ranks");
    }
}
