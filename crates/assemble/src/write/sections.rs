//! A file of sections, each of which has numbered portions of text of every process.

use std::path::Path;

use gyrase_tabulate::BegunFile;

use crate::Error;
use crate::among::Among;
use crate::numbering::Numbering;
use crate::shared_text::SharedText;

/// The part of the memory, as one in so many, for text that waits for its place.
const ASIDE: u64 = 4;

/// A file that all processes write.
pub struct Sections<'a> {
    text: SharedText<'a>,
    /// How the portions of each section are numbered, and how many stand before them.
    sections: Vec<(usize, Numbering)>,
}

impl<'a> Sections<'a> {
    /// Begins a file that has `head` before the sections, by how the portions of each are numbered.
    ///
    /// Collective.
    pub fn begin(
        path: &Path,
        head: &'a [u8],
        sections: impl IntoIterator<Item = Numbering>,
        among: &Among,
    ) -> Result<Sections<'a>, Error> {
        let (mut all, mut own, mut numbered) = (0, Vec::new(), Vec::new());
        for numbering in sections {
            let before = all;
            own.extend(numbering.own_numbers().map(|number| before + number));
            all += numbering.len();
            numbered.push((before, numbering));
        }
        among.progress.start("write", own.len() as u64);
        let begun = BegunFile::new::<Error>(among.world, path)?;
        let text = SharedText::open(begun, head, (all, own), among.memory / ASIDE, among)?;
        Ok(Sections {
            text,
            sections: numbered,
        })
    }

    /// Writes the portions of this process in a section; threads make their text.
    pub fn write(
        &self,
        section: usize,
        among: &Among,
        text: impl Fn(usize, &mut Vec<u8>) + Sync,
    ) -> Result<(), Error> {
        let (before, numbering) = &self.sections[section];
        let numbers = numbering.own_numbers().map(|number| before + number);
        let text = |number: usize, own: &mut Vec<u8>| {
            text(numbering.own_place(number - before), own);
        };
        self.text.write(&numbers.collect::<Vec<_>>(), among, text)
    }

    /// Writes the portions of this process in a section.
    pub fn put_all(&self, section: usize, portions: Vec<Vec<u8>>) -> Result<(), Error> {
        let mut portions = portions.into_iter().enumerate();
        portions.try_for_each(|(portion, text)| self.put(section, portion, text))
    }

    /// Writes one of them.
    pub fn put(&self, section: usize, portion: usize, text: Vec<u8>) -> Result<(), Error> {
        let (before, numbering) = &self.sections[section];
        self.text.put(before + numbering.number(portion), text)
    }

    /// Gives the file its name, once all portions are written.
    ///
    /// Collective.
    pub fn publish(self, among: &Among) -> Result<(), Error> {
        self.text.publish(among)
    }
}
