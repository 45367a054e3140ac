//! The licences of what is linked, with their texts, as they ask for.

use std::collections::BTreeMap;
use std::path::Path;

use super::graph::{Graph, Package};
use crate::Result;

/// How the names of files with licences begin.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Folders of crates that bundle C have its licence a level or two below.
const DEPTH: u32 = 2;

/// Every crate with its licence, and then every text once, with the names of those that it is of.
pub fn texts(graph: &Graph) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::from("What gyrase is made of, beside its own sources:\n\n");
    for package in graph.packages.values().filter(|package| package.is_foreign) {
        let named = format!("{} {}", package.name, package.version);
        list += &format!("  {named}: {}\n", package.licence);
        let found = of_package(package)?;
        if found.is_empty() {
            return Err(format!("{named} has no text of its licence"));
        }
        for (name, text) in found {
            texts
                .entry(text)
                .or_default()
                .push(format!("{named} ({name})"));
        }
    }
    let mut texts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, of)| (of, text)).collect();
    texts.sort();
    let line = "=".repeat(80);
    for (of, text) in texts {
        list += &format!(
            "\n{line}\n{}\n{line}\n\n{}\n",
            of.join("\n"),
            text.trim_end()
        );
    }
    Ok(list)
}

fn of_package(package: &Package) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    collect(&package.folder, "", DEPTH, &mut found)
        .map_err(|error| format!("{}: {error}", package.folder.display()))?;
    found.sort();
    Ok(found)
}

fn collect(
    folder: &Path,
    below: &str,
    depth: u32,
    found: &mut Vec<(String, String)>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (kind, place) = (entry.file_type()?, format!("{below}{name}"));
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), &format!("{place}/"), depth - 1, found)?;
        } else if kind.is_file() && is_licence(&name) {
            let text = std::fs::read(entry.path())?;
            found.push((place, String::from_utf8_lossy(&text).replace('\r', "")));
        }
    }
    Ok(())
}

fn is_licence(name: &str) -> bool {
    let name = name.to_uppercase();
    // A file of code may be named after a licence too.
    NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".RS")
}

#[cfg(test)]
mod tests {
    use super::is_licence;

    #[test]
    fn licences_are_known_by_name() {
        assert!(is_licence("LICENSE-MIT") && is_licence("Copying.txt") && is_licence("UNLICENSE"));
        assert!(!is_licence("README.md") && !is_licence("license.rs"));
    }
}
