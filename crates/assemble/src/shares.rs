//! Libraries of plain FASTQ that several processes read together.
//!
//! ```text
//!  first mates    |  rank 0   |  rank 1   |  rank 2   |   shares of the bytes, between records
//!  second mates   | rank 0 |  rank 1   |    rank 2    |   the records of the same numbers
//! ```
//!
//! Each process counts the records of its share of each file, and all hear of all numbers: so each
//! knows in which share of the other file its mates begin. Where the text of a share is wrong
//! nobody says so: all processes read all of the files then, which names the first error as one
//! process does.

use std::ops::Range;

use gyrase_fabric::World;
use gyrase_fastx::{Error, PairedReader, Reader, SharedFile};
use gyrase_seq::Batch;
use gyrase_tabulate::Source;
use gyrase_work::Progress;

use crate::config::{AssemblyError, Library};

/// What this process reads of a library; nothing where it cannot be shared.
///
/// Collective.
///
/// # Errors
/// Another process failed, or somebody cancelled.
pub fn share_of(
    library: &Library,
    world: &dyn World,
    progress: &Progress,
) -> Result<Option<Source>, AssemblyError> {
    let paths = match library {
        Library::Single(path) => vec![path],
        Library::Paired(one, two) => vec![one, two],
        Library::Interleaved(_) => return Ok(None),
    };
    let options = Source::options();
    let open = |path: &_| SharedFile::open(path, &options).ok().flatten();
    let files = paths.into_iter().map(|path| open(path)).collect();
    let Some(files): Option<Vec<SharedFile>> = world.if_all_have(files)? else {
        return Ok(None);
    };
    let mut divided = Vec::new();
    for file in files {
        match Divided::new(file, world, progress)? {
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
    Ok(world.if_all_have(source)?)
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
    fn new(
        file: SharedFile,
        world: &dyn World,
        progress: &Progress,
    ) -> Result<Option<Divided>, AssemblyError> {
        let (rank, ranks) = (world.rank(), world.ranks());
        let (start, end) = (file.start(rank, ranks).ok(), file.bytes().end);
        let Some(start) = world.if_all_have(start)? else {
            return Ok(None);
        };
        let mut starts = world.all_gather_of(&start.unwrap_or(end))?;
        starts.push(end);
        // A share in which no record begins is empty.
        for rank in (0..ranks).rev() {
            starts[rank] = starts[rank].min(starts[rank + 1]);
        }
        let own = count(&file, starts[rank]..starts[rank + 1], progress)?;
        let Some(own) = world.if_all_have(own)? else {
            return Ok(None);
        };
        let mut before = vec![0];
        for records in world.all_gather_of(&own)? {
            before.push(before[before.len() - 1] + records);
        }
        Ok(Some(Divided {
            file,
            starts,
            before,
        }))
    }

    fn records(&self) -> u64 {
        self.before[self.before.len() - 1]
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
        let last = mates.before.partition_point(|&before| before < end);
        let bytes = mates.starts[share]..mates.starts[last.max(share)];
        let (own, others) = (self.share(rank)?, mates.file.reader(bytes)?);
        let left_out = first - mates.before[share];
        Ok(PairedReader::of_share(own, others, left_out, end - first))
    }
}

/// Counts the records in some bytes of a file; nothing where they are no records.
fn count(
    file: &SharedFile,
    bytes: Range<u64>,
    progress: &Progress,
) -> Result<Option<u64>, AssemblyError> {
    let (mut batch, mut records) = (Batch::default(), 0);
    let Ok(mut reader) = file.reader(bytes) else {
        return Ok(None);
    };
    loop {
        progress.go_on()?;
        match reader.next_batch(&mut batch) {
            Ok(true) => records += batch.records.len() as u64,
            Ok(false) => return Ok(Some(records)),
            Err(_) => return Ok(None),
        }
    }
}
