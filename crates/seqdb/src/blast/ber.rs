//! The basic encoding rules (BER) of ASN.1, as far as BLAST's headers use them.

/// The tag of a sequence.
pub(super) const SEQUENCE: u8 = 0x30;
/// The tag of a whole number.
pub(super) const INTEGER: u8 = 0x02;
/// The tag of a text.
pub(super) const TEXT: u8 = 0x1a;
/// The tag of the first choice or field; the next have the next tags.
pub(super) const FIELD: u8 = 0xa0;

/// Values within values.
const DEEPEST: usize = 32;

/// One after the other of the values in some bytes.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    bytes: &'a [u8],
    depth: usize,
}

/// A value: its tag, and what is in it.
pub(super) struct Value<'a> {
    pub tag: u8,
    bytes: &'a [u8],
    depth: usize,
}

impl<'a> Values<'a> {
    pub fn new(bytes: &'a [u8]) -> Values<'a> {
        Values { bytes, depth: 0 }
    }

    /// The next value; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Value<'a>>, String> {
        let Some((&tag, rest)) = self.bytes.split_first() else {
            return Ok(None);
        };
        let (own, rest) = split(tag, rest, self.depth)?;
        self.bytes = rest;
        Ok(Some(Value {
            tag,
            bytes: own,
            depth: self.depth + 1,
        }))
    }
}

impl<'a> Value<'a> {
    /// The values in it.
    pub fn values(&self) -> Values<'a> {
        Values {
            bytes: self.bytes,
            depth: self.depth,
        }
    }

    /// The only value in it.
    pub fn inner(&self) -> Result<Value<'a>, String> {
        let inner = self.values().next()?;
        inner.ok_or_else(|| "a header has an empty value".into())
    }

    /// Its bytes, where it is a text.
    pub fn text(&self) -> Result<&'a [u8], String> {
        match self.tag {
            TEXT => Ok(self.bytes),
            tag => Err(format!("a header has tag {tag:#04x} instead of a text")),
        }
    }

    /// Its number, where it is one.
    pub fn number(&self) -> Result<i64, String> {
        if self.tag != INTEGER || self.bytes.is_empty() || self.bytes.len() > 8 {
            let tag = self.tag;
            return Err(format!("a header has tag {tag:#04x} instead of a number"));
        }
        let sign = if self.bytes[0] & 0x80 == 0 { 0 } else { -1 };
        Ok(self
            .bytes
            .iter()
            .fold(sign, |number, &byte| number << 8 | i64::from(byte)))
    }
}

/// Splits what belongs to a tag off what follows it.
fn split(tag: u8, bytes: &[u8], depth: usize) -> Result<(&[u8], &[u8]), String> {
    let ends = || "a header ends within a value".to_owned();
    if depth >= DEEPEST {
        return Err(format!("a header has values {DEEPEST} deep"));
    }
    let (&first, rest) = bytes.split_first().ok_or_else(ends)?;
    if first == 0x80 {
        if tag & 0x20 == 0 {
            return Err(format!("a header has tag {tag:#04x} without a length"));
        }
        return indefinite(rest, depth);
    }
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        if count > 4 || rest.len() < count {
            return Err(ends());
        }
        let (length, rest) = rest.split_at(count);
        let length = length
            .iter()
            .fold(0, |length, &byte| length << 8 | usize::from(byte));
        (length, rest)
    };
    if rest.len() < length {
        return Err(ends());
    }
    Ok(rest.split_at(length))
}

/// Splits at the two zeros that end values.
fn indefinite(bytes: &[u8], depth: usize) -> Result<(&[u8], &[u8]), String> {
    let mut rest = bytes;
    loop {
        match rest {
            [0, 0, behind @ ..] => {
                let length = bytes.len() - rest.len();
                return Ok((&bytes[..length], behind));
            }
            [tag, behind @ ..] => rest = split(*tag, behind, depth + 1)?.1,
            [] => return Err("a header ends within a value".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let bytes = [
            0x30, 0x80, 0xa0, 0x80, 0x1a, 2, b'h', b'i', 0, 0, 2, 2, 0xff, 0x85, 0, 0, 2, 1, 7,
        ];
        let mut values = Values::new(&bytes);
        let sequence = values.next().unwrap().unwrap();
        let mut inner = sequence.values();
        let field = inner.next().unwrap().unwrap();
        assert_eq!((sequence.tag, field.tag), (SEQUENCE, FIELD));
        assert_eq!(field.inner().unwrap().text(), Ok(&b"hi"[..]));
        assert!(field.inner().unwrap().number().is_err() && field.text().is_err());
        assert_eq!(inner.next().unwrap().unwrap().number(), Ok(-123));
        assert!(inner.next().unwrap().is_none());
        assert_eq!(values.next().unwrap().unwrap().number(), Ok(7));
        let long = [&[0x1a, 0x82, 1, 0][..], &[b'x'; 256]].concat();
        let text = Values::new(&long).next().unwrap().unwrap();
        assert_eq!(text.text().map(<[u8]>::len), Ok(256));
    }

    #[test]
    fn damage_is_an_error() {
        for bytes in [
            &[0x30][..],
            &[0x30, 0x80],
            &[0x1a, 0x80, 0, 0],
            &[0x1a, 5, 1],
            &[0x1a, 0x85, 0, 0, 0, 0, 0],
        ] {
            assert!(Values::new(bytes).next().is_err(), "{bytes:?}");
        }
        assert!(Values::new(&[0x30, 0x80].repeat(99)).next().is_err());
    }
}
