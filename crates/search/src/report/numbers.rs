//! Numbers as C prints them.

/// Six digits at most, as C's `%g` writes them.
pub(super) fn general(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let rounded = format!("{number:.5e}");
    let (digits, power) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let power: i32 = power.parse().unwrap_or_default();
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..6).contains(&power) {
        let after = (5 - power) as usize;
        return trimmed(&format!("{number:.after$}"));
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), power.abs())
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn numbers_are_those_of_c() {
        let numbers = [
            (0.0, "0"),
            (10.0, "10"),
            (1e-3, "0.001"),
            (9.999_996e-5, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (243.816_9, "243.817"),
            (5.655_171e-89, "5.65517e-89"),
            (1.234_567e7, "1.23457e+07"),
            (1e-179, "1e-179"),
        ];
        for (number, text) in numbers {
            assert_eq!(general(number), text);
        }
    }
}
