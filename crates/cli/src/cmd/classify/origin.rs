//! What a page says of where it comes from.

use std::path::{Path, PathBuf};

use gyrase_classify::report::Origin;
use gyrase_picture::words;

use crate::failure::{Failure, Result};

/// What a build that is to be repeated names its date by, in seconds since 1970
/// (<https://reproducible-builds.org/specs/source-date-epoch/>).
const DATE: &str = "SOURCE_DATE_EPOCH";

/// These sources, with the date that the environment sets; without it there is none, since the same
/// run gives the same bytes on any day.
pub fn of(sources: Vec<(&'static str, String)>) -> Result<Origin> {
    let date = std::env::var_os(DATE).filter(|seconds| !seconds.is_empty());
    let date = date.map(|seconds| {
        let text = seconds.to_string_lossy();
        let seconds = text.parse().map_err(|_| {
            Failure::usage(format!("{DATE} is {text:?}, but it is seconds since 1970"))
        })?;
        Ok::<_, Failure>(words::date(seconds))
    });
    Ok(Origin {
        sources,
        date: date.transpose()?,
    })
}

/// Of stored candidates.
pub fn of_stored(paths: &[PathBuf]) -> Result<Origin> {
    let named = paths.iter().map(|path| ("Stored candidates", name(path)));
    of(named.collect())
}

/// The name of a file, wherever it is.
pub fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
