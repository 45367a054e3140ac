//! `gyrase cite`.

use clap::Args;

use crate::failure::Result;
use crate::sink;

const FACTS: &str = include_str!("../../CITATION.cff");

/// Say how to cite Gyrase.
#[derive(Debug, Args)]
pub struct Cite {
    /// Print a BibTeX entry
    #[arg(long)]
    bibtex: bool,
}

impl Cite {
    /// Prints the citation.
    pub fn run(&self) -> Result<()> {
        let text = if self.bibtex { bibtex() } else { sentence() };
        sink::write_all(None, text.as_bytes())
    }
}

/// The value of a top-level key of CITATION.cff.
fn fact(key: &str) -> &'static str {
    let value = FACTS
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    value.unwrap_or_default().trim().trim_matches('"')
}

fn author() -> &'static str {
    let name = FACTS
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("- name: "));
    name.unwrap_or_default().trim_matches('"')
}

/// The day of the release.
pub fn released() -> &'static str {
    fact("date-released")
}

fn year() -> &'static str {
    released().get(..4).unwrap_or_default()
}

fn sentence() -> String {
    format!(
        "Please cite Gyrase as\n\n  {} ({}). {}. Version {}. {}\n",
        author(),
        year(),
        fact("title"),
        fact("version"),
        fact("repository-code")
    )
}

fn bibtex() -> String {
    format!(
        "@software{{gyrase,\n  author  = {{{{{}}}}},\n  title   = {{{}}},\n  version = {{{}}},\n  \
         year    = {{{}}},\n  url     = {{{}}}\n}}\n",
        author(),
        fact("title"),
        fact("version"),
        year(),
        fact("repository-code")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_there() {
        assert_eq!(fact("version"), env!("CARGO_PKG_VERSION"));
        for fact in [author(), fact("title"), fact("repository-code"), year()] {
            assert!(!fact.is_empty(), "{FACTS}");
        }
    }
}
