//! Where a page comes from: program, database, date.

use std::fmt::Write;

use gyrase_picture::escape;

/// Where a page comes from. All names may be any text.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// What the reads were compared with: what it is, in a word such as "Database", and its name.
    pub sources: Vec<(&'static str, String)>,
    /// The date that the page bears.
    pub date: Option<String>,
}

impl Origin {
    /// What a page says of it, and the end of its main part.
    pub fn html(&self) -> String {
        let mut out = String::from("<section>\n<h2>About this page</h2>\n<dl>\n");
        let mut entry = |term: &str, words: &str| {
            let words = escape(words);
            writeln!(out, "<dt>{term}</dt><dd>{words}</dd>").expect("a String takes every text");
        };
        entry(
            "Program",
            concat!("gyrase ", env!("CARGO_PKG_VERSION"), ", classify"),
        );
        for (kind, name) in &self.sources {
            entry(kind, name);
        }
        let none = "none, so that the same run gives the same bytes; SOURCE_DATE_EPOCH sets one";
        entry("Date", self.date.as_deref().unwrap_or(none));
        out.push_str("</dl>\n</section>\n</main>\n");
        out
    }
}
