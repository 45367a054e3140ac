//! The dependency rule: a crate depends only on crates of a lower number.

use serde_json::Value;

use crate::{Result, steps};

/// Every crate and its number. A crate that is not here has no place in the house yet.
const LEVELS: [(&str, u32); 31] = [
    ("gyrase-seq", 0),
    ("gyrase-work", 0),
    ("gyrase-files", 0),
    ("gyrase-picture", 0),
    ("gyrase-schedule", 0),
    ("gyrase-fabric", 1),
    ("gyrase-fabric-mpi", 2),
    ("gyrase-align", 1),
    ("gyrase-fastx", 1),
    ("gyrase-kmer", 1),
    ("gyrase-trace", 1),
    ("gyrase-transfer", 1),
    ("gyrase-table", 2),
    ("gyrase-taxonomy", 2),
    ("gyrase-simulate", 2),
    ("gyrase-tabulate", 3),
    ("gyrase-seqdb", 3),
    ("gyrase-gpu", 3),
    ("gyrase-count", 4),
    ("gyrase-classify", 4),
    ("gyrase-search", 4),
    ("gyrase-suffix", 4),
    ("gyrase-gossip", 4),
    ("gyrase-assemble", 5),
    ("gyrase-lab", 5),
    ("gyrase-fuzz", 5),
    ("gyrase-serve", 5),
    ("gyrase-cli", 6),
    ("xtask", 6),
    ("gyrase", 7),
    ("gyrase-python", 7),
];

/// Names that say nothing about what a crate is for.
const NAMELESS: [&str; 6] = ["utils", "common", "types", "config", "macros", "core"];

/// Every breach of the rule in the workspace.
pub fn breaches() -> Result<Vec<String>> {
    let output =
        steps::cargo(&["metadata", "--format-version=1", "--no-deps", "--offline"]).output();
    let output = output.map_err(|error| format!("cargo metadata could not start: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        format!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    Ok(list(&metadata["packages"])
        .iter()
        .flat_map(package_breaches)
        .collect())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn level(name: &str) -> Option<u32> {
    LEVELS
        .iter()
        .find(|entry| entry.0 == name)
        .map(|entry| entry.1)
}

fn package_breaches(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let folder = name.trim_start_matches("gyrase-");
    if NAMELESS.contains(&folder) {
        return vec![format!(
            "crate {name}: the name does not say what it is for"
        )];
    }
    let Some(own) = level(name) else {
        return vec![format!(
            "crate {name}: give it a level in xtask/src/levels.rs"
        )];
    };
    let ours = list(&package["dependencies"])
        .iter()
        .filter(|entry| is_ours(entry));
    let names = ours.filter_map(|entry| entry["name"].as_str());
    names.filter_map(|other| breach(name, own, other)).collect()
}

/// A path dependency that is not for tests alone.
fn is_ours(dependency: &Value) -> bool {
    dependency["path"].is_string() && dependency["kind"] != "dev"
}

fn breach(name: &str, own: u32, other: &str) -> Option<String> {
    match level(other) {
        Some(theirs) if theirs < own => None,
        Some(theirs) => Some(format!(
            "crate {name} (level {own}) must not depend on {other} (level {theirs})"
        )),
        None => Some(format!(
            "crate {name} depends on {other}, which has no level in xtask/src/levels.rs"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_downwards() {
        let package = |name: &str, other: &str, kind: Value| {
            let dependency = json!({"name": other, "path": "/x", "kind": kind});
            json!({"name": name, "dependencies": [dependency]})
        };
        assert!(package_breaches(&package("gyrase-count", "gyrase-kmer", Value::Null)).is_empty());
        assert_eq!(
            package_breaches(&package("gyrase-kmer", "gyrase-count", Value::Null)).len(),
            1
        );
        assert_eq!(
            package_breaches(&package("gyrase-kmer", "gyrase-fastx", Value::Null)).len(),
            1
        );
        assert!(package_breaches(&package("gyrase-kmer", "gyrase-fastx", json!("dev"))).is_empty());
        assert_eq!(
            package_breaches(&package("gyrase-utils", "gyrase-seq", Value::Null)).len(),
            1
        );
        assert_eq!(
            package_breaches(&package("gyrase-new", "gyrase-seq", Value::Null)).len(),
            1
        );
    }
}
