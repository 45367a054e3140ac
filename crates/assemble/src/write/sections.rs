//! A file of sections, each of which has portions of text of every process: those of lower ranks
//! stand first.

use std::path::Path;

use gyrase_fabric::Finished;
use gyrase_files::{OrderedFile, OwnSegments, Segment};
use gyrase_tabulate::{BegunFile, publish};

use crate::Error;
use crate::among::Among;
use crate::over_bins::over_bins;

/// The part of the memory, as one in so many, for text that waits for its place.
const ASIDE: u64 = 4;

/// A file that all processes write.
pub struct SharedText<'a> {
    file: OrderedFile<(), Finished>,
    head: &'a [u8],
    /// The number of the first portion of this process in each section, among those of all.
    firsts: Vec<usize>,
}

impl<'a> SharedText<'a> {
    /// Begins a file that has `head` before the sections, by how many portions of each this process
    /// has.
    ///
    /// Collective.
    pub fn begin(
        path: &Path,
        head: &'a [u8],
        portions: &[usize],
        among: &Among,
    ) -> Result<SharedText<'a>, Error> {
        let world = among.world;
        let counts = portions
            .iter()
            .flat_map(|&count| (count as u64).to_le_bytes());
        let of_all = world.all_gather(&counts.collect::<Vec<u8>>())?;
        let (mut firsts, mut own, mut all) = (Vec::new(), Vec::new(), 0);
        for section in 0..portions.len() {
            for (rank, counts) in of_all.iter().enumerate() {
                let count = u64::from_le_bytes(counts.as_chunks().0[section]) as usize;
                if rank == world.rank() {
                    firsts.push(all);
                    own.extend(all..all + count);
                }
                all += count;
            }
        }
        among.progress.start("write", own.len() as u64);
        let share = OwnSegments {
            all,
            own,
            memory: (among.memory / ASIDE) as usize,
            spill: Finished(among.folder.clone()),
        };
        let begun = BegunFile::new::<Error>(world, path)?;
        let file = begun.open::<Error>(world, head.len() as u64, share)?;
        Ok(SharedText { file, head, firsts })
    }

    /// Writes the portions of this process in a section; threads make their text.
    pub fn write(
        &self,
        section: usize,
        portions: usize,
        among: &Among,
        text: impl Fn(usize, &mut Vec<u8>) + Sync,
    ) -> Result<(), Error> {
        let portions: Vec<usize> = (0..portions).collect();
        let states = vec![(); among.threads];
        over_bins(states, &portions, among.progress, |(), portion| {
            let mut own = self.file.spare_buffer();
            text(portion, &mut own);
            self.put(section, portion, own)
        })?;
        Ok(())
    }

    /// Writes the portions of this process in a section.
    pub fn put_all(&self, section: usize, portions: Vec<Vec<u8>>) -> Result<(), Error> {
        let mut portions = portions.into_iter().enumerate();
        portions.try_for_each(|(portion, text)| self.put(section, portion, text))
    }

    /// Writes one of them.
    pub fn put(&self, section: usize, portion: usize, text: Vec<u8>) -> Result<(), Error> {
        let number = self.firsts[section] + portion;
        let put = self.file.put(number, Segment::new(text), ());
        Ok(put.inspect_err(|_| self.file.abandon())?)
    }

    /// Gives the file its name, once all portions are written.
    ///
    /// Collective.
    pub fn publish(self, among: &Among) -> Result<(), Error> {
        publish(self.file, among.world, self.head, &[])
    }
}
