//! Breaches of rules that are younger than the code: known by number, which may only fall.

use std::collections::BTreeMap;

/// A rule that some of the code does not keep yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Functions of a size to be read at once.
    Function,
    /// Modules depend on each other one way.
    Cycle,
    /// Lines that fit a screen.
    Width,
    /// One public name for one thing.
    Name,
}

/// A breach of such a rule: where, and what is wrong.
#[derive(Debug)]
pub struct Breach {
    /// The rule.
    pub rule: Rule,
    /// The file or the crate, from the root of the repository.
    pub place: String,
    /// What is wrong there.
    pub text: String,
}

/// How many breaches a crate, a file, or a folder with all below it still has.
const KNOWN: &[(Rule, &str, usize)] =
    &[(Rule::Width, "crates/cli/", 10), (Rule::Name, "crates", 2)];

/// The breaches that are not known, and what is known that is there no longer.
pub fn unknown(breaches: &[Breach]) -> Vec<String> {
    beyond(KNOWN, breaches)
}

fn beyond(known: &[(Rule, &str, usize)], breaches: &[Breach]) -> Vec<String> {
    let mut groups: BTreeMap<(Rule, &str), Vec<String>> = BTreeMap::new();
    for &(rule, place, _) in known {
        groups.insert((rule, place), Vec::new());
    }
    for Breach { rule, place, text } in breaches {
        let group = known
            .iter()
            .find(|entry| entry.0 == *rule && holds(entry.1, place));
        let owner = group.map_or(place.as_str(), |entry| entry.1);
        groups
            .entry((*rule, owner))
            .or_default()
            .push(format!("{place}: {text}"));
    }
    let allowed = |rule, owner| {
        let entry = known
            .iter()
            .find(|entry| (entry.0, entry.1) == (rule, owner));
        entry.map_or(0, |entry| entry.2)
    };
    let judged = groups.into_iter().map(|((rule, owner), found)| {
        let (now, known) = (found.len(), allowed(rule, owner));
        match now.cmp(&known) {
            std::cmp::Ordering::Greater => found,
            std::cmp::Ordering::Equal => Vec::new(),
            std::cmp::Ordering::Less => {
                vec![format!(
                    "{owner}: {now} of {rule:?}, not {known}: lower it in {}",
                    file!()
                )]
            }
        }
    });
    judged.flatten().collect()
}

/// True when the folder, or the one place of this name, has that place.
fn holds(known: &str, place: &str) -> bool {
    place == known || known.ends_with('/') && place.starts_with(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debt_may_only_fall() {
        let breach = |place: &str| Breach {
            rule: Rule::Width,
            place: place.into(),
            text: "wide".into(),
        };
        let known = [(Rule::Width, "crates/x/", 2)];
        let two = [breach("crates/x/a.rs"), breach("crates/x/b.rs")];
        assert!(beyond(&known, &two).is_empty());
        assert_eq!(beyond(&known, &two[..1]).len(), 1);
        let more = [
            breach("crates/x/a.rs"),
            breach("crates/x/b.rs"),
            breach("crates/x/c.rs"),
        ];
        assert_eq!(beyond(&known, &more).len(), 3);
        assert_eq!(
            beyond(
                &known,
                &[
                    breach("crates/y/a.rs"),
                    breach("crates/x/a.rs"),
                    breach("crates/x/b.rs")
                ]
            ),
            ["crates/y/a.rs: wide"]
        );
        let other = Breach {
            rule: Rule::Name,
            ..breach("crates/x/a.rs")
        };
        assert_eq!(beyond(&[], &[other]).len(), 1);
    }
}
