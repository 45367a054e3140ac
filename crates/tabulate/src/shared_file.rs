//! A file that the processes of a job write together, each its segments.

use std::path::Path;

use gyrase_fabric::{FabricError, Finished, World, all_to_all};
use gyrase_files::{OrderedError, OrderedFile, OutputError, OutputFile, OwnSegments};

/// A file that was begun by the first process, and that the others know.
pub struct BegunFile<'a> {
    path: &'a Path,
    /// In the first process.
    output: Option<OutputFile>,
    token: u64,
}

impl<'a> BegunFile<'a> {
    /// Begins it, before anything else is done: it keeps other runs from the same output.
    ///
    /// Collective.
    ///
    /// # Errors
    /// It cannot be made, or another process failed.
    pub fn new<E>(world: &dyn World, path: &'a Path) -> Result<BegunFile<'a>, E>
    where
        E: From<OutputError> + From<FabricError>,
    {
        let output = match world.rank() {
            0 => Some(OutputFile::create(path)?),
            _ => None,
        };
        let token = output.as_ref().map_or(Ok(0), OutputFile::invite)?;
        Ok(BegunFile {
            path,
            output,
            token: world.sum(&[token])?[0],
        })
    }

    /// Opens it in every process, which says what segments it will have; the first of all is at
    /// `start`.
    ///
    /// # Errors
    /// It cannot be opened here.
    pub fn open<E>(
        self,
        world: &dyn World,
        start: u64,
        share: OwnSegments<Finished>,
    ) -> Result<OrderedFile<(), Finished>, E>
    where
        E: From<OutputError> + From<OrderedError<FabricError>>,
    {
        let file = match self.output {
            Some(output) if world.ranks() == 1 => OrderedFile::alone(output, start, share.all)?,
            Some(output) => OrderedFile::first(output, start, share)?,
            None => OrderedFile::join(self.path, self.token, start, share),
        };
        file.open()?;
        Ok(file)
    }
}

/// Lays out what processes hold of a file, writes `head` before it and `tail` behind it, and gives
/// the file its name.
///
/// Collective.
///
/// # Errors
/// It cannot be written, or another process failed.
pub fn publish<E>(
    file: OrderedFile<(), Finished>,
    world: &dyn World,
    head: &[u8],
    tail: &[u8],
) -> Result<(), E>
where
    E: From<FabricError> + From<OrderedError<FabricError>>,
{
    if world.ranks() > 1 {
        file.lay_out::<E>(
            world.ranks(),
            |numbers| Ok(world.sum(numbers)?),
            |ends| Ok(all_to_all(world, ends)?),
        )?;
        file.settle()?;
        // All have settled: what others wrote is on the disk.
        world.sum(&[0])?;
        file.check(world.rank(), world.ranks())?;
        world.sum(&[0])?;
    }
    if world.rank() == 0 {
        file.finish(head, tail)?;
    }
    Ok(())
}
