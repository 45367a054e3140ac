//! The bill of materials: every crate of the program, in the form of CycloneDX 1.5.

use serde_json::{Value, json};

use super::graph::{Graph, Package};

/// The document; the same bytes for the same sources, so it has neither a time nor a serial number.
pub fn cyclonedx(graph: &Graph, profile: &str) -> String {
    let program = &graph.packages[&graph.program];
    let others = graph
        .packages
        .iter()
        .filter(|(id, _)| **id != graph.program);
    let components: Vec<Value> = others
        .map(|(_, package)| component(package, "library"))
        .collect();
    let depends: Vec<Value> = graph
        .packages
        .values()
        .map(|one| depends(graph, one))
        .collect();
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": component(program, "application"),
            "properties": [{"name": "cargo:profile", "value": profile}],
        },
        "components": components,
        "dependencies": depends,
    });
    format!("{document:#}\n")
}

fn component(package: &Package, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "licenses": [{"expression": package.licence}],
    });
    if package.is_foreign {
        component["purl"] = purl(package).into();
    }
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

fn depends(graph: &Graph, package: &Package) -> Value {
    let needs: Vec<String> = package
        .needs
        .iter()
        .map(|id| purl(&graph.packages[id]))
        .collect();
    json!({"ref": purl(package), "dependsOn": needs})
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}
