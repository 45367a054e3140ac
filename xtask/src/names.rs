//! One name for one thing: public types of two crates have different names.

use std::collections::{BTreeMap, BTreeSet};

use crate::{masked, paths};

/// Names that several crates use for the same thing of theirs; each with its reason.
const SHARED: [(&str, &str); 9] = [
    ("Config", "what a run is asked for"),
    ("Error", "what went wrong in a crate"),
    ("Format", "which formats of files a crate knows"),
    (
        "Kernels",
        "kernels that are chosen at run time; its crate says which",
    ),
    ("Matrix", "numbers in rows; its module says of what"),
    ("Plan", "what a run will take"),
    (
        "Reader",
        "what reads files of a format; its module says which",
    ),
    ("Summary", "what a run did"),
    (
        "Writer",
        "what writes files of a format; its module says which",
    ),
];

const KINDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];

/// The types that each crate offers; `files` are the names below `src/`, and what is in them.
pub fn offered(files: &[(String, String)]) -> BTreeSet<String> {
    let code: BTreeMap<&str, String> = files
        .iter()
        .map(|(name, text)| (name.as_str(), masked::code(text)))
        .collect();
    let mut found = BTreeSet::new();
    collect(&code, "lib.rs", "", &mut found);
    found
}

fn collect(code: &BTreeMap<&str, String>, file: &str, folder: &str, found: &mut BTreeSet<String>) {
    let Some(text) = code.get(file) else { return };
    for path in paths::paths(text).into_iter().filter(|path| path.public) {
        let elsewhere = path.words[0].starts_with("gyrase_");
        found.extend(path.name.filter(|name| is_type(name) && !elsewhere));
    }
    for line in text.lines() {
        let Some(item) = line.strip_prefix("pub ") else {
            continue;
        };
        if let Some(name) = KINDS.iter().find_map(|kind| item.strip_prefix(kind)) {
            found.insert(first_word(name));
        } else if let Some(name) = item.strip_prefix("mod ") {
            let below = format!("{folder}{}", first_word(name));
            collect(code, &format!("{below}.rs"), &format!("{below}/"), found);
            collect(
                code,
                &format!("{below}/mod.rs"),
                &format!("{below}/"),
                found,
            );
        }
    }
}

/// Types begin with a capital and are not all capitals.
fn is_type(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.contains(|letter: char| letter.is_ascii_lowercase())
}

fn first_word(text: &str) -> String {
    text.chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect()
}

/// Names that two crates offer without a reason.
pub fn breaches(crates: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (owner, names) in crates {
        for name in names {
            owners.entry(name).or_default().push(owner);
        }
    }
    let twice = owners.into_iter().filter(|(_, owners)| owners.len() > 1);
    let unexplained = twice.filter(|(name, _)| !SHARED.iter().any(|shared| shared.0 == *name));
    unexplained
        .map(|(name, owners)| format!("the type {name} is public in {}", owners.join(", ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_what_is_public() {
        let lib =
            "mod a;\npub use a::{Able, f, LIMIT};\npub mod b;\npub struct Own;\nstruct Not;\n";
        let files = [
            ("lib.rs", lib),
            ("a.rs", "pub struct Able;\npub struct Hidden;\n"),
        ];
        let below = [
            ("b.rs", "pub mod c;\n"),
            ("b/c.rs", "pub enum Cut {}\npub(crate) enum D {}\n"),
        ];
        let files = files.iter().chain(&below);
        let files: Vec<_> = files
            .map(|(name, text)| (name.to_string(), text.to_string()))
            .collect();
        assert_eq!(
            offered(&files).into_iter().collect::<Vec<_>>(),
            ["Able", "Cut", "Own"]
        );
    }

    #[test]
    fn two_owners_need_a_reason() {
        let set = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let one = ("x".to_string(), set(&["Span", "Config"]));
        let two = ("y".to_string(), set(&["Span", "Config", "Other"]));
        let found = breaches(&BTreeMap::from([one, two]));
        assert_eq!(found, ["the type Span is public in x, y"]);
    }
}
