//! The reader of `.gyc`. The first byte chooses: even, the rest are edits of a valid file; odd, the
//! rest is the file; two above a multiple of four, edits whose checksums are right.

use std::path::Path;
use std::sync::OnceLock;

use gyrase_classify::{
    AnswerConfig, Candidates, Columns, Dropped, Outlets, Rule, Wanted, classify_candidates,
};
use gyrase_work::Progress;

use crate::databases::edit;
use crate::seals;

/// A file of today's version, and the answers of its reads.
fn valid() -> &'static (Vec<u8>, Vec<u8>) {
    static VALID: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    VALID.get_or_init(|| {
        let path = crate::repository().join("crates/classify/tests/golden/v1/candidates.gyc");
        let bytes = std::fs::read(path).expect("the golden file is there");
        let answers = answers(&bytes).expect("the golden file is whole");
        (bytes, answers)
    })
}

/// The answers that a file of these bytes gives; nothing where it is refused.
fn answers(bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("the system has room for a small folder");
    let path = folder.path().join("x.gyc");
    std::fs::write(&path, bytes).expect("a small file can be written");
    answers_of(&path)
}

fn answers_of(path: &Path) -> Option<Vec<u8>> {
    let candidates = Candidates::open(&[path.to_path_buf()]).ok()?;
    let config = AnswerConfig {
        rule: Rule::default(),
        insert: 400,
        threads: 1,
        wanted: Wanted::default(),
    };
    let mut lines = Vec::new();
    let mut outlets = Outlets {
        columns: Columns::HITS,
        lines: &mut lines,
        extracts: &mut [],
    };
    classify_candidates(
        &candidates,
        &config,
        &Dropped::default(),
        &mut outlets,
        &Progress::default(),
    )
    .ok()?;
    Some(lines)
}

/// No bytes make the reader panic, and a changed file is refused or gives the same answers, unless
/// its checksums were changed with it.
pub fn candidates(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    if choice % 2 == 1 {
        answers(rest);
        return;
    }
    let (whole, expected) = valid();
    let mut bytes = whole.clone();
    edit(&mut bytes, rest);
    if choice % 4 == 2 {
        seals::gyc(&mut bytes);
        answers(&bytes);
        return;
    }
    if let Some(found) = answers(&bytes) {
        assert!(&found == expected, "a changed file gives other answers");
    }
}
