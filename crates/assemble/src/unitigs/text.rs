//! Unitigs as text: FASTA with the header fields of BCALM 2, and GFA 1.

use std::fmt::Write as _;
use std::io::Write;
use std::ops::Range;

use gyrase_tabulate::BegunFile;
use gyrase_work::{in_parallel, run_of};

use super::{Links, SharedUnitigs, Side, UnitigEnd};
use crate::Error;
use crate::among::Among;
use crate::shared_text::SharedText;

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// `>0 LN:i:38 KC:i:16 km:f:2.0 L:-:17406:+`, and the letters in one line: BCALM 2's fields.
    Fasta,
    /// GFA 1: a segment for each unitig, a link for each pair of ends that meet.
    Gfa,
}

impl GraphFormat {
    /// What stands before all unitigs.
    fn head(self) -> &'static [u8] {
        match self {
            GraphFormat::Fasta => b"",
            GraphFormat::Gfa => b"H\tVN:Z:1.0\n",
        }
    }
}

/// Bases of each process that the first takes at a time.
const PORTION: u64 = 4 << 20;
/// The part of the memory, as one in so many, for text that waits for its place in a file.
const ASIDE: u64 = 16;

/// The text of unitigs, each named by its number.
pub(super) struct Text<'u> {
    pub(super) unitigs: &'u SharedUnitigs,
    pub(super) links: &'u Links,
    pub(super) format: GraphFormat,
}

