//! The hits of a query with what reports need of their subjects, as bytes: what a part of a
//! database has is told so until the hits of all parts are merged.
//!
//! Numbers have seven bits in a byte, the lowest first, and the eighth says that more follow;
//! E-values and bits are those of IEEE 754, the lowest byte first.

use std::io::{self, Read};
use std::ops::Range;

use gyrase_align::composition::AdjustmentRule;
use gyrase_align::gapped::{Step, runs};

use crate::Sequences;
use crate::frames::Frames;
use crate::hits::{Hit, Hsp};
use crate::subjects::{Gathered, Subjects};

/// Appends the hits of a query with subjects of a part of the database, in their order.
pub(crate) fn append(to: &mut Vec<u8>, frames: Frames, subjects: &Sequences, hits: &[Hit]) {
    let mut record = Vec::new();
    number(&mut record, hits.len() as u64);
    for hit in hits {
        append_hit(&mut record, frames, subjects, hit);
    }
    number(to, record.len() as u64);
    to.append(&mut record);
}

fn append_hit(to: &mut Vec<u8>, frames: Frames, subjects: &Sequences, hit: &Hit) {
    let (own, length) = (hit.subject, Subjects::length(subjects, hit.subject));
    for one in [subjects.first() + own, length] {
        number(to, one as u64);
    }
    to.extend(hit.rank_score.to_le_bytes());
    bytes(to, subjects.title(own));
    let taxids: Vec<u32> = subjects.taxids(own).collect();
    number(to, taxids.len() as u64);
    taxids.iter().for_each(|&taxid| number(to, taxid.into()));
    number(to, hit.hsps.len() as u64);
    for hsp in &hit.hsps {
        append_hsp(to, hsp);
        let place = frames.place(&hsp.subject, hsp.frames[1], length);
        number(to, place.start as u64);
        bytes(to, &subjects.shown_codes(own, place));
    }
}

pub(crate) fn append_hsp(to: &mut Vec<u8>, hsp: &Hsp) {
    let Hsp {
        query,
        subject,
        frames,
        score,
        evalue,
        bits,
        adjusted,
        steps,
    } = hsp;
    for one in [query.start, query.end, subject.start, subject.end] {
        number(to, one as u64);
    }
    to.extend(frames.map(|frame| frame as u8));
    to.extend(score.to_le_bytes());
    to.extend(evalue.to_le_bytes());
    to.extend(bits.to_le_bytes());
    to.push(match adjusted {
        None => 0,
        Some(AdjustmentRule::Optimised) => 1,
        Some(AdjustmentRule::Scaled) => 2,
        Some(AdjustmentRule::Unadjusted) => 3,
    });
    number(to, runs(steps).count() as u64);
    for (step, length) in runs(steps) {
        let kind = match step {
            Step::Both => 0,
            Step::Query => 1,
            Step::Subject => 2,
        };
        number(to, 3 * length as u64 + kind);
    }
}

pub(crate) fn number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 1 << 7 {
        to.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    to.push(number as u8);
}

pub(crate) fn bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    number(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// Appends the hits of a query, without what reports need of their subjects.
pub(crate) fn append_alignments(to: &mut Vec<u8>, hits: &[Hit]) {
    number(to, hits.len() as u64);
    for hit in hits {
        number(to, hit.subject as u64);
        to.extend(hit.rank_score.to_le_bytes());
        number(to, hit.hsps.len() as u64);
        hit.hsps.iter().for_each(|hsp| append_hsp(to, hsp));
    }
}

/// Reads what [`append_alignments`] has written.
///
/// # Errors
/// The bytes are no such hits.
pub(crate) fn read_alignments(from: &mut &[u8]) -> io::Result<Vec<Hit>> {
    let hit = |from: &mut &[u8]| {
        Ok(Hit {
            subject: next_number(from)? as usize,
            rank_score: i32::from_le_bytes(next(from)?),
            hsps: (0..next_number(from)?)
                .map(|_| read_hsp(from))
                .collect::<io::Result<_>>()?,
        })
    };
    (0..next_number(from)?).map(|_| hit(from)).collect()
}

/// Reads the hits of the next query, and what reports need of their subjects.
///
/// # Errors
/// Those of `from`; the bytes are no such hits.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Vec<(Hit, Gathered)>> {
    let length = next_number(from)?;
    let mut record = vec![0; length as usize];
    from.read_exact(&mut record)?;
    let mut record = &record[..];
    let count = next_number(&mut record)?;
    (0..count).map(|_| read_hit(&mut record)).collect()
}

