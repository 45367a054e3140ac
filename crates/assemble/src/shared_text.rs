//! A file of numbered segments of text, of which each process writes its own.

use gyrase_fabric::Finished;
use gyrase_files::{OrderedFile, OwnSegments, Segment};
use gyrase_tabulate::{BegunFile, publish};

use crate::Error;
use crate::among::Among;
use crate::over_bins::over_bins;

/// A file that all processes write.
pub struct SharedText<'a> {
    file: OrderedFile<(), Finished>,
    head: &'a [u8],
}

impl<'a> SharedText<'a> {
    /// Opens a file that was begun, with `head` before the segments: how many there are, and those
    /// of this process, ascending. So many bytes wait for their place in memory.
    ///
    /// Collective.
    pub fn open(
        begun: BegunFile,
        head: &'a [u8],
        (all, own): (usize, Vec<usize>),
        memory: u64,
        among: &Among,
    ) -> Result<SharedText<'a>, Error> {
        let share = OwnSegments {
            all,
            own,
            memory: memory as usize,
            spill: Finished(among.folder.clone()),
        };
        let file = begun.open::<Error>(among.world, head.len() as u64, share)?;
        Ok(SharedText { file, head })
    }

    /// Writes some segments of this process; threads make their text.
    pub fn write(
        &self,
        numbers: &[usize],
        among: &Among,
        text: impl Fn(usize, &mut Vec<u8>) + Sync,
    ) -> Result<(), Error> {
        let states = vec![(); among.threads];
        over_bins(states, numbers, among.progress, |(), number| {
            let mut own = self.file.spare_buffer();
            text(number, &mut own);
            self.put(number, own)
        })?;
        Ok(())
    }

    /// Writes one of them.
    pub fn put(&self, number: usize, text: Vec<u8>) -> Result<(), Error> {
        let put = self.file.put(number, Segment::new(text), ());
        Ok(put.inspect_err(|_| self.file.abandon())?)
    }

    /// Gives the file its name, once all segments are written.
    ///
    /// Collective.
    pub fn publish(self, among: &Among) -> Result<(), Error> {
        publish(self.file, among.world, self.head, &[])
    }
}
