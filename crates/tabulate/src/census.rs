//! How unequal partitions will be, from a sample of the inputs.

use gyrase_fabric::{FabricError, Sender, World};
use gyrase_fastx::{Error, Inputs, Options};
use gyrase_seq::Batch;

use crate::Cut;

/// The part of the inputs that the processes look at together.
const PART: u64 = 100;
/// Bytes of an input that one process looks at, as they are stored.
const MOST: u64 = 64 << 20;

/// Bytes of records that `cut` makes of a sample of the inputs for each of so many partitions, in
/// all processes together; the same numbers everywhere. Each looks at `least` bytes, as they are
/// stored, where there are as many. What is wrong with the inputs is found by those who read all of
/// them.
///
/// Collective.
///
/// # Errors
/// Another process failed.
pub fn census<E>(
    inputs: &Inputs,
    options: &Options,
    world: &dyn World,
    mut cut: impl Cut<Batch, E>,
    partitions: usize,
    least: u64,
) -> Result<Vec<u64>, FabricError> {
    let mut tally = Tally(vec![0; partitions]);
    let all = inputs.total_bytes().unwrap_or(0);
    let most = (all / PART / world.ranks() as u64).clamp(least.min(MOST), MOST);
    // Whatever was seen before an error is a sample too.
    let _ = Sample::of(inputs, world).look(options, most, &mut |batch| {
        cut.cut(batch, &mut tally).is_ok()
    });
    world.sum(&tally.0)
}

/// What one process looks at: the beginning of one of `parts` equal parts of an input.
struct Sample<'i> {
    inputs: &'i Inputs,
    input: usize,
    part: usize,
    parts: usize,
}

impl<'i> Sample<'i> {
    fn of(inputs: &'i Inputs, world: &dyn World) -> Sample<'i> {
        let (rank, ranks, files) = (world.rank(), world.ranks(), inputs.inputs().len());
        let (input, part) = match ranks < files {
            true => (rank * files / ranks, 0),
            false => (rank % files.max(1), rank / files.max(1)),
        };
        let parts = ranks.saturating_sub(input).div_ceil(files.max(1)).max(1);
        Sample {
            inputs,
            input,
            part,
            parts,
        }
    }

    /// Gives `each` batches of about `most` bytes together, until it returns false.
    fn look(
        &self,
        options: &Options,
        most: u64,
        each: &mut impl FnMut(&Batch) -> bool,
    ) -> Result<(), Error> {
        let Some(input) = self.inputs.inputs().get(self.input) else {
            return Ok(());
        };
        // Opened once more, so that nobody takes what is read here for a part of what all read.
        let options = Options {
            paired: false,
            ..options.clone()
        };
        let sample = Inputs::open(std::slice::from_ref(&input.path), options)?;
        let bytes = input.size.unwrap_or(0) / self.parts as u64;
        let chunks = sample.chunks(bytes.max(1), 1);
        if self.part >= chunks.count() {
            return Ok(());
        }
        let (mut chunk, mut batch) = (chunks.read(self.part), Batch::default());
        while chunk.next_batch(&mut batch)? && each(&batch) && sample.read_bytes() < most {}
        Ok(())
    }
}

/// Counts what would be sent.
struct Tally(Vec<u64>);

impl Sender for Tally {
    fn send(&mut self, partition: usize, _: &[u8], used: usize) -> Result<(), FabricError> {
        self.0[partition] += used as u64;
        Ok(())
    }
}
