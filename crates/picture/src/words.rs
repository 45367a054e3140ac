//! Numbers, sizes, times and titles as a person reads them.

use std::time::Duration;

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 read`, `1,234 reads`.
pub fn things(number: u64, thing: &str) -> String {
    format!(
        "{} {thing}{}",
        grouped(number),
        if number == 1 { "" } else { "s" }
    )
}

/// Bytes with three digits or so: `812 B`, `1.2 MiB`, `540 MiB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let places = usize::from(unit > 0 && amount < 10.0);
    format!("{amount:.places$} {}", units[unit])
}

/// A wall time: `0.42 s`, `12.3 s`, `4 min 05 s`, `2 h 07 min`.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let whole = seconds.round() as u64;
    match seconds {
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 59.95 => format!("{s:.1} s"),
        s if s < 3599.5 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// `part` of `whole` in per cent; `0.00 %` of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 {
        0.0
    } else {
        part as f64 * 100.0 / whole as f64
    };
    format!("{share:.2} %")
}

/// The first `most` characters, with an ellipsis where some are left out.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(things(1, "read") + &things(0, "read"), "1 read0 reads");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes(512 << 20), "512 MiB");
        assert_eq!(bytes(5 << 30), "5.0 GiB");
        assert_eq!(time(Duration::from_millis(420)), "0.42 s");
        assert_eq!(time(Duration::from_secs(12)), "12.0 s");
        assert_eq!(time(Duration::from_secs(245)), "4 min 05 s");
        assert_eq!(time(Duration::from_secs(7620)), "2 h 07 min");
        assert_eq!(percent(0, 0), "0.00 %");
        assert_eq!(percent(1, 3), "33.33 %");
        assert_eq!(
            shortened("12345", 5) + &shortened("123456", 5),
            "123451234…"
        );
    }
}
