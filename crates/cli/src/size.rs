//! Sizes as people type them: `512M`, `4G`, `1.5GiB`, `80%`.

use std::str::FromStr;

/// A size of fewer bytes is one whose unit was left out, or the length of k-mers, which is `-m` in
/// Jellyfish.
const LEAST: u64 = 1000;

/// An amount of memory or disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// So many bytes.
    Bytes(u64),
    /// A share of what the machine has, above 0 and up to 1.
    Share(f64),
}

impl Size {
    /// The bytes, where a share is taken of `whole`.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Size::Bytes(bytes) => bytes,
            Size::Share(share) => (whole as f64 * share) as u64,
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        match parse(text.trim()) {
            Some(Size::Bytes(bytes)) if bytes < LEAST => Err(format!(
                "\"{text}\" is a size of {bytes} bytes; write {text}G for gigabytes (the length of \
                 k-mers is -k)"
            )),
            Some(size) => Ok(size),
            None => Err(format!("\"{text}\" is no size; write 512M, 4G or 80%")),
        }
    }
}

fn parse(text: &str) -> Option<Size> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_uppercase();
    if unit == "%" {
        return (number > 0.0 && number <= 100.0).then_some(Size::Share(number / 100.0));
    }
    let power = match unit.trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    let bytes = number * 1024f64.powi(power);
    (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(Size::Bytes(bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_type() {
        assert_eq!("512M".parse(), Ok(Size::Bytes(512 << 20)));
        assert_eq!("4g".parse(), Ok(Size::Bytes(4 << 30)));
        assert_eq!("1.5GiB".parse(), Ok(Size::Bytes(3 << 29)));
        assert_eq!("2 TB".parse(), Ok(Size::Bytes(2 << 40)));
        assert_eq!("1000".parse(), Ok(Size::Bytes(1000)));
        assert_eq!("80%".parse(), Ok(Size::Share(0.8)));
        assert_eq!("50%".parse::<Size>().unwrap().of(10), 5);
        assert!("31".parse::<Size>().unwrap_err().contains("write 31G"));
    }

    #[test]
    fn refuses_what_is_no_size() {
        for text in [
            "", "G", "0", "0%", "101%", "-1G", "4X", "nan", "1e9G", "4..2G",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
