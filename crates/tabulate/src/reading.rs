//! The inputs of a job as a supply of batches.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fabric::{Fabric, World};
use gyrase_fastx::Inputs;
use gyrase_seq::Batch;

use crate::chunks::Shared;
use crate::{EachBatch, State, Supply, TabulateError};

/// The inputs of a job, shared out: what is left to do is to read them. The progress is in bytes of
/// [`Inputs::total_bytes`].
pub struct Reading<'a> {
    inputs: &'a Inputs,
    world: &'a dyn World,
    /// `None` where one process reads alone, without borders.
    shared: Option<Shared<'a>>,
    /// Bytes that the progress was told of.
    shown: AtomicU64,
}

impl<'a> Reading<'a> {
    /// Shares `inputs` out to so many workers of all processes of the job.
    ///
    /// Collective. They will be read in chunks of about `chunk` bytes, which the workers of all
    /// processes share ([`Inputs::chunks`]), or of a size that suits their number. One process
    /// alone that asks for no size reads in batches that any thread takes, without borders.
    ///
    /// # Errors
    /// The processes see different inputs, or another one failed.
    pub fn agree(
        inputs: &'a Inputs,
        world: &'a dyn World,
        chunk: Option<u64>,
        workers: usize,
    ) -> Result<Reading<'a>, TabulateError> {
        let alone = world.ranks() == 1 && chunk.is_none();
        let shared = if alone {
            None
        } else {
            Some(Shared::agree(inputs, world, chunk, workers)?)
        };
        Ok(Reading {
            inputs,
            world,
            shared,
            shown: AtomicU64::new(0),
        })
    }

    /// Ends what a process of several cannot take part in because of an error: the others stop, and
    /// get [`gyrase_fabric::FabricError::Elsewhere`].
    ///
    /// Collective, instead of [`scatter`](crate::scatter). Returns what this process is to fail
    /// with: the error, if no other process failed before.
    pub fn give_up<E: From<TabulateError>>(self, fabric: impl Fabric, error: E) -> E {
        let left = self
            .shared
            .map_or(Ok(()), |shared| shared.leave(self.world, fabric));
        left.err()
            .map_or(error, |elsewhere| TabulateError::from(elsewhere).into())
    }

    /// Tells how many bytes were read, as they are stored, which is what the inputs can tell the
    /// sum of.
    fn show(&self, state: &State) {
        let read = self.inputs.read_bytes();
        let before = self.shown.fetch_max(read, Relaxed);
        state.progress().advance(read.saturating_sub(before));
    }
}

impl<E: From<TabulateError>> Supply<E> for Reading<'_> {
    type Batch = Batch;

    fn give(&self, state: &State, each: EachBatch<Batch, E>) -> Result<(), E> {
        let mut each = |batch: &Batch| {
            each(batch)?;
            self.show(state);
            Ok(())
        };
        if let Some(shared) = &self.shared {
            return shared.work(state, &mut each);
        }
        let mut batch = Batch::default();
        while state.goes_on().map_err(TabulateError::from)?
            && self
                .inputs
                .next_batch(&mut batch)
                .map_err(TabulateError::from)?
        {
            each(&batch)?;
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), E> {
        Ok(self
            .shared
            .as_ref()
            .map_or(Ok(()), |shared| shared.settle(self.world))?)
    }
}
