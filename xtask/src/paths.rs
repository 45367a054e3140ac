//! The paths that a Rust file names: in `use` declarations, and in its code.

use crate::masked;

/// A `use` declaration's path, or one that stands in code.
#[derive(Debug, PartialEq)]
pub struct Path {
    /// From the first word to the last; `*` for all names.
    pub words: Vec<String>,
    /// The name that a declaration brings into the module.
    pub name: Option<String>,
    /// Offered to others under that name, which is no use of it.
    pub public: bool,
}

/// Every path of masked code.
pub fn paths(code: &str) -> Vec<Path> {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut from = 0;
    while let Some((start, end)) = declaration(code, from) {
        let public = is_public(&code[..start]);
        let tree: String = code[start + 4..end].replace(" as ", "@");
        let tree: String = tree.split_whitespace().collect();
        for (words, name) in expand(&tree) {
            found.push(Path {
                words,
                name: Some(name),
                public,
            });
        }
        rest.push_str(&code[from..start]);
        from = end;
    }
    rest.push_str(&code[from..]);
    found.extend(in_code(&rest));
    found
}

/// Where the next `use` begins and where its semicolon stands.
fn declaration(code: &str, from: usize) -> Option<(usize, usize)> {
    let starts = code[from..].match_indices("use ").map(|(at, _)| from + at);
    let mut whole = starts.filter(|at| *at == 0 || !masked::is_word(code.as_bytes()[at - 1]));
    let start = whole.next()?;
    Some((start, start + code[start..].find(';')?))
}

fn is_public(before: &str) -> bool {
    let line = before.rsplit([';', '}', '\n']).next().unwrap_or_default();
    line.trim_start().starts_with("pub")
}

/// Every path of a tree without white space, with the name it gets: `a::{b, c@d}`.
fn expand(tree: &str) -> Vec<(Vec<String>, String)> {
    let Some((head, group)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once('@').unwrap_or((tree, ""));
        let mut words: Vec<String> = path.split("::").map(String::from).collect();
        if words.len() > 1 && words.last().is_some_and(|word| word == "self") {
            words.pop();
        }
        let name = if alias.is_empty() {
            words[words.len() - 1].clone()
        } else {
            alias.into()
        };
        return vec![(words, name)];
    };
    let inner = group.strip_suffix('}').unwrap_or(group);
    let parts = split_outside_braces(inner);
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .flat_map(|part| expand(&format!("{head}{part}")))
        .collect()
}

fn split_outside_braces(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
}

/// Paths of two words or more.
fn in_code(code: &str) -> Vec<Path> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
    let runs = code
        .split(|letter| !is_path(letter))
        .filter(|run| run.contains("::"));
    runs.map(|run| {
        let words = run.split("::").filter(|word| !word.is_empty());
        Path {
            words: words.map(String::from).collect(),
            name: None,
            public: false,
        }
    })
    .filter(|path| path.words.len() > 1)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelt(code: &str) -> Vec<String> {
        paths(code)
            .iter()
            .map(|path| path.words.join("::"))
            .collect()
    }

    #[test]
    fn expands_trees() {
        let found = paths("pub use crate::{a::{self, B}, c as d};\nuse super::*;\n");
        let names: Vec<_> = found
            .iter()
            .filter_map(|path| path.name.as_deref())
            .collect();
        assert_eq!(names, ["a", "B", "d", "*"]);
        assert_eq!(found[1].words, ["crate", "a", "B"]);
        assert_eq!(
            found.iter().map(|path| path.public).collect::<Vec<_>>(),
            [true, true, true, false]
        );
    }

    #[test]
    fn finds_paths_in_code() {
        assert_eq!(
            spelt("fn f() { crate::a::g::<u8>(x::Y); let z: u8 = 1; }"),
            ["crate::a::g", "x::Y"]
        );
    }
}
