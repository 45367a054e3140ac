//! What the lines of all reports have in common.

use std::borrow::Cow;

use gyrase_taxonomy::{Taxon, Taxonomy};

/// A text without control characters, so that it stays within its line and column.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        return Cow::Owned(text.replace(char::is_control, " "));
    }
    Cow::Borrowed(text)
}

/// The name of a taxon; where it has none, its taxid. Spaces before it would be read as levels of
/// the tree.
pub(crate) fn name(taxonomy: &Taxonomy, taxon: Taxon) -> Cow<'_, str> {
    let name = taxonomy.name(taxon).trim();
    if name.is_empty() {
        return Cow::Owned(format!("taxid {}", taxonomy.taxid(taxon)));
    }
    clean(name)
}

/// `part` of `whole` in percent; 0 of nothing.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

/// `part` of `whole`, 0 to 1; 0 of nothing.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
