//! E-values and bit scores as the tables of BLAST print them (`-outfmt 6`, 7 and 10).

use std::io::Write as _;

/// Appends an E-value: `0.0`, `3.21e-45`, `0.012`, `0.12`, `1.2` or `12`.
pub fn write_evalue(text: &mut Vec<u8>, evalue: f64) {
    write_rounded(text, evalue, 2);
}

/// Appends an E-value as above an alignment (`-outfmt 0`): `3e-45` where tables have `3.21e-45`.
pub fn write_short_evalue(text: &mut Vec<u8>, evalue: f64) {
    write_rounded(text, evalue, 0);
}

fn write_rounded(text: &mut Vec<u8>, evalue: f64, digits: usize) {
    match evalue {
        _ if evalue < super::LEAST_EVALUE => text.extend_from_slice(b"0.0"),
        _ if evalue < 0.0009 => write_power(text, evalue, digits),
        _ if evalue < 0.1 => write_fixed(text, evalue, 3),
        _ if evalue < 1.0 => write_fixed(text, evalue, 2),
        _ if evalue < 10.0 => write_fixed(text, evalue, 1),
        _ => write_fixed(text, evalue, 0),
    }
}

/// Appends a bit score: `1.234e+05`, a whole number (cut, not rounded) above 99.9, or `45.6`.
pub fn write_bits(text: &mut Vec<u8>, bits: f64) {
    match bits {
        _ if bits > 99_999.0 => write_power(text, bits, 3),
        _ if bits > 99.9 => write_fixed(text, bits.trunc(), 0),
        _ => write_fixed(text, bits, 1),
    }
}

/// An E-value as a text.
pub fn evalue(evalue: f64) -> String {
    let mut text = Vec::new();
    write_evalue(&mut text, evalue);
    String::from_utf8_lossy(&text).into_owned()
}

/// A bit score as a text.
pub fn bits(bits: f64) -> String {
    let mut text = Vec::new();
    write_bits(&mut text, bits);
    String::from_utf8_lossy(&text).into_owned()
}

fn write_fixed(text: &mut Vec<u8>, number: f64, digits: usize) {
    // Writing to memory cannot fail.
    let _ = write!(text, "{number:.digits$}");
}

/// With an exponent of a sign and two digits or three, as C has it.
fn write_power(text: &mut Vec<u8>, number: f64, digits: usize) {
    let start = text.len();
    let _ = write!(text, "{number:.digits$e}");
    let Some(e) = text[start..].iter().position(|&byte| byte == b'e') else {
        return;
    };
    let mut at = start + e + 1;
    if text.get(at) != Some(&b'-') {
        text.insert(at, b'+');
    }
    at += 1;
    if text.len() - at < 2 {
        text.insert(at, b'0');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_in_c() {
        for (number, expected) in [
            (0.0, "0.0"),
            (9.9e-181, "0.0"),
            (1e-180, "1.00e-180"),
            (3.214e-45, "3.21e-45"),
            (8.994e-4, "8.99e-04"),
            (9e-4, "0.001"),
            (0.0994, "0.099"),
            (0.0996, "0.100"),
            (0.1, "0.10"),
            (0.996, "1.00"),
            (1.25, "1.2"),
            (9.96, "10.0"),
            (10.4, "10"),
            (12_345.6, "12346"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(evalue(number), expected);
        }
        for (number, expected) in [
            (0.0, "0.0"),
            (9.54, "9.5"),
            (99.84, "99.8"),
            (99.94, "99"),
            (100.99, "100"),
            (99_999.0, "99999"),
            (123_456.0, "1.235e+05"),
            (-1.26, "-1.3"),
        ] {
            assert_eq!(bits(number), expected);
        }
        for (number, expected) in [(3.5001e-32, "4e-32"), (9.6e-5, "1e-04"), (0.12, "0.12")] {
            let mut text = b"Expect = ".to_vec();
            write_short_evalue(&mut text, number);
            assert_eq!(text, format!("Expect = {expected}").into_bytes());
        }
    }
}
