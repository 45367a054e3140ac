//! Modules of a crate depend on each other one way: no cycles.
//!
//! A module is a file. It depends on another when one of its paths leads there, through whatever
//! re-exports. Tests are left out, and so is what a module only offers on (`pub use`).

use std::collections::{BTreeMap, BTreeSet};

use crate::{masked, paths};

type Name = Vec<String>;

/// What a module's file says.
struct Module {
    children: BTreeSet<String>,
    paths: Vec<paths::Path>,
}

type Modules = BTreeMap<Name, Module>;
type Edges = BTreeMap<Name, BTreeSet<Name>>;

/// The modules of a crate that depend on each other, cycle by cycle, each with those of its cycle
/// that it uses; `files` are the names below `src/`, and what is in them.
pub fn cycles(files: &[(String, String)]) -> Vec<Vec<(String, String)>> {
    let modules = read(files);
    let edges: Edges = modules
        .keys()
        .map(|name| (name.clone(), targets(&modules, name)))
        .collect();
    let reach: Edges = edges
        .keys()
        .map(|name| (name.clone(), reachable(&edges, name)))
        .collect();
    let mut cycles: BTreeSet<Vec<Name>> = BTreeSet::new();
    for (name, far) in &reach {
        let back = far.iter().filter(|other| reach[*other].contains(name));
        let members: Vec<Name> = back.cloned().collect();
        if !members.is_empty() {
            cycles.insert(members);
        }
    }
    cycles.iter().map(|members| uses(&edges, members)).collect()
}

fn uses(edges: &Edges, members: &[Name]) -> Vec<(String, String)> {
    let spell = |name: &Name| {
        if name.is_empty() {
            "lib".into()
        } else {
            name.join("::")
        }
    };
    let used = |name: &Name| {
        let within = edges[name].iter().filter(|other| members.contains(other));
        within.map(spell).collect::<Vec<_>>().join(", ")
    };
    members
        .iter()
        .map(|name| (spell(name), used(name)))
        .collect()
}

