//! The paths that a command line means: lists of files, standard input.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::source;

/// Replaces every `@list` by the paths in it: one a line, relative to the list's folder; blank
/// lines and lines that start with `#` are skipped. `-` is standard input, once. A file whose name
/// starts with `@` is given as `./@name`. What comes out stays as it is when it is expanded again.
///
/// # Errors
/// A list cannot be read, names no file or another list; there is no path at all, or `-` twice
/// ([`Error::is_usage`]).
pub fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut expanded = Vec::new();
    for path in paths {
        match path.to_str().and_then(|path| path.strip_prefix('@')) {
            Some(list) => read_list(Path::new(list), &mut expanded)?,
            None => expanded.push(path.clone()),
        }
    }
    if expanded
        .iter()
        .filter(|path| is_standard_input(path))
        .count()
        > 1
    {
        return Err(Error::Arguments(
            "standard input (-) can be read only once".to_owned(),
        ));
    }
    if expanded.is_empty() {
        return Err(Error::Arguments(
            "no input file is given; use - for standard input".to_owned(),
        ));
    }
    Ok(expanded)
}

pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn read_list(list: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Error> {
    source::open(list)?;
    let text = std::fs::read_to_string(list).map_err(|source| Error::Open {
        path: list.to_path_buf(),
        source,
    })?;
    let folder = list.parent().unwrap_or(Path::new(""));
    let before = paths.len();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if line.starts_with('@') {
            let list = list.display();
            return Err(Error::Arguments(format!(
                "{list}: a list cannot name another list ({line})"
            )));
        }
        let path = if line == "-" {
            PathBuf::from(line)
        } else {
            folder.join(line)
        };
        let names_a_list = path.as_os_str().as_encoded_bytes().starts_with(b"@");
        paths.push(if names_a_list {
            Path::new(".").join(path)
        } else {
            path
        });
    }
    if paths.len() == before {
        let list = list.display();
        return Err(Error::Arguments(format!(
            "{list}: the list names no file; write one path a line, not the reads"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_relative_to_themselves() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list.txt");
        std::fs::write(&list, "# reads\n\n a.fq \r\nsub/b.fq\n/abs/c.fq\n").unwrap();
        let at = PathBuf::from(format!("@{}", list.display()));
        let paths = expand(&[PathBuf::from("-"), at.clone()]).unwrap();
        let want = [
            "-".into(),
            folder.path().join("a.fq"),
            folder.path().join("sub/b.fq"),
            "/abs/c.fq".into(),
        ];
        assert_eq!(paths, want);
        std::fs::write(&list, "-\n").unwrap();
        assert!(
            expand(&[PathBuf::from("-"), at.clone()])
                .unwrap_err()
                .is_usage()
        );
        std::fs::write(&list, "@list.txt\n").unwrap();
        assert!(expand(std::slice::from_ref(&at)).unwrap_err().is_usage());
        std::fs::write(&list, "\n").unwrap();
        std::fs::write(&list, "# nothing\n\n").unwrap();
        for paths in [vec![at.clone()], vec![PathBuf::from("a.fq"), at]] {
            let error = expand(&paths).unwrap_err();
            assert!(
                error.is_usage()
                    && error
                        .to_string()
                        .contains("list.txt: the list names no file"),
                "{error}"
            );
        }
        assert!(expand(&[]).unwrap_err().to_string().contains("no input"));
    }

    #[test]
    fn what_is_expanded_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list.txt");
        std::fs::write(&list, "a.fq\n-\n/abs/@c.fq\n").unwrap();
        let once = expand(&[PathBuf::from(format!("@{}", list.display()))]).unwrap();
        assert_eq!(expand(&once).unwrap(), once);
    }
}
