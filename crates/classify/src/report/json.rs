//! Texts and numbers as JSON.

use std::io::{self, Write};

/// Writes a JSON string that is also safe within a script element of a page: no `<` stands for
/// itself.
pub(super) fn string(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(out, "\\{letter}")?,
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(letter))?
            }
            control if control.is_control() => write!(out, "\\u{:04x}", u32::from(control))?,
            other => write!(out, "{other}")?,
        }
    }
    out.write_all(b"\"")
}

/// Writes an array, its elements by `each`.
pub(super) fn array<T>(
    elements: impl IntoIterator<Item = T>,
    out: &mut dyn Write,
    mut each: impl FnMut(T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (place, element) in elements.into_iter().enumerate() {
        if place > 0 {
            out.write_all(b",")?;
        }
        each(element, out)?;
    }
    out.write_all(b"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_and_hold_no_markup() {
        for text in [
            "",
            "plain",
            "</script><!--",
            "a\"b\\c\n\t\u{1}\u{7f}\u{85}\u{2028}",
            "Ω ü 😀 &amp;",
        ] {
            let mut json = Vec::new();
            string(text, &mut json).unwrap();
            let json = String::from_utf8(json).unwrap();
            assert!(!json.contains(['<', '>', '&', '\n']), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn arrays_have_commas_between() {
        for (numbers, expected) in [(vec![], "[]"), (vec![1], "[1]"), (vec![1, 2, 3], "[1,2,3]")] {
            let mut json = Vec::new();
            array(numbers, &mut json, |number, out| write!(out, "{number}")).unwrap();
            assert_eq!(String::from_utf8(json).unwrap(), expected);
        }
    }
}
