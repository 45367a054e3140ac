//! `cargo xtask dist`: archives that are ready to be published, each checked before it is made.

mod archive;
mod binary;
mod bom;
mod graph;
mod licences;
mod source;
mod trial;

use std::path::{Path, PathBuf};

use crate::{Result, steps};

use archive::Entry;
use binary::GLIBC;
use graph::Graph;

/// The targets of a release. A static program runs on any Linux of its processor, one for glibc can
/// load MPI.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-musl",
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
];

const HELP: &str = "\
cargo xtask dist [--profile NAME] [TARGET...]   archives in target/archives, with checksums

Needs cargo-zigbuild and zig (pip install cargo-zigbuild ziglang), and the standard library of each
target (rustup target add TARGET).";

/// What was asked for.
struct Asked {
    profile: String,
    targets: Vec<String>,
}

fn asked(args: &[String]) -> Result<Asked> {
    let (mut profile, mut targets) = ("dist".to_string(), Vec::new());
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--profile" => profile = words.next().ok_or(HELP)?.clone(),
            flag if flag.starts_with('-') => return Err(HELP.to_string()),
            target => targets.push(target.to_string()),
        }
    }
    if targets.is_empty() {
        targets = TARGETS.map(String::from).to_vec();
    }
    Ok(Asked { profile, targets })
}

/// Builds for every target, checks what was built, and packs it.
pub fn run(args: &[String]) -> Result<()> {
    let Asked { profile, targets } = asked(args)?;
    let folder = steps::target().join("archives");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let papers = papers(&profile, &targets)?;
    let mut made = vec![source::pack(&folder)?];
    for target in &targets {
        let program = build(target, &profile)?;
        println!("== {target}: what was built");
        binary::check(&program, target)?;
        trial::run(&program, target)?;
        made.push(pack(&program, target, &papers, &folder)?);
    }
    archive::checksums(&folder, &made)
}

/// Builds the program for a target; gives its place.
fn build(target: &str, profile: &str) -> Result<PathBuf> {
    let mut versioned = target.to_string();
    if target.ends_with("-gnu") {
        versioned += &format!(".{}.{}", GLIBC.0, GLIBC.1);
    }
    let args = [
        "zigbuild",
        "--locked",
        "--package",
        "gyrase",
        "--profile",
        profile,
        "--target",
        &versioned,
    ];
    steps::succeed(steps::cargo(&args), &format!("build for {versioned}"))?;
    Ok(steps::target().join(target).join(profile).join("gyrase"))
}

/// What goes into every archive beside the program: the same for all targets.
fn papers(profile: &str, targets: &[String]) -> Result<Vec<Entry>> {
    let mut papers = Vec::new();
    for name in [
        "README.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ] {
        papers.push(Entry::of_file(name, &steps::root().join(name))?);
    }
    papers.push(Entry::of_file(
        "LICENSE-OF-FONTS",
        &steps::root().join("crates/picture/fonts/LICENSE"),
    )?);
    papers.extend(spoken()?);
    let graph = Graph::of_program(targets)?;
    papers.push(Entry::text(
        "LICENSES-OF-DEPENDENCIES.txt",
        licences::texts(&graph)?,
    ));
    papers.push(Entry::text(
        "gyrase.cdx.json",
        bom::cyclonedx(&graph, profile),
    ));
    Ok(papers)
}

/// The manual pages and the completions, which the program of this machine prints.
fn spoken() -> Result<Vec<Entry>> {
    steps::succeed(
        steps::cargo(&["build", "--locked", "--package", "gyrase"]),
        "manual pages",
    )?;
    let program = steps::target().join("debug/gyrase");
    let folder = steps::target().join("archives/man");
    // Pages of verbs that are gone must not stay.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let pages = [
        program.as_os_str(),
        "man".as_ref(),
        "--all".as_ref(),
        folder.as_os_str(),
    ];
    trial::said(&pages)?;
    let mut spoken = Vec::new();
    for name in names(&folder)? {
        spoken.push(Entry::of_file(
            &format!("share/man/man1/{name}"),
            &folder.join(&name),
        )?);
    }
    for (shell, name) in [
        ("bash", "bash-completion/completions/gyrase"),
        ("zsh", "zsh/site-functions/_gyrase"),
        ("fish", "fish/vendor_completions.d/gyrase.fish"),
    ] {
        let script = trial::said(&[program.as_os_str(), "completions".as_ref(), shell.as_ref()])?;
        spoken.push(Entry::text(&format!("share/{name}"), script));
    }
    let _ = std::fs::remove_dir_all(&folder);
    Ok(spoken)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let listed =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = listed
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Packs a program and the papers; gives the name of the archive.
fn pack(program: &Path, target: &str, papers: &[Entry], folder: &Path) -> Result<String> {
    let stem = format!("gyrase-{}-{target}", env!("CARGO_PKG_VERSION"));
    let mut entries = vec![Entry::program("bin/gyrase", program)?];
    entries.extend_from_slice(papers);
    let name = format!("{stem}.tar.gz");
    archive::write(&folder.join(&name), &stem, &entries)?;
    println!("{}", folder.join(&name).display());
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_targets_unless_some_are_named() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| word.to_string())
                .collect::<Vec<_>>()
        };
        let all = asked(&[]).expect("nothing is needed");
        assert_eq!(
            (all.profile.as_str(), all.targets.len()),
            ("dist", TARGETS.len())
        );
        let one = asked(&words(&["--profile", "measure", "x"])).expect("they are known");
        assert_eq!(
            (one.profile.as_str(), one.targets),
            ("measure", words(&["x"]))
        );
        assert!(asked(&words(&["--fast"])).is_err());
    }
}
