//! Where the library is.

use std::env;
use std::path::PathBuf;

/// The name of the library's file.
pub const FILE: &str = "libgyrase_gpu.so";

/// The variable of the environment that names the library.
pub const VARIABLE: &str = "GYRASE_GPU";

/// The file that [`VARIABLE`] names, or that stands beside the program or in `lib` beside its
/// folder; nothing where there is none.
pub(crate) fn place() -> Option<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let program = env::current_exe().ok()?;
    let folder = program.parent()?;
    let places = [folder.join(FILE), folder.join("../lib").join(FILE)];
    places.into_iter().find(|place| place.is_file())
}
