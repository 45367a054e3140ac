//! The library that tests are of: that which the environment names, or the host twin of it, the
//! same sources made by a C++ compiler.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// The library; the twin is made in `folder`. Nothing, and a sentence that says so, where there is
/// no C++ compiler.
#[allow(
    clippy::print_stderr,
    reason = "who runs tests hears what was not tested"
)]
pub fn twin(folder: &Path) -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/device/gyrase_gpu.cu");
    let made = MADE.get_or_init(|| {
        let named = env::var_os("GYRASE_GPU").map(PathBuf::from);
        named.or_else(|| make(folder, &source, "gyrase_gpu_host"))
    });
    if made.is_none() {
        eprintln!("skipped: no C++ compiler makes the host twin of the library for GPUs");
    }
    made.as_deref()
}

/// Makes the library `name` of a source that has those of the device, unless that was done since
/// the sources changed. A compiler that does not understand them is an error and no reason to skip.
pub fn make(folder: &Path, source: &Path, name: &str) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/device");
    let made = folder.join(format!("lib{name}.so"));
    if is_current(&made, &sources) && is_current(&made, source.parent()?) {
        return Some(made);
    }
    let named = env::var("CXX").ok();
    let compilers = named
        .as_deref()
        .map_or(vec!["c++", "g++", "clang++"], |one| vec![one]);
    let compiler = compilers.into_iter().find(|compiler| {
        let version = Command::new(compiler).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    })?;
    // Another process of tests may make it too: each its own, and then it is renamed.
    let own = folder.join(format!("lib{name}.{}.so", std::process::id()));
    let status = Command::new(compiler)
        .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror"])
        .args(["-shared", "-fPIC", "-fvisibility=hidden", "-x", "c++", "-I"])
        .args([&sources, source])
        .arg("-o")
        .arg(&own)
        .status();
    assert!(status.unwrap().success(), "{compiler} makes the twin");
    fs::rename(own, &made).unwrap();
    Some(made)
}

/// True when a file is newer than all of a folder.
fn is_current(made: &Path, sources: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|there| there.modified()).ok();
    let entries = fs::read_dir(sources).unwrap();
    let newest = entries
        .filter_map(|entry| changed(&entry.unwrap().path()))
        .max();
    changed(made).is_some_and(|made| Some(made) > newest)
}
