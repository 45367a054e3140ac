//! Lines that fit a screen: 100 characters of Rust, 120 of Markdown and of scripts.

use crate::masked;

const RUST: usize = 100;
const TEXT: usize = 120;

/// What a Rust line may end in after a literal that is too long to fit.
const AFTER_A_LITERAL: &str = "),;?{}]. ";

/// The lines of Rust that are too long. One whose excess is a literal or an address may be.
pub fn rust(text: &str) -> Vec<String> {
    let comment = b'/';
    let literal = b'"';
    let masked = masked::blanked(text, comment, literal);
    let mut start = 0;
    let mut found = Vec::new();
    for (i, line) in text.split('\n').enumerate() {
        let shape = &masked[start..start + line.len()];
        start += line.len() + 1;
        if line.chars().count() > RUST && !is_address(line) && !ends_in_literal(line, shape) {
            found.push(format!("line {}: more than {RUST} characters", i + 1));
        }
    }
    found
}

/// True when all that is too much is a literal and what closes around it.
fn ends_in_literal(line: &str, shape: &str) -> bool {
    let border = line
        .char_indices()
        .nth(RUST)
        .map_or(line.len(), |(at, _)| at);
    let begins = shape[..border].ends_with('"');
    begins
        && shape[border..]
            .chars()
            .all(|letter| letter == '"' || AFTER_A_LITERAL.contains(letter))
}

/// True when the line is one word, which nothing can break, or has an address at its end.
fn is_address(line: &str) -> bool {
    let last = line.rsplit(' ').next().unwrap_or_default();
    last.contains("://")
        || line
            .split_whitespace()
            .filter(|word| !is_mark(word))
            .count()
            == 1
}

/// What begins a comment, an item of a list or a quotation.
fn is_mark(word: &str) -> bool {
    word.chars().all(|letter| !letter.is_alphanumeric())
}

/// The lines of Markdown that are too long. Rows of tables cannot be broken.
pub fn markdown(text: &str) -> Vec<String> {
    too_long(text, |line| line.starts_with('|') || is_address(line))
}

/// The lines of a script that are too long.
pub fn script(text: &str) -> Vec<String> {
    too_long(text, is_address)
}

fn too_long(text: &str, may_be: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = text.lines().enumerate();
    let long = lines.filter(|(_, line)| line.chars().count() > TEXT && !may_be(line));
    long.map(|(i, _)| format!("line {}: more than {TEXT} characters", i + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_100_wide() {
        let code = format!("let x = {};", "f(1) + ".repeat(14));
        assert_eq!(rust(&code).len(), 1);
        assert_eq!(rust(&format!("// {}", "word ".repeat(20))).len(), 1);
        assert!(rust(&format!("// {}", "é".repeat(97))).is_empty());
        assert!(rust(&format!("/// [paper]: https://{}", "x".repeat(100))).is_empty());
    }

    #[test]
    fn literals_may_be_too_long() {
        let words = "word ".repeat(20);
        assert!(rust(&format!("    f(\"{words}\")?;")).is_empty());
        assert!(rust(&format!("\"first\n{words}\nlast\"")).is_empty());
        assert_eq!(rust(&format!("    f(\"{words}\", other(1))?;")).len(), 1);
    }

    #[test]
    fn text_is_120_wide_but_for_tables() {
        let words = "word ".repeat(25);
        assert_eq!(markdown(&words).len(), 1);
        assert!(markdown(&format!("| {words} |")).is_empty());
        assert_eq!(script(&format!("| {words} |")).len(), 1);
        assert!(script(&"word ".repeat(24)).is_empty());
    }
}
