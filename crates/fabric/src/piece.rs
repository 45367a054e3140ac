//! Pieces of send buffers: a stretch of one partition's records, or a part of a record that is too
//! long for one round.

/// Bytes before the records of a piece.
pub(crate) const HEAD: usize = 8;
/// The same where the piece is a part of a record.
pub(crate) const PART_HEAD: usize = HEAD + 2;

/// With the partition: the piece is a part of a record, and the number of its sender follows.
const PART: u32 = 1 << 31;
/// With the bytes: more parts of the record follow.
const GOES_ON: u32 = 1 << 31;

/// What a piece begins with: its partition (u32, little-endian), the sender (u16) of a part, and
/// bytes of records (u32), directly before these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub partition: usize,
    /// Bytes of records that follow.
    pub bytes: usize,
    /// For a part of a record: which sender of its process sent it. Parts of one sender to one
    /// partition come in order.
    pub part_of: Option<u16>,
    /// This part is not the last of its record.
    pub goes_on: bool,
}

impl Head {
    pub(crate) fn write(self, to: &mut Vec<u8>) {
        let part = if self.part_of.is_some() { PART } else { 0 };
        let goes_on = if self.goes_on { GOES_ON } else { 0 };
        to.extend_from_slice(&(self.partition as u32 | part).to_le_bytes());
        if let Some(sender) = self.part_of {
            to.extend_from_slice(&sender.to_le_bytes());
        }
        to.extend_from_slice(&(self.bytes as u32 | goes_on).to_le_bytes());
    }

    /// The head of the piece that `bytes` begin with, if it is whole, and how long it is.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Head, usize)> {
        let partition = number(bytes)?;
        let part_of = match partition & PART {
            0 => None,
            _ => Some(u16::from_le_bytes(bytes.get(4..6)?.try_into().ok()?)),
        };
        let length = if part_of.is_some() { PART_HEAD } else { HEAD };
        let (records, goes_on) = records(bytes.get(..length)?)?;
        let head = Head {
            partition: (partition & !PART) as usize,
            bytes: records,
            part_of,
            goes_on,
        };
        (records <= bytes.len() - length).then_some((head, length))
    }
}

/// Bytes of records, and whether the last goes on in another piece, by the end of their head.
pub(crate) fn records(head: &[u8]) -> Option<(usize, bool)> {
    let bytes = number(head.get(head.len().checked_sub(4)?..)?)?;
    Some(((bytes & !GOES_ON) as usize, bytes & GOES_ON != 0))
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        for (part_of, goes_on, length) in [
            (None, false, HEAD),
            (Some(0), true, PART_HEAD),
            (Some(u16::MAX), false, PART_HEAD),
        ] {
            let head = Head {
                partition: 4095,
                bytes: 3,
                part_of,
                goes_on,
            };
            let mut bytes = Vec::new();
            head.write(&mut bytes);
            assert_eq!(records(&bytes), Some((3, goes_on)));
            bytes.extend_from_slice(b"abcd");
            assert_eq!(Head::read(&bytes), Some((head, length)));
            assert_eq!(
                Head::read(&bytes[..length + 2]),
                None,
                "records are cut off"
            );
            assert_eq!(Head::read(&bytes[..length - 1]), None);
        }
    }
}
