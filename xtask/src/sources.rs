//! House rules that can be read off the source files.

use std::path::{Path, PathBuf};

use crate::{Result, functions, scripts, widths};

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

/// The names below `root` of all sources, and what is in them.
pub fn read(root: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    collect(root, &mut files).map_err(|error| format!("cannot list the source files: {error}"))?;
    files.sort();
    let name = |file: &Path| {
        let below = file.strip_prefix(root).unwrap_or(file);
        below.to_string_lossy().into_owned()
    };
    // What is not text is no source.
    let texts = files
        .iter()
        .filter_map(|file| Some((name(file), std::fs::read_to_string(file).ok()?)));
    Ok(texts.collect())
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
        } else if is_source(&entry.path()) {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn is_source(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let in_bench = file
        .parent()
        .is_some_and(|folder| folder.ends_with("bench"));
    let ends = [".rs", ".toml", ".sh", ".py", ".md", "run"];
    ends.iter().any(|end| name.ends_with(end)) || in_bench && !name.contains('.')
}

/// What is wrong with the source of this name below `root`.
pub fn breaches(root: &Path, name: &str, text: &str) -> Vec<String> {
    let mut found = check(name, text);
    if !name.ends_with(".rs") && !name.ends_with(".md") {
        found.extend(scripts::breaches(root, name, text));
    }
    found.extend(too_long(name, text));
    let told = |breach: String| format!("{name}: {breach}");
    found.into_iter().map(told).collect()
}

/// What is too long in the source of this name: functions, lines.
fn too_long(name: &str, text: &str) -> Vec<String> {
    let (functions, lines) = match name {
        rust if rust.ends_with(".rs") => (functions::breaches(name, text), widths::rust(text)),
        prose if prose.ends_with(".md") => (Vec::new(), widths::markdown(text)),
        _ if text.starts_with("#!") => (Vec::new(), widths::script(text)),
        _ => (Vec::new(), Vec::new()),
    };
    functions.into_iter().chain(lines).collect()
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
