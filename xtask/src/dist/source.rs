//! The sources of a release as one archive, and the recipe of Bioconda that builds from it.

use std::path::Path;

use super::archive;
use crate::{Result, steps};

/// What stands in the recipe for the checksum of the archive.
const UNKNOWN: &str = "@SHA256@";

/// The folder of the recipe, and its files.
const RECIPE: &str = "bioconda";
const FILES: [&str; 2] = ["meta.yaml", "build.sh"];

/// Packs the commit that is checked out, and writes the recipe; gives the name of the archive.
pub fn pack(folder: &Path) -> Result<String> {
    let stem = concat!("gyrase-", env!("CARGO_PKG_VERSION"));
    let name = format!("{stem}.tar.gz");
    let prefix = format!("--prefix={stem}/");
    let mut packed = steps::command("git", &["archive", "--format=tar.gz", &prefix, "--output"]);
    packed.arg(folder.join(&name)).arg("HEAD");
    steps::succeed(packed, "sources of the commit that is checked out")?;
    recipe(folder, &archive::sum_of(&folder.join(&name))?)?;
    Ok(name)
}

fn recipe(folder: &Path, sum: &str) -> Result<()> {
    let (from, to) = (
        steps::root().join("packaging").join(RECIPE),
        folder.join(RECIPE),
    );
    let written = || -> std::io::Result<()> {
        std::fs::create_dir_all(&to)?;
        for file in FILES {
            let text = std::fs::read_to_string(from.join(file))?.replace(UNKNOWN, sum);
            // Its comment is about the file without the checksum.
            let lines = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("# `cargo xtask"));
            let text: String = lines.map(|line| format!("{line}\n")).collect();
            std::fs::write(to.join(file), text)?;
        }
        Ok(())
    };
    written().map_err(|error| format!("{}: {error}", to.display()))
}