fn read(files: &[(String, String)]) -> Modules {
    let named = files
        .iter()
        .map(|(file, text)| (name_of(file), without_tests(&masked::code(text))));
    let named: Vec<(Name, (String, BTreeSet<Name>))> = named.collect();
    let mut tests = BTreeSet::new();
    for (name, (_, own)) in &named {
        tests.extend(
            own.iter()
                .map(|child| [name.clone(), child.clone()].concat()),
        );
    }
    let names: BTreeSet<Name> = named.iter().map(|(name, _)| name.clone()).collect();
    let real = named.into_iter().filter(|(name, _)| !tests.contains(name));
    real.map(|(name, (code, _))| {
        let below = names.iter().filter(|other| other.len() == name.len() + 1);
        let children = below.filter(|other| other.starts_with(&name) && !tests.contains(*other));
        let children = children.filter_map(|other| other.last().cloned()).collect();
        (
            name,
            Module {
                children,
                paths: paths::paths(&code),
            },
        )
    })
    .collect()
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`; the root has no name.
fn name_of(file: &str) -> Name {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if ["lib", "main"].contains(&stem) {
        return Vec::new();
    }
    stem.split('/').map(String::from).collect()
}

/// The code without its test modules, and the names of those that are files of their own.
fn without_tests(code: &str) -> (String, BTreeSet<Name>) {
    let (mut kept, mut files) = (String::new(), BTreeSet::new());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("#[cfg(test)]") {
        kept.push_str(before);
        let body = after.trim_start();
        let declared = body
            .split_once("mod ")
            .filter(|(visible, _)| !visible.contains([';', '{']));
        rest = match (declared, after.find([';', '{'])) {
            (Some((_, name)), Some(end)) if after.as_bytes()[end] == b';' => {
                let name = name.split(';').next().unwrap_or_default();
                files.insert(vec![name.trim().to_string()]);
                &after[end + 1..]
            }
            (_, Some(end)) if after.as_bytes()[end] == b'{' => past_braces(after, end),
            (_, Some(end)) => &after[end + 1..],
            (_, None) => "",
        };
    }
    kept.push_str(rest);
    (kept, files)
}

fn past_braces(code: &str, open: usize) -> &str {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        if depth == 0 {
            return &code[at + 1..];
        }
    }
    ""
}

/// The modules that one depends on.
fn targets(modules: &Modules, name: &Name) -> BTreeSet<Name> {
    let used = modules[name].paths.iter().filter(|path| !path.public);
    let found = used.filter_map(|path| resolve(modules, name, &path.words, 0));
    found.filter(|other| other != name).collect()
}

/// The module that a path of `from` leads to, if it is one of the crate.
fn resolve(modules: &Modules, from: &Name, words: &[String], depth: u32) -> Option<Name> {
    let (first, mut rest) = words.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => from.clone(),
        "super" => from[..from.len().checked_sub(1)?].to_vec(),
        child if modules.get(from)?.children.contains(child) => [from, &words[..1]].concat(),
        _ => return None,
    };
    while let Some((word, after)) = rest.split_first() {
        if word == "super" {
            at.pop()?;
        } else if modules.get(&at)?.children.contains(word) {
            at.push(word.clone());
        } else {
            return Some(brought(modules, &at, word, depth).unwrap_or(at));
        }
        rest = after;
    }
    modules.contains_key(&at).then_some(at)
}

/// Where a name comes from that a module has from elsewhere.
fn brought(modules: &Modules, at: &Name, word: &str, depth: u32) -> Option<Name> {
    // Names that lead in a circle do not compile; this only ends the search.
    if depth > 8 {
        return None;
    }
    let mut named = modules
        .get(at)?
        .paths
        .iter()
        .filter(|path| path.name.as_deref() == Some(word));
    named.find_map(|path| resolve(modules, at, &path.words, depth + 1))
}

/// All that can be reached, by one step or many.
fn reachable(edges: &Edges, from: &Name) -> BTreeSet<Name> {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&Name> = edges[from].iter().collect();
    while let Some(name) = waiting.pop() {
        if seen.insert(name.clone()) {
            waiting.extend(edges.get(name).into_iter().flatten());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::cycles;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let owned = files
            .iter()
            .map(|(name, text)| (name.to_string(), text.to_string()));
        let cycles = cycles(&owned.collect::<Vec<_>>());
        let members = cycles.into_iter().flatten();
        members
            .map(|(module, uses)| format!("{module} -> {uses}"))
            .collect()
    }

    #[test]
    fn one_way_is_no_cycle() {
        let lib = ("lib.rs", "mod a;\nmod b;\npub use a::A;\nfn f() { b::g() }");
        assert!(found(&[lib, ("a.rs", "pub struct A;"), ("b.rs", "use crate::A;")]).is_empty());
    }

    #[test]
    fn finds_cycles_through_uses_and_code() {
        let lib = ("lib.rs", "mod a;\nmod b;\npub use a::A;");
        let cycle = found(&[
            lib,
            ("a.rs", "fn f() { crate::b::g() }"),
            ("b.rs", "use crate::{A};"),
        ]);
        assert_eq!(cycle, ["a -> b", "b -> a"]);
        let below = [
            ("a.rs", "mod c;\nfn f() { c::g() }"),
            ("a/c.rs", "use super::f;"),
        ];
        assert_eq!(
            found(&[lib, below[0], below[1]]),
            ["a -> a::c", "a::c -> a"]
        );
    }

    #[test]
    fn tests_may_look_anywhere() {
        let lib = ("lib.rs", "mod a;\nmod b;");
        let a = ("a.rs", "#[cfg(test)]\nmod tests {\n use crate::b::x;\n}\n");
        assert!(found(&[lib, a, ("b.rs", "use crate::a::y;")]).is_empty());
        let a = ("a.rs", "#[cfg(test)]\nmod tests;\n");
        let tests = ("a/tests.rs", "use crate::b::x;");
        assert!(found(&[lib, a, tests, ("b.rs", "use crate::a::y;")]).is_empty());
    }
}
