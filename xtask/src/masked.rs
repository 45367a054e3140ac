//! Rust source with its comments and literals blanked out, so that what is left is code alone.

/// What a piece of source is.
enum Piece {
    /// A comment of this length in bytes.
    Comment(usize),
    /// A string or a character of this length in bytes.
    Literal(usize),
    /// One byte of code.
    Code,
}

/// `text` with a space for every byte of a comment or a literal. Line breaks stay.
pub fn code(text: &str) -> String {
    blanked(text, b' ', b' ')
}

/// `text` with these bytes for those of comments and of literals. Line breaks stay.
pub fn blanked(text: &str, comment: u8, literal: u8) -> String {
    let bytes = text.as_bytes();
    let mut masked = Vec::with_capacity(bytes.len());
    while masked.len() < bytes.len() {
        let here = masked.len();
        let (length, blank) = match piece(bytes, here) {
            Piece::Comment(length) => (length, comment),
            Piece::Literal(length) => (length, literal),
            Piece::Code if bytes[here].is_ascii() => (1, bytes[here]),
            Piece::Code => (1, b'_'),
        };
        let hidden = &bytes[here..(here + length).min(bytes.len())];
        masked.extend(
            hidden
                .iter()
                .map(|byte| if *byte == b'\n' { b'\n' } else { blank }),
        );
    }
    String::from_utf8_lossy(&masked).into_owned()
}

fn piece(bytes: &[u8], at: usize) -> Piece {
    let rest = &bytes[at..];
    let inside_a_word = at > 0 && is_word(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => Piece::Comment(until(rest, |tail| tail[0] == b'\n')),
        [b'/', b'*', ..] => Piece::Comment(block_comment(rest)),
        [b'"', ..] => Piece::Literal(string(rest)),
        [b'b' | b'c', b'"', ..] if !inside_a_word => Piece::Literal(1 + string(&rest[1..])),
        [b'\'', ..] => character(rest).map_or(Piece::Code, Piece::Literal),
        _ if inside_a_word => Piece::Code,
        _ => raw_string(rest).map_or(Piece::Code, Piece::Literal),
    }
}

/// True for what names are made of.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn until(bytes: &[u8], is_end: impl Fn(&[u8]) -> bool) -> usize {
    (0..bytes.len())
        .find(|at| is_end(&bytes[*at..]))
        .unwrap_or(bytes.len())
}

fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        let step = if bytes[at..].starts_with(b"/*") {
            depth += 1;
            2
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            2
        } else {
            1
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of the string that begins here, with both its quotes.
fn string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The length of the raw string that begins here: `r"`, `br#"` and so on.
fn raw_string(bytes: &[u8]) -> Option<usize> {
    let prefix = usize::from(matches!(bytes[0], b'b' | b'c'));
    if bytes.get(prefix) != Some(&b'r') {
        return None;
    }
    let after = &bytes[prefix + 1..];
    let hashes = after.iter().take_while(|byte| **byte == b'#').count();
    if after.get(hashes) != Some(&b'"') {
        return None;
    }
    let end = [&b"\""[..], &after[..hashes]].concat();
    let body = &after[hashes + 1..];
    let inside = until(body, |tail| tail.starts_with(&end));
    Some((prefix + 1 + hashes + 1 + inside + end.len()).min(bytes.len()))
}

/// The length of the character that begins here; nothing for a lifetime.
fn character(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [_, b'\\', _, ..] => Some(3 + until(&bytes[3..], |tail| tail[0] == b'\'') + 1),
        // A character has at most four bytes of UTF-8.
        _ => (2..=5)
            .find(|at| bytes.get(*at) == Some(&b'\''))
            .filter(|at| {
                let inner = std::str::from_utf8(&bytes[1..*at]);
                inner.is_ok_and(|inner| inner.chars().count() == 1)
            })
            .map(|at| at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn keeps_code_alone() {
        let kept = |text: &str| code(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(kept("a(); // b {\nc"), "a(); c");
        assert_eq!(kept("a /* { /* } */ \" */ b"), "a b");
        assert_eq!(kept("f(\"{ \\\" }\", b\"{\", c\"{\", x)"), "f( , , , x)");
        assert_eq!(
            kept("f(r#\"{ \" \"#, br\"{\", 'a', '\\'', '{', 'é')"),
            "f( , , , , , )"
        );
        assert_eq!(
            kept("fn f<'a>(x: &'a str) -> &'a str { x }"),
            "fn f<'a>(x: &'a str) -> &'a str { x }"
        );
        assert_eq!(kept("for r in number { '\\u{7b}' }"), "for r in number { }");
    }

    #[test]
    fn keeps_every_byte_in_its_place() {
        let text = "let x = \"two\nlines\"; // é\nlet y = 'ä';\n";
        let masked = code(text);
        assert_eq!(masked.len(), text.len());
        assert_eq!(masked.lines().count(), text.lines().count());
    }
}
