//! House rules about a whole crate: its modules, and the names that it offers.

use std::collections::BTreeMap;

use crate::{modules, names};

type Files = Vec<(String, String)>;

/// Every breach in the crates that `files`, named below the root, belong to.
pub fn breaches(files: &[(String, String)]) -> Vec<String> {
    let mut crates: BTreeMap<String, Files> = BTreeMap::new();
    for (name, text) in files {
        if let Some((owner, below)) = name.split_once("/src/") {
            let file = (below.to_string(), text.clone());
            crates.entry(owner.to_string()).or_default().push(file);
        }
    }
    let tied = crates.iter().flat_map(|(owner, files)| tied(owner, files));
    let libraries = crates
        .iter()
        .filter(|(owner, _)| owner.starts_with("crates/"));
    let offered = libraries.map(|(owner, files)| (owner.clone(), names::offered(files)));
    let twice = names::breaches(&offered.collect()).into_iter();
    tied.chain(twice.map(|text| format!("crates: {text}")))
        .collect()
}

/// One for each module of a cycle.
fn tied(owner: &str, files: &Files) -> Vec<String> {
    let cycles = modules::cycles(files).into_iter();
    let members = cycles.flat_map(|cycle| cycle.into_iter());
    let breach =
        |(module, arrows)| format!("{owner}: module {module} is in a cycle, by its {arrows}");
    members.map(breach).collect()
}

#[cfg(test)]
mod tests {
    use super::breaches;

    #[test]
    fn a_cycle_is_told_with_its_crate() {
        let file = |name: &str, text: &str| (name.to_string(), text.to_string());
        let lib = file("crates/x/src/lib.rs", "mod a;\nmod b;");
        let a = file("crates/x/src/a.rs", "use crate::b::f;");
        let b = file("crates/x/src/b.rs", "use crate::a::g;");
        let found = breaches(&[lib, a, b]);
        assert_eq!(
            found,
            [
                "crates/x: module a is in a cycle, by its b",
                "crates/x: module b is in a cycle, by its a"
            ]
        );
    }
}