impl Text<'_> {
    /// Writes all unitigs to a sink of the first process, in their order.
    ///
    /// Collective.
    pub(super) fn write_to(&self, sink: &mut dyn Write, among: &Among) -> Result<(), Error> {
        let first = among.world.rank() == 0;
        among
            .progress
            .start("write", self.unitigs.own().len() as u64);
        if first {
            sink.write_all(self.format.head()).map_err(Error::Sink)?;
        }
        let numbering = &self.unitigs.numbering;
        for wave in self.waves(among)? {
            among.progress.go_on()?;
            let all = among.world.gather(self.wave(&wave, among)?)?;
            let mut texts: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
            for group in wave.clone().filter(|_| first) {
                let text = &mut texts[numbering.group_owner(group)];
                let (length, rest) = text.split_first_chunk().expect("a text has its length");
                let (group, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
                *text = rest;
                sink.write_all(group).map_err(Error::Sink)?;
            }
            let written = wave.map(|group| numbering.own_of(group).len() as u64);
            among.progress.advance(written.sum());
        }
        Ok(())
    }

    /// Groups that follow each other, of so many bases that the first process takes their text at
    /// once; the same everywhere.
    fn waves(&self, among: &Among) -> Result<Vec<Range<usize>>, Error> {
        let (unitigs, numbering) = (self.unitigs.own(), &self.unitigs.numbering);
        let bases = |group| {
            let of_group = numbering.own_of(group);
            of_group.map(|unitig| unitigs.length(unitig) as u64).sum()
        };
        let bases: Vec<u64> = (0..numbering.group_count()).map(bases).collect();
        let most = PORTION * among.world.ranks() as u64;
        let (mut waves, mut start, mut taken) = (Vec::new(), 0, 0);
        for (group, more) in among.world.sum(&bases)?.into_iter().enumerate() {
            taken += more;
            if taken >= most || group + 1 == bases.len() {
                waves.push(start..group + 1);
                (start, taken) = (group + 1, 0);
            }
        }
        Ok(waves)
    }

    /// The text of the groups of this process in a wave, each behind its length.
    fn wave(&self, wave: &Range<usize>, among: &Among) -> Result<Vec<u8>, Error> {
        let numbering = &self.unitigs.numbering;
        let is_own = |group: &usize| numbering.is_own(*group);
        let own: Vec<usize> = wave.clone().filter(is_own).collect();
        let threads = (0..among.threads).collect();
        let texts = in_parallel(threads, |thread| {
            let mut bytes = Vec::new();
            for &group in &own[run_of(own.len(), thread, among.threads)] {
                let start = bytes.len() + size_of::<u64>();
                bytes.resize(start, 0);
                self.write_group(group, &mut bytes);
                let length = (bytes.len() - start) as u64;
                bytes[start - size_of::<u64>()..start].copy_from_slice(&length.to_le_bytes());
            }
            Ok::<_, Error>(bytes)
        })?;
        Ok(texts.concat())
    }

    /// Writes all unitigs to a file in which every process writes its own.
    ///
    /// Collective.
    pub(super) fn write_file(
        &self,
        begun: BegunFile,
        memory: u64,
        among: &Among,
    ) -> Result<(), Error> {
        let own: Vec<usize> = self.unitigs.numbering.groups().collect();
        among.progress.start("write", own.len() as u64);
        let all = self.unitigs.numbering.group_count();
        let (head, shares) = (self.format.head(), (all, own.clone()));
        let file = SharedText::open(begun, head, shares, memory / ASIDE, among)?;
        file.write(&own, among, |group, text| self.write_group(group, text))?;
        file.publish(among)
    }

    fn write_group(&self, group: usize, bytes: &mut Vec<u8>) {
        let numbering = &self.unitigs.numbering;
        let mut line = String::new();
        for (own, number) in numbering.own_of(group).zip(numbering.of(group)) {
            line.clear();
            match self.format {
                GraphFormat::Fasta => self.fasta(own, number, &mut line, bytes),
                GraphFormat::Gfa => self.gfa(own, number, &mut line, bytes),
            }
        }
    }

    /// The unitig `own` of this process, which has a number among all.
    fn fasta(&self, own: usize, number: usize, line: &mut String, bytes: &mut Vec<u8>) {
        let (length, sum, mean) = self.numbers(own);
        let _ = write!(line, ">{number} LN:i:{length} KC:i:{sum} km:f:{mean:.1}");
        for side in [Side::Left, Side::Right] {
            for to in self.links.from(UnitigEnd { unitig: own, side }) {
                let (from, into) = (leaving(side), entering(to.side));
                let _ = write!(line, " L:{from}:{}:{into}", to.unitig);
            }
        }
        line.push('\n');
        bytes.extend_from_slice(line.as_bytes());
        let unitigs = self.unitigs.own();
        unitigs.bases().write_letters(unitigs.stretch(own), bytes);
        bytes.push(b'\n');
    }

    fn gfa(&self, own: usize, number: usize, line: &mut String, bytes: &mut Vec<u8>) {
        let unitigs = self.unitigs.own();
        let (length, sum, mean) = self.numbers(own);
        bytes.extend_from_slice(format!("S\t{number}\t").as_bytes());
        unitigs.bases().write_letters(unitigs.stretch(own), bytes);
        let _ = writeln!(line, "\tLN:i:{length}\tKC:i:{sum}\tDP:f:{mean:.2}");
        let overlap = unitigs.k() - 1;
        for side in [Side::Left, Side::Right] {
            let from = UnitigEnd {
                unitig: number,
                side,
            };
            let met = self.links.from(UnitigEnd { unitig: own, side });
            for to in met.filter(|to| is_written(from, *to)) {
                let (leaves, enters) = (leaving(side), entering(to.side));
                let to = to.unitig;
                let _ = writeln!(line, "L\t{number}\t{leaves}\t{to}\t{enters}\t{overlap}M");
            }
        }
        bytes.extend_from_slice(line.as_bytes());
    }

    /// Bases, the sum of the counts, and their mean.
    fn numbers(&self, own: usize) -> (usize, u64, f64) {
        let unitigs = self.unitigs.own();
        let sum = unitigs.count_sum(own);
        let mean = sum as f64 / unitigs.kmers(own) as f64;
        (unitigs.length(own), sum, mean)
    }
}

/// A pair of ends that meet is written once: where the first comes before the second, read from
/// left to right where both are of one unitig.
pub fn is_written(from: UnitigEnd, to: UnitigEnd) -> bool {
    match from.unitig == to.unitig {
        true => from.side >= to.side,
        false => from < to,
    }
}

/// The direction in which a unitig is read that is left at an end.
pub fn leaving(side: Side) -> char {
    match side {
        Side::Left => '-',
        Side::Right => '+',
    }
}

/// The direction in which one is read that is entered at an end.
pub fn entering(side: Side) -> char {
    leaving(side.other())
}
