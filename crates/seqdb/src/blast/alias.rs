//! Alias files: which volumes a database has.

use std::path::{Path, PathBuf};

use super::files::with_ending;
use crate::SeqDbError;

/// Aliases within aliases.
const DEEPEST: usize = 16;

/// What an alias file may say of its databases beside their names: sums, which are made again.
const PASSED_OVER: [&str; 4] = ["TITLE", "NSEQ", "LENGTH", "MAXLEN"];

/// The names of the volumes of a database, in BLAST's order: by the name of the file, whatever the
/// alias says, each once (`CSeqDBAliasNode::FindVolumePaths`).
pub(super) fn volumes(prefix: &Path, letter: char) -> Result<Vec<PathBuf>, SeqDbError> {
    let mut names = Vec::new();
    expand(prefix, letter, 0, &mut names)?;
    names.sort_by(|one, other| (one.file_name(), one).cmp(&(other.file_name(), other)));
    names.dedup();
    Ok(names)
}

fn expand(
    prefix: &Path,
    letter: char,
    depth: usize,
    names: &mut Vec<PathBuf>,
) -> Result<(), SeqDbError> {
    let path = with_ending(prefix, letter, "al");
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        // Where there is no alias there is a volume, or opening it says what is missing.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            names.push(prefix.to_path_buf());
            return Ok(());
        }
        Err(source) => return Err(SeqDbError::open(path, source)),
    };
    if depth == DEEPEST {
        return Err(SeqDbError::corrupt(
            path,
            format!("aliases name each other, {DEEPEST} deep"),
        ));
    }
    let folder = prefix.parent().unwrap_or(Path::new(""));
    for name in members(&path, &String::from_utf8_lossy(&text))? {
        let member = folder.join(&name);
        // A volume may have the name of the alias itself.
        if member == prefix {
            names.push(member);
        } else {
            expand(&member, letter, depth + 1, names)?;
        }
    }
    Ok(())
}

/// The databases that an alias file names.
fn members(path: &Path, text: &str) -> Result<Vec<String>, SeqDbError> {
    let mut members = None;
    for line in text.lines().map(str::trim) {
        let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match key {
            "" => {}
            _ if key.starts_with('#') || PASSED_OVER.contains(&key) => {}
            "DBLIST" => members = Some(words(value)),
            _ => {
                return Err(SeqDbError::Unsupported {
                    path: path.to_path_buf(),
                    what: format!("has the line {line:?}, which is not read"),
                });
            }
        }
    }
    members
        .filter(|members| !members.is_empty())
        .ok_or_else(|| {
            let what = "the alias file has no line DBLIST that names databases";
            SeqDbError::corrupt(path.to_path_buf(), what.into())
        })
}

/// The words of a line; one with spaces stands in quotes.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(String::from).collect(),
        _ => vec![part.to_owned()],
    });
    words.filter(|word: &String| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_names_its_databases() {
        let of = |text: &str| members(Path::new("nr.pal"), text);
        let text = "#\n# made\n#\nTITLE All of it\nDBLIST nr.00 \"my nr.01\" nr.02\nNSEQ 7\n";
        assert_eq!(of(text).unwrap(), ["nr.00", "my nr.01", "nr.02"]);
        for key in [
            "GILIST",
            "SEQIDLIST",
            "TAXIDLIST",
            "OIDLIST",
            "FIRST_OID",
            "STATS_NSEQ",
        ] {
            let error = of(&format!("DBLIST a\n{key} x\n")).unwrap_err().to_string();
            assert!(error.contains(&format!("{key} x")), "{error}");
            assert!(error.contains("blastdbcmd -db nr -entry all"), "{error}");
        }
        for text in ["", "TITLE x\nDBLIST\n"] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains("DBLIST"), "{error}");
        }
    }

    #[test]
    fn a_circle_of_aliases_ends() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("a.pal"), "DBLIST b\n").unwrap();
        std::fs::write(place("b.pal"), "DBLIST c a\n").unwrap();
        let error = volumes(&place("a"), 'p').unwrap_err().to_string();
        assert!(error.contains("name each other"), "{error}");
        std::fs::write(place("b.pal"), "DBLIST e/c d b c d\n").unwrap();
        let expected = ["b", "c", "e/c", "d"].map(place);
        assert_eq!(volumes(&place("a"), 'p').unwrap(), expected);
    }
}
