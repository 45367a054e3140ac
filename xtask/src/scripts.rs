//! The scripts of `bench/`: each says what it is for, and its language can read it.

use std::path::Path;
use std::process::Command;

use crate::steps;

const SHELL: &str = "#!/usr/bin/env bash";
const PYTHON: &str = "#!/usr/bin/env python3";

/// Reads a program and compiles it, and leaves nothing behind.
const COMPILE: &str =
    "import sys; p = sys.argv[1]; compile(open(p, encoding='utf-8').read(), p, 'exec')";

/// What is wrong with the script of this name, if it is one.
pub fn breaches(root: &Path, name: &str, text: &str) -> Vec<String> {
    if !text.starts_with("#!") {
        return Vec::new();
    }
    let purpose = purpose(text).map(String::from);
    purpose
        .into_iter()
        .chain(unreadable(&root.join(name), text))
        .collect()
}

/// The line after the first must say what the script is for.
fn purpose(text: &str) -> Option<&'static str> {
    let mut lines = text.lines();
    let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
    let said = match first {
        SHELL => second.strip_prefix("# "),
        PYTHON => second.strip_prefix("\"\"\""),
        _ => return Some("the first line must be that of env with bash or python3"),
    };
    let wrong = "the second line must say, in a comment, what the script is for";
    said.is_none_or(|words| words.trim().is_empty())
        .then_some(wrong)
}

/// What its interpreter says of the syntax; nothing where there is no interpreter.
fn unreadable(file: &Path, text: &str) -> Option<String> {
    let mut check = if text.starts_with(SHELL) {
        steps::command("bash", &["-n"])
    } else {
        steps::command("python3", &["-c", COMPILE])
    };
    syntax(check.arg(file))
}

fn syntax(check: &mut Command) -> Option<String> {
    let output = check.output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default().to_string();
    (!output.status.success()).then(|| format!("cannot be read: {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_says_what_it_is_for() {
        assert!(purpose("#!/usr/bin/env bash\n# bench/x: measures.\n").is_none());
        assert!(purpose("#!/usr/bin/env python3\n\"\"\"Measures.\"\"\"\n").is_none());
        assert!(purpose("#!/usr/bin/env bash\nset -e\n").is_some());
        assert!(purpose("#!/bin/sh\n# Measures.\n").is_some());
    }

    #[test]
    fn a_script_can_be_read() {
        assert!(syntax(&mut steps::command("bash", &["-n", "-c", "true"])).is_none());
        assert!(syntax(&mut steps::command("bash", &["-n", "-c", "if"])).is_some());
    }
}
