//! Libraries of plain FASTQ that several processes read together.
//!
//! ```text
//!  first mates    |  rank 0   |  rank 1   |  rank 2   |   shares of the bytes, between records
//!  second mates   | rank 0 |  rank 1   |    rank 2    |   the records of the same numbers
//! ```
//!
//! Each process counts the records of its share of each file, and all hear of all numbers: so each
//! knows in which share of the other file its mates begin. Where anything is wrong nobody says so:
//! all processes read all of the library then, which names the first error of a file.

use std::ops::Range;

use gyrase_fabric::{FabricError, World};
use gyrase_fastx::{Error, PairedReader, Reader, SharedFile};
use gyrase_seq::Batch;
use gyrase_tabulate::Source;

use crate::config::Library;

/// No record begins in a share.
const NONE: u64 = u64::MAX;

/// What this process reads of a library; nothing where it cannot be shared.
///
/// Collective.
///
/// # Errors
/// Another process failed.
pub fn share_of(library: &Library, world: &dyn World) -> Result<Option<Source>, FabricError> {
    let paths = match library {
        Library::Single(path) => vec![path],
        Library::Paired(one, two) => vec![one, two],
        Library::Interleaved(_) => return Ok(None),
    };
    let options = Source::options();
    let open = |path: &_| SharedFile::open(path, &options).ok().flatten();
    let files = paths.into_iter().map(|path| open(path)).collect();
    let Some(files): Option<Vec<SharedFile>> = everywhere(world, files)? else {
        return Ok(None);
    };
    let mut divided = Vec::new();
    for file in files {
        match Divided::new(file, world)? {
            Some(file) => divided.push(file),
            None => return Ok(None),
        }
    }
    let rank = world.rank();
    let source = match &divided[..] {
        [one] => one
            .share(rank)
            .ok()
            .map(|reader| Source::Single(Box::new(reader))),
        [one, two] if one.records() == two.records() => {
            let pairs = one.pairs(two, rank).ok();
            pairs.map(|reader| Source::Paired(Box::new(reader)))
        }
        _ => None,
    };
    everywhere(world, source)
}

/// What this process has, if all have it.
///
/// Collective.
///
/// # Errors
/// Another process failed.
pub fn everywhere<T>(world: &dyn World, own: Option<T>) -> Result<Option<T>, FabricError> {
    let all = world.min(&[own.is_some().into()])?;
    Ok(own.filter(|_| all[0] > 0))
}

/// A number of each process.
fn gathered(world: &dyn World, own: u64) -> Result<Vec<u64>, FabricError> {
    let all = world.all_gather(&own.to_le_bytes())?;
    let number = |bytes: Vec<u8>| bytes.try_into().map(u64::from_le_bytes);
    let all = all.into_iter().map(number).collect::<Result<_, _>>();
    Ok(all.expect("each has told eight bytes"))
}

/// A file in shares.
struct Divided {
    file: SharedFile,
    /// Where the share of each process begins, and where the last one ends.
    starts: Vec<u64>,
    /// Records before each of these places.
    before: Vec<u64>,
}

impl Divided {
    fn new(file: SharedFile, world: &dyn World) -> Result<Option<Divided>, FabricError> {
        let (rank, ranks) = (world.rank(), world.ranks());
        let start = file.start(rank, ranks).ok();
        let Some(start) = everywhere(world, start)? else {
            return Ok(None);
        };
        let mut starts = gathered(world, start.unwrap_or(NONE))?;
        starts.push(file.bytes().end);
        for rank in (0..ranks).rev() {
            if starts[rank] == NONE {
                starts[rank] = starts[rank + 1];
            }
        }
        let own = count(&file, starts[rank]..starts[rank + 1]).ok();
        let Some(own) = everywhere(world, own)? else {
            return Ok(None);
        };
        let mut before = vec![0];
        for records in gathered(world, own)? {
            before.push(before[before.len() - 1] + records);
        }
        Ok(Some(Divided {
            file,
            starts,
            before,
        }))
    }

    fn records(&self) -> Option<&u64> {
        self.before.last()
    }

    /// Reads a share.
    fn share(&self, rank: usize) -> Result<Reader, Error> {
        self.file.reader(self.starts[rank]..self.starts[rank + 1])
    }

    /// Reads a share with the records of the same numbers in the file of their mates.
    fn pairs(&self, mates: &Divided, rank: usize) -> Result<PairedReader, Error> {
        let [first, end] = [rank, rank + 1].map(|rank| self.before[rank]);
        let behind = mates.before.partition_point(|&before| before <= first);
        // Where no record is left none is read.
        let share = behind.min(mates.starts.len() - 1) - 1;
        let rest = mates.starts[share]..mates.file.bytes().end;
        let (own, others) = (self.share(rank)?, mates.file.reader(rest)?);
        let left_out = first - mates.before[share];
        Ok(PairedReader::of_share(own, others, left_out, end - first))
    }
}

/// Counts the records in some bytes of a file.
fn count(file: &SharedFile, bytes: Range<u64>) -> Result<u64, Error> {
    let (mut reader, mut batch, mut records) = (file.reader(bytes)?, Batch::default(), 0);
    while reader.next_batch(&mut batch)? {
        records += batch.records.len() as u64;
    }
    Ok(records)
}
