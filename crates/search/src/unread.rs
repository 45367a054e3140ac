//! Packed bases of a database: they are left out while its sequences are added, and then read by
//! all threads.

use std::ops::Range;
use std::sync::Mutex;

use gyrase_align::nucleotide::{self, BASES};
use gyrase_align::packed::{Packed, PackedShare};
use gyrase_seqdb::gysd::SeqDb;
use gyrase_seqdb::{PackedBases, SequenceSource};
use gyrase_work::{Progress, in_parallel};

use crate::SearchError;

/// Bases that a thread reads at a time: what it holds of the file is a quarter.
const SHARE: usize = 1 << 22;

/// Bases of a sequence that are not read yet.
pub(crate) struct Unread {
    /// Where they will be among all codes.
    place: Range<usize>,
    /// The number of the first among those of the whole database.
    first: u64,
}

impl Unread {
    /// Makes room for bases, and notes what is none.
    pub(crate) fn leave(packed: &mut Packed, bases: &PackedBases) -> Unread {
        let place = packed.leave(bases.count);
        for (range, letter) in bases.exceptions {
            let code = nucleotide::code(*letter);
            if usize::from(code) >= BASES {
                packed.replace(place.start + range.start..place.start + range.end, code);
            }
        }
        Unread {
            place,
            first: bases.first,
        }
    }
}

/// Reads bases, in the order of their places, from the source that has them.
pub(crate) fn read_bases(
    (packed, unread): (&mut Packed, &[Unread]),
    source: &SequenceSource,
    threads: usize,
    progress: &Progress,
) -> Result<(), SearchError> {
    let (SequenceSource::Gysd(database), Some(first), Some(last)) =
        (source, unread.first(), unread.last())
    else {
        return Ok(());
    };
    let range = first.place.start..last.place.end;
    let shares = packed.shares(range.clone(), SHARE);
    let threads = threads.min(shares.len());
    let shares = Mutex::new(shares.into_iter());
    let next = || {
        let mut shares = shares.lock().expect("nobody panics while it takes one");
        shares.next()
    };
    let read = |()| {
        while let Some(mut share) = next() {
            progress.go_on()?;
            read_share(database, unread, &mut share)?;
            database.let_go();
        }
        Ok::<_, SearchError>(())
    };
    match threads {
        0 | 1 => read(())?,
        _ => in_parallel(vec![(); threads], read).map(|_| ())?,
    }
    packed.settle(range);
    Ok(())
}

/// Reads what has a place in a share.
fn read_share(
    database: &SeqDb,
    unread: &[Unread],
    share: &mut PackedShare,
) -> Result<(), SearchError> {
    let own = share.range();
    let before = unread.partition_point(|one| one.place.end <= own.start);
    for Unread { place, first } in &unread[before..] {
        if place.start >= own.end {
            break;
        }
        let part = place.start.max(own.start)..place.end.min(own.end);
        let number = |at: usize| first + (at - place.start) as u64;
        let (bytes, ahead) = database.bases(number(part.start)..number(part.end))?;
        share.write(part.start, bytes, ahead, part.len());
    }
    Ok(())
}