fn read_hit(from: &mut &[u8]) -> io::Result<(Hit, Gathered)> {
    let [subject, length] = [next_number(from)?, next_number(from)?].map(|one| one as usize);
    let rank_score = i32::from_le_bytes(next(from)?);
    let title = next_bytes(from)?.to_vec();
    let taxids = (0..next_number(from)?).map(|_| Ok(next_number(from)? as u32));
    let taxids = taxids.collect::<io::Result<_>>()?;
    let (mut hsps, mut stretches) = (Vec::new(), Vec::new());
    for _ in 0..next_number(from)? {
        hsps.push(read_hsp(from)?);
        let start = next_number(from)? as usize;
        stretches.push((start, next_bytes(from)?.to_vec()));
    }
    let hit = Hit {
        subject,
        rank_score,
        hsps,
    };
    let gathered = Gathered {
        number: subject,
        title,
        taxids,
        length,
        stretches,
    };
    Ok((hit, gathered))
}

fn read_hsp(from: &mut &[u8]) -> io::Result<Hsp> {
    let [query, subject] = [next_range(from)?, next_range(from)?];
    let frames: [u8; 2] = next(from)?;
    let score = i32::from_le_bytes(next(from)?);
    let evalue = f64::from_le_bytes(next(from)?);
    let bits = f64::from_le_bytes(next(from)?);
    let adjusted = match next(from)? {
        [0] => None,
        [1] => Some(AdjustmentRule::Optimised),
        [3] => Some(AdjustmentRule::Unadjusted),
        [2] => Some(AdjustmentRule::Scaled),
        _ => return Err(no_record()),
    };
    let mut steps = Vec::new();
    for _ in 0..next_number(from)? {
        let run = next_number(from)?;
        let kind = [Step::Both, Step::Query, Step::Subject][(run % 3) as usize];
        steps.extend(std::iter::repeat_n(kind, (run / 3) as usize));
    }
    Ok(Hsp {
        query,
        subject,
        frames: frames.map(|frame| frame as i8),
        score,
        evalue,
        bits,
        adjusted,
        steps,
    })
}

pub(crate) fn next_number(from: &mut impl Read) -> io::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        number |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 1 << 7 {
            return Ok(number);
        }
    }
    Err(no_record())
}

fn next_range(from: &mut &[u8]) -> io::Result<Range<usize>> {
    Ok(next_number(from)? as usize..next_number(from)? as usize)
}

fn next_bytes<'b>(from: &mut &'b [u8]) -> io::Result<&'b [u8]> {
    let length = next_number(from)? as usize;
    let (bytes, rest) = from.split_at_checked(length).ok_or_else(no_record)?;
    *from = rest;
    Ok(bytes)
}

fn next<const N: usize>(from: &mut &[u8]) -> io::Result<[u8; N]> {
    let (bytes, rest) = from.split_first_chunk().ok_or_else(no_record)?;
    *from = rest;
    Ok(*bytes)
}

fn no_record() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what was laid aside is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_come_back_with_what_reports_need() {
        let mut subjects = Sequences::part(70, 100);
        for (title, letters) in [(&b"a"[..], "MKVLAWYGDE"), (b"b of two", "WWKRTYHGFDSAQ")] {
            subjects.push(title, letters.as_bytes()).unwrap();
        }
        let hsp = |start: usize, steps: Vec<Step>| Hsp {
            query: 300..305,
            subject: start..start + 4,
            frames: [0, 0],
            score: -3,
            evalue: 3e-200,
            bits: 12.5,
            adjusted: Some(AdjustmentRule::Scaled),
            steps,
        };
        let steps = [Step::Both, Step::Both, Step::Query, Step::Both, Step::Both];
        let hit = Hit {
            subject: 1,
            rank_score: 1 << 20,
            hsps: vec![hsp(1, steps.to_vec()), hsp(8, vec![Step::Subject; 200])],
        };
        let mut text = Vec::new();
        for hits in [&[hit.clone()][..], &[]] {
            append(&mut text, Frames::Protein, &subjects, hits);
        }
        let mut reading = &text[..];
        let found = read(&mut reading).unwrap();
        let [(again, gathered)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(*again, Hit { subject: 71, ..hit });
        assert_eq!((gathered.number, gathered.length), (71, 13));
        assert_eq!(gathered.title, b"b of two");
        let codes = |range: Range<usize>| subjects.residues(1)[range].to_vec();
        assert_eq!(gathered.stretches, [(1, codes(1..5)), (8, codes(8..12))]);
        assert!(read(&mut reading).unwrap().is_empty() && reading.is_empty());
        for length in 0..text.len() - 2 {
            assert!(read(&mut &text[..length]).is_err(), "{length}");
        }
    }
}
