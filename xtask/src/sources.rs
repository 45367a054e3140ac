//! House rules that can be read off the source files.

use std::path::{Path, PathBuf};

use crate::Result;

/// Lines that a source file may have.
const LONGEST: usize = 750;

/// Tables and kernels may be longer; each with its reason.
const LONG: [(&str, &str); 0] = [];

/// Where `unsafe` may stand, beside every `src/arch/`; each with its reason.
const UNSAFE: [(&str, &str); 2] = [
    ("crates/table/src/map.rs", "the memory map of a database"),
    (
        "crates/fabric-mpi/src/shim.rs",
        "the calls of MPI, which is loaded at run time",
    ),
];

/// Every breach of the rules below `root`.
pub fn breaches(root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(root, &mut files).map_err(|error| format!("cannot list the source files: {error}"))?;
    files.sort();
    let mut found = Vec::new();
    for file in files {
        // What is not text is no source.
        if let Ok(text) = std::fs::read_to_string(&file) {
            let name = file
                .strip_prefix(root)
                .unwrap_or(&file)
                .to_string_lossy()
                .into_owned();
            found.extend(
                check(&name, &text)
                    .into_iter()
                    .map(|breach| format!("{name}: {breach}")),
            );
        }
    }
    Ok(found)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let skipped = [
            ".git",
            "target",
            "data",
            "out",
            "corpus",
            "artifacts",
            "coverage",
            "golden",
        ];
        if entry.file_type()?.is_dir() {
            if !skipped.iter().any(|skip| name == *skip) {
                collect(&entry.path(), files)?;
            }
        } else if is_source(&name.to_string_lossy()) {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn is_source(name: &str) -> bool {
    [".rs", ".toml", ".sh", ".py", "run"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn check(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let native = ["target-cpu", "march"].map(|flag| format!("{flag}=native"));
    for (i, line) in text.lines().enumerate() {
        if native.iter().any(|flag| line.contains(flag)) {
            found.push(format!(
                "line {}: builds must run on any machine, so nothing native",
                i + 1
            ));
        }
    }
    if name.ends_with(".rs") {
        found.extend(check_rust(name, text));
    }
    found
}

fn check_rust(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !text.starts_with("//! ") {
        found.push("the first line must say, after //!, what the file is for".to_string());
    }
    let lines = text.lines().count();
    if lines > LONGEST && !LONG.iter().any(|long| long.0 == name) {
        found.push(format!(
            "{lines} lines are more than {LONGEST}: split it by meaning"
        ));
    }
    for (i, line) in text.lines().enumerate() {
        found.extend(check_line(name, line).map(|breach| format!("line {}: {breach}", i + 1)));
    }
    found
}

fn check_line(name: &str, line: &str) -> Option<&'static str> {
    let unfinished = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("db", "g!("),
        concat!("#[ig", "nore"),
    ];
    if unfinished.iter().any(|word| line.contains(word)) {
        return Some("unfinished work");
    }
    if is_unsafe(line) && !may_be_unsafe(name) {
        return Some("unsafe belongs into src/arch/, the memory map of table or the calls of MPI");
    }
    None
}

/// True when the keyword stands in the line's code.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    [
        concat!("uns", "afe {"),
        concat!("uns", "afe fn"),
        concat!("uns", "afe impl"),
    ]
    .iter()
    .any(|form| code.contains(form))
}

fn may_be_unsafe(name: &str) -> bool {
    name.contains("/src/arch/") || UNSAFE.iter().any(|place| place.0 == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_the_house_forbids() {
        assert!(check("crates/x/src/a.rs", "//! Says.\nfn f() {}\n").is_empty());
        assert_eq!(check("crates/x/src/a.rs", "fn f() {}\n").len(), 1);
        let long = "//! Says.\n".repeat(751);
        assert_eq!(check("crates/x/src/a.rs", &long).len(), 1);
        for bad in [
            concat!("// TO", "DO later"),
            concat!("db", "g!(x)"),
            concat!("uns", "afe { f() }"),
        ] {
            assert_eq!(
                check("crates/x/src/a.rs", &format!("//! Says.\n{bad}\n")).len(),
                1,
                "{bad}"
            );
        }
        let kernel = concat!("//! Says.\nuns", "afe fn f() {}\n");
        assert!(check("crates/x/src/arch/a.rs", kernel).is_empty());
        assert_eq!(
            check(
                "a.toml",
                &["rustflags = \"-C target-cpu", "=native\""].concat()
            )
            .len(),
            1
        );
    }
}
