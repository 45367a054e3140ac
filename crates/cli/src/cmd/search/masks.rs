//! What is masked in queries, and in the database.

use std::str::FromStr;

use clap::{ArgAction, Args, ValueEnum};
use gyrase_search::{DatabaseMask, DustMask, MaskOptions, SegMask, Summary};

/// Options of masks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Masks of queries")]
pub(super) struct Masks {
    /// Mask lower-case letters of the queries
    #[arg(long)]
    lower_case_masking: bool,

    /// Mask what SEG finds in proteins and translations: yes (which is "12 2.2 2.5"), no, or
    /// "WINDOW LOW HIGH", in residues and bits [default: no; blastx, tblastn, tblastx: yes]
    #[arg(long, value_name = "YES|NO|NUMBERS", value_parser = seg)]
    seg: Option<SegMask>,

    /// Mask what DUST finds in nucleotides that are compared as they are: yes (which is
    /// "20 64 1"), no, or "LEVEL WINDOW LINKER" [default: yes]
    #[arg(long, value_name = "YES|NO|NUMBERS", value_parser = dust)]
    dust: Option<DustMask>,

    /// Let alignments go through masks, but not begin there; where false, masked letters are X or
    /// N [default: true for nucleotides, false for proteins and translations]
    #[arg(long, value_name = "TRUE|FALSE", action = ArgAction::Set)]
    soft_masking: Option<bool>,

    /// What masks of the database do: those of a `.gysd` or of a BLAST database that has some, and
    /// lower-case letters of FASTA files
    #[arg(
        long,
        value_name = "HOW",
        default_value = "none",
        help_heading = "Masks of the database"
    )]
    db_mask: DbMask,
}

/// As it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DbMask {
    /// Nothing
    None,
    /// Alignments go through them, but do not begin there
    Soft,
    /// Masked letters are X, and of nucleotides B, as BLAST+ takes them
    Hard,
}

impl Masks {
    /// What was chosen for the database.
    pub(super) fn of_database(&self) -> DatabaseMask {
        match self.db_mask {
            DbMask::None => DatabaseMask::Ignored,
            DbMask::Soft => DatabaseMask::Soft,
            DbMask::Hard => DatabaseMask::Hard,
        }
    }

    /// Warns where a database has none of the masks that were asked for.
    pub(super) fn warn(summary: &Summary) {
        if summary.lacks_masks {
            tracing::warn!(
                "--db-mask changes nothing: the database has no masks; name FASTA files in which \
                 they are in lower case, make a database of these with `gyrase index \
                 --lower-case-masking`, or a BLAST database with `makeblastdb -mask_data`"
            );
        }
    }

    /// What was chosen for queries.
    pub(super) fn options(&self) -> MaskOptions {
        MaskOptions {
            lower_case: self.lower_case_masking,
            seg: self.seg,
            dust: self.dust,
            soft: self.soft_masking,
        }
    }
}

/// What SEG masks.
fn seg(text: &str) -> Result<SegMask, String> {
    let numbers = || {
        let [window, low, high] = three(text)?;
        let window = window.parse().ok().filter(|window| *window > 0)?;
        let bits = |text: &str| text.parse().ok().filter(|bits| (0.0..=5.0).contains(bits));
        let (low, high) = (bits(low)?, bits(high)?);
        (low <= high).then_some(SegMask::On { window, low, high })
    };
    let advice = "write yes, no, or WINDOW LOW HIGH as in \"12 2.2 2.5\", with LOW at most HIGH";
    chosen(text, [SegMask::Off, SegMask::USUAL], numbers).ok_or_else(|| advice.into())
}

/// What DUST masks.
fn dust(text: &str) -> Result<DustMask, String> {
    let numbers = || {
        let [level, window, linker] = three(text)?;
        Some(DustMask::On {
            level: within(level, 2, 64)?,
            window: within(window, 8, 64)?,
            linker: within(linker, 1, 32)?,
        })
    };
    let advice =
        "write yes, no, or LEVEL WINDOW LINKER as in \"20 64 1\": 2 to 64, 8 to 64, 1 to 32";
    chosen(text, [DustMask::Off, DustMask::USUAL], numbers).ok_or_else(|| advice.into())
}

/// What `no`, `yes` or numbers stand for.
fn chosen<T>(text: &str, [no, yes]: [T; 2], numbers: impl Fn() -> Option<T>) -> Option<T> {
    match text {
        "no" => Some(no),
        "yes" => Some(yes),
        _ => numbers(),
    }
}

/// Three words.
fn three(text: &str) -> Option<[&str; 3]> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.try_into().ok()
}

/// A number of a range.
fn within<T: FromStr + PartialOrd>(text: &str, least: T, most: T) -> Option<T> {
    let number = text.parse().ok();
    number.filter(|number| (least..=most).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_written_as_blast_writes_them() {
        let own = |window, low, high| Ok(SegMask::On { window, low, high });
        assert_eq!(seg("yes"), own(12, 2.2, 2.5));
        assert_eq!(seg("10 1.8 2"), own(10, 1.8, 2.0));
        assert_eq!(seg("no"), Ok(SegMask::Off));
        for wrong in [
            "",
            "YES",
            "12",
            "12 2.5 2.2",
            "0 2.2 2.5",
            "12 2.2 nan",
            "1 2 3 4",
        ] {
            assert!(seg(wrong).is_err(), "{wrong}");
        }
        let own = |level, window, linker| {
            Ok(DustMask::On {
                level,
                window,
                linker,
            })
        };
        assert_eq!(dust("yes"), own(20, 64, 1));
        assert_eq!(dust("15 32 2"), own(15, 32, 2));
        assert_eq!(dust("no"), Ok(DustMask::Off));
        for wrong in ["true", "1 64 1", "20 65 1", "20 64 0", "20 64"] {
            assert!(dust(wrong).is_err(), "{wrong}");
        }
    }
}
