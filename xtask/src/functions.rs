//! A function can be read at once: it has at most 60 lines, and a test, which tells a story, 120.

use crate::masked;

/// Lines from `fn` to the closing brace.
const LONGEST: usize = 60;
const LONGEST_TEST: usize = 120;

/// The functions of the file of this name that are longer.
pub fn breaches(file: &str, text: &str) -> Vec<String> {
    let tests_alone = file.contains("/tests/") || file.ends_with("/tests.rs");
    let code = masked::code(text);
    let starts = code
        .match_indices("fn ")
        .filter(|(at, _)| *at == 0 || !masked::is_word(code.as_bytes()[at - 1]));
    let spans = starts.filter_map(|(at, _)| Some((at, end_of_body(&code, at)?)));
    spans
        .filter_map(|(start, end)| {
            let lines = code[start..end].lines().count();
            let line = code[..start].matches('\n').count() + 1;
            let name = name_at(&code[start + 3..]);
            let is_test = tests_alone || code[..start].contains("#[cfg(test)]\nmod ");
            let most = if is_test { LONGEST_TEST } else { LONGEST };
            (lines > most).then(|| {
                format!("line {line}: {name} has {lines} lines, more than {most}: split it")
            })
        })
        .collect()
}

fn name_at(code: &str) -> &str {
    let end = code.bytes().position(|byte| !masked::is_word(byte));
    &code[..end.unwrap_or(code.len())]
}

/// Where the body of the function at `start` ends; nothing where it has no body.
fn end_of_body(code: &str, start: usize) -> Option<usize> {
    let (mut round, mut curly) = (0, 0);
    for (at, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' => round += 1,
            b')' | b']' => round -= 1,
            b'{' => curly += 1,
            b'}' => curly -= 1,
            b';' if round == 0 && curly == 0 => return None,
            _ => continue,
        }
        // Also the end of what a function type stands in, which has no body either.
        if round < 0 || curly < 0 {
            return None;
        }
        if byte == b'}' && curly == 0 && round == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_fn_to_the_closing_brace() {
        let function = |lines: usize| format!("fn f() {{\n{}}}\n", "x();\n".repeat(lines - 2));
        assert!(breaches("src/a.rs", &function(60)).is_empty());
        assert_eq!(breaches("src/a.rs", &function(61)).len(), 1);
        assert!(breaches("x/tests/a.rs", &function(120)).is_empty());
        assert_eq!(breaches("x/tests/a.rs", &function(121)).len(), 1);
        let within = format!("#[cfg(test)]\nmod tests {{\n{}}}", function(61));
        assert!(breaches("src/a.rs", &within).is_empty());
        let message = breaches("src/a.rs", &format!("//! Says.\n\npub {}", function(61))).concat();
        assert!(message.starts_with("line 3: f has 61 lines"), "{message}");
    }

    #[test]
    fn knows_bodies_from_declarations() {
        let long = "\n".repeat(80);
        assert!(
            breaches(
                "src/a.rs",
                &format!("trait T {{ fn f(x: [u8; 3]); }}{long}fn g() {{}}")
            )
            .is_empty()
        );
        assert!(
            breaches(
                "src/a.rs",
                &format!("struct S {{ f: fn (u8) }}{long}fn g() {{}}")
            )
            .is_empty()
        );
        assert_eq!(
            breaches("src/a.rs", &format!("fn f(x: [u8; 3]) {{ \"}}\"{long} }}")).len(),
            1
        );
    }
}
