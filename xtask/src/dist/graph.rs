//! The crates that the program is made of, as cargo resolves them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use crate::{Result, steps};

/// A crate.
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licences, as SPDX writes them.
    pub licence: String,
    /// SHA-256 of what the registry has; nothing for our own.
    pub checksum: Option<String>,
    /// The folder of its sources.
    pub folder: PathBuf,
    /// The identifiers of what it is made of.
    pub needs: BTreeSet<String>,
    /// True for what comes from a registry.
    pub is_foreign: bool,
}

/// Everything that ends up in the program, or was run to make it, by identifier.
pub struct Graph {
    /// The crates.
    pub packages: BTreeMap<String, Package>,
    /// The identifier of the program.
    pub program: String,
}

impl Graph {
    /// Asks cargo what the program is made of for these targets.
    pub fn of_program(targets: &[String]) -> Result<Graph> {
        let mut asked = steps::cargo(&["metadata", "--format-version=1", "--locked"]);
        asked.args(
            targets
                .iter()
                .flat_map(|target| ["--filter-platform", target]),
        );
        let output = asked.output();
        let output = output.map_err(|error| format!("cargo metadata could not start: {error}"))?;
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("cargo metadata failed: {said}")
        })?;
        let lock = steps::root().join("Cargo.lock");
        let lock =
            std::fs::read_to_string(&lock).map_err(|error| format!("Cargo.lock: {error}"))?;
        Graph::of(&metadata, &checksums(&lock))
    }

    fn of(metadata: &Value, checksums: &BTreeMap<String, String>) -> Result<Graph> {
        let needs: BTreeMap<&str, BTreeSet<String>> = list(&metadata["resolve"]["nodes"])
            .iter()
            .map(|node| (text(&node["id"]), needed(node)))
            .collect();
        let all: BTreeMap<&str, &Value> = list(&metadata["packages"])
            .iter()
            .map(|package| (text(&package["id"]), package))
            .collect();
        let program = all.iter().find(|(_, package)| package["name"] == "gyrase");
        let program = program
            .ok_or("cargo metadata knows no gyrase")?
            .0
            .to_string();
        let (mut packages, mut open) = (BTreeMap::new(), vec![program.clone()]);
        while let Some(id) = open.pop() {
            if packages.contains_key(&id) {
                continue;
            }
            let facts = all
                .get(id.as_str())
                .ok_or_else(|| format!("{id} is unknown"))?;
            let needs = needs.get(id.as_str()).cloned().unwrap_or_default();
            open.extend(needs.iter().cloned());
            packages.insert(id, package(facts, needs, checksums));
        }
        Ok(Graph { packages, program })
    }
}

fn package(
    facts: &Value,
    needs: BTreeSet<String>,
    checksums: &BTreeMap<String, String>,
) -> Package {
    let (name, version) = (text(&facts["name"]), text(&facts["version"]));
    let manifest = PathBuf::from(text(&facts["manifest_path"]));
    Package {
        name: name.to_string(),
        version: version.to_string(),
        // An old way of writing that a choice is left.
        licence: text(&facts["license"]).replace('/', " OR "),
        checksum: checksums.get(&format!("{name} {version}")).cloned(),
        folder: manifest.parent().map(PathBuf::from).unwrap_or_default(),
        needs,
        is_foreign: !facts["source"].is_null(),
    }
}

/// What a node needs to run: neither tests nor what only builds it.
fn needed(node: &Value) -> BTreeSet<String> {
    let runs = |need: &&Value| {
        list(&need["dep_kinds"])
            .iter()
            .any(|kind| kind["kind"].is_null())
    };
    let needs = list(&node["deps"]).iter().filter(runs);
    needs.map(|need| text(&need["pkg"]).to_string()).collect()
}

/// The checksums of a `Cargo.lock`, by name and version.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let value = |part: &str, key: &str| {
        let line = part.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim_start_matches(" = ").trim_matches('"').to_string())
    };
    let parts = lock.split("[[package]]").filter_map(|part| {
        let name = format!("{} {}", value(part, "name")?, value(part, "version")?);
        Some((name, value(part, "checksum")?))
    });
    parts.collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn follows_what_runs_and_not_what_tests() {
        let package = |name: &str| {
            json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
                   "manifest_path": "/x/Cargo.toml", "source": null})
        };
        let need = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let deps = [need("a", Value::Null), need("b", json!("dev"))];
        let metadata = json!({
            "packages": [package("gyrase"), package("a"), package("b")],
            "resolve": {"nodes": [{"id": "gyrase", "deps": deps}, {"id": "a", "deps": []}]},
        });
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ff\"\n";
        let graph = Graph::of(&metadata, &checksums(lock)).expect("all is there");
        let names: Vec<_> = graph.packages.keys().collect();
        assert_eq!(names, ["a", "gyrase"]);
        let a = &graph.packages["a"];
        assert_eq!(
            (a.licence.as_str(), a.checksum.as_deref()),
            ("MIT OR Apache-2.0", Some("ff"))
        );
    }
}
