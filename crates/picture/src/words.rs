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

/// The day, in UTC, that is so many seconds after the first of 1970: `2026-11-23`.
pub fn date(seconds: u32) -> String {
    // Years begin in March here, so that the day of a leap year is their last.
    let day = seconds / 86_400 + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (first, day) = (month < 10, day - (153 * month + 2) / 5 + 1);
    let month = if first { month + 3 } else { month - 9 };
    let year = 400 * era + year + u32::from(!first);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Bases with as many digits as are known, three at most: `5.00 Mbp`, `4.6 Mbp`; `doubt` is how far
/// off they may be.
pub fn bases(bases: f64, doubt: f64) -> String {
    let power = |value: f64| value.max(1.0).log10().floor() as i32;
    let digit = (power(bases) - 2)
        .max(power(doubt))
        .min(power(bases))
        .max(0);
    let rounded = (bases / 10f64.powi(digit)).round() * 10f64.powi(digit);
    // 999.9 is 1000 then, which has a digit more.
    let digit = digit.max(power(rounded) - 2);
    let (unit, scale) = match rounded {
        size if size < 1e3 => ("bp", 0),
        size if size < 1e6 => ("kbp", 3),
        size if size < 1e9 => ("Mbp", 6),
        _ => ("Gbp", 9),
    };
    let places = (scale - digit).max(0) as usize;
    format!("{:.places$} {unit}", rounded / 10f64.powi(scale))
}

/// A range of shares in per cent: `0.10 to 0.12 %`, with one digit more where they are small.
pub fn percents((low, high): (f64, f64)) -> String {
    let places = if high < 0.002 { 3 } else { 2 };
    format!("{:.places$} to {:.places$} %", 100.0 * low, 100.0 * high)
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
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (u32::MAX, "2106-02-07"),
        ] {
            assert_eq!(date(seconds), day);
        }
        for (size, doubt, words) in [
            (4_996_875.0, 3000.0, "5.00 Mbp"),
            (4_996_875.0, 30_000.0, "5.00 Mbp"),
            (4_640_000.0, 200_000.0, "4.6 Mbp"),
            (4_640_000.0, 9e9, "5 Mbp"),
            (16_569.0, 0.0, "16.6 kbp"),
            (999_999.0, 0.0, "1.00 Mbp"),
            (3_100_000_000.0, 1e6, "3.10 Gbp"),
            (812.0, 3.0, "812 bp"),
            (0.0, 0.0, "0 bp"),
        ] {
            assert_eq!(bases(size, doubt), words);
        }
        assert_eq!(percents((0.009, 0.0101)), "0.90 to 1.01 %");
        assert_eq!(percents((0.0, 0.00012)), "0.000 to 0.012 %");
        assert_eq!(percent(0, 0), "0.00 %");
        assert_eq!(percent(1, 3), "33.33 %");
        assert_eq!(
            shortened("12345", 5) + &shortened("123456", 5),
            "123451234…"
        );
    }
}
