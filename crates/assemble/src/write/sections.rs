//! A file of sections, each of which has portions of text of every process: those of lower ranks
//! stand first.

use std::path::Path;

use gyrase_tabulate::BegunFile;

use crate::Error;
use crate::among::Among;
use crate::shared_text::SharedText;

/// The part of the memory, as one in so many, for text that waits for its place.
const ASIDE: u64 = 4;

/// A file that all processes write.
pub struct Sections<'a> {
    text: SharedText<'a>,
    /// The number of the first portion of this process in each section, among those of all.
    firsts: Vec<usize>,
}

impl<'a> Sections<'a> {
    /// Begins a file that has `head` before the sections, by how many portions of each this process
    /// has.
    ///
    /// Collective.
    pub fn begin(
        path: &Path,
        head: &'a [u8],
        portions: &[usize],
        among: &Among,
    ) -> Result<Sections<'a>, Error> {
        let world = among.world;
        let counts: Vec<u64> = portions.iter().map(|&count| count as u64).collect();
        let (before, of_all) = (world.exclusive_scan(&counts)?, world.sum(&counts)?);
        let (mut firsts, mut own, mut all) = (Vec::new(), Vec::new(), 0);
        for ((before, of_all), count) in before.into_iter().zip(of_all).zip(portions) {
            let first = all + before as usize;
            firsts.push(first);
            own.extend(first..first + count);
            all += of_all as usize;
        }
        among.progress.start("write", own.len() as u64);
        let begun = BegunFile::new::<Error>(world, path)?;
        let text = SharedText::open(begun, head, (all, own), among.memory / ASIDE, among)?;
        Ok(Sections { text, firsts })
    }

    /// Writes the portions of this process in a section; threads make their text.
    pub fn write(
        &self,
        section: usize,
        portions: usize,
        among: &Among,
        text: impl Fn(usize, &mut Vec<u8>) + Sync,
    ) -> Result<(), Error> {
        let first = self.firsts[section];
        let numbers: Vec<usize> = (first..first + portions).collect();
        let text = |number: usize, own: &mut Vec<u8>| text(number - first, own);
        self.text.write(&numbers, among, text)
    }

    /// Writes the portions of this process in a section.
    pub fn put_all(&self, section: usize, portions: Vec<Vec<u8>>) -> Result<(), Error> {
        let mut portions = portions.into_iter().enumerate();
        portions.try_for_each(|(portion, text)| self.put(section, portion, text))
    }

    /// Writes one of them.
    pub fn put(&self, section: usize, portion: usize, text: Vec<u8>) -> Result<(), Error> {
        self.text.put(self.firsts[section] + portion, text)
    }

    /// Gives the file its name, once all portions are written.
    ///
    /// Collective.
    pub fn publish(self, among: &Among) -> Result<(), Error> {
        self.text.publish(among)
    }
}
