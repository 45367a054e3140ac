//! Fragments from random places of a genome, read into records.

use std::io::{self, Write};

use gyrase_fastx::Writer;

use crate::error::check;
use crate::genome::strand;
use crate::random::ln;
use crate::sequence::Sequence;
use crate::sequencer::{Course, Read, Sequencer};
use crate::{Random, SimulateError};

const READS: u64 = 16;
const ATTEMPTS: u32 = 64;

/// How fragments are read.
#[derive(Clone, Debug, PartialEq)]
pub enum LibraryLayout {
    /// One read of `length` bases per fragment.
    Single {
        /// Bases of a read.
        length: u32,
    },
    /// Both ends of each fragment, towards each other.
    Paired {
        /// Bases of each mate.
        length: u32,
        /// Mean length of a fragment.
        insert_mean: f64,
        /// Standard deviation of the length of a fragment; none is shorter than a mate.
        insert_deviation: f64,
    },
    /// Whole fragments of log-normal length.
    Long {
        /// Mean length.
        mean: f64,
        /// Standard deviation of the length.
        deviation: f64,
    },
}

/// The errors of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    /// Errors per base, mean over a read: 0, or 0.0001 to 0.2. They rise along short reads.
    pub rate: f64,
    /// Share of the errors that are insertions and deletions (half each), 0 to 1.
    pub indels: f64,
}

/// How fragments are read, and with which errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    /// Chooses among all read sets of this protocol.
    pub seed: u64,
    /// Short, paired or long reads.
    pub layout: LibraryLayout,
    /// Errors.
    pub errors: Errors,
}

impl LibraryLayout {
    /// Fewest bases that a sequence must have to be read from.
    pub(crate) fn least(&self) -> u64 {
        match *self {
            LibraryLayout::Single { length } | LibraryLayout::Paired { length, .. } => {
                u64::from(length)
            }
            LibraryLayout::Long { .. } => 1,
        }
    }

    /// Mean number of bases that one fragment gives.
    pub(crate) fn bases(&self) -> f64 {
        match *self {
            LibraryLayout::Single { length } => f64::from(length),
            LibraryLayout::Paired { length, .. } => 2.0 * f64::from(length),
            LibraryLayout::Long { mean, .. } => mean,
        }
    }

    pub(crate) fn is_paired(&self) -> bool {
        matches!(self, LibraryLayout::Paired { .. })
    }

    fn check(&self) -> Result<(), SimulateError> {
        match *self {
            LibraryLayout::Single { length } => check(length > 0, "length", length, "at least 1"),
            LibraryLayout::Paired {
                length,
                insert_mean,
                insert_deviation,
            } => {
                let least = f64::from(length.max(1));
                let spread = 0.0..=insert_mean;
                check(length > 0, "length", length, "at least 1")?;
                check(
                    insert_mean >= least && insert_mean < 1e9,
                    "insert",
                    insert_mean,
                    "at least the length of a read",
                )?;
                check(
                    spread.contains(&insert_deviation),
                    "insert-sd",
                    insert_deviation,
                    "between 0 and the insert",
                )
            }
            LibraryLayout::Long { mean, deviation } => {
                check(
                    (1.0..1e9).contains(&mean),
                    "length",
                    mean,
                    "at least 1 and below 10^9",
                )?;
                check(
                    (0.0..=3.0 * mean).contains(&deviation),
                    "length-sd",
                    deviation,
                    "between 0 and 3 x the length",
                )
            }
        }
    }
}

impl Protocol {
    pub(crate) fn check(&self) -> Result<(), SimulateError> {
        let Errors { rate, indels } = self.errors;
        self.layout.check()?;
        check(
            rate == 0.0 || (1e-4..=0.2).contains(&rate),
            "error-rate",
            rate,
            "0, or between 0.0001 and 0.2",
        )?;
        check(
            (0.0..=1.0).contains(&indels),
            "indel-share",
            indels,
            "between 0 and 1",
        )
    }
}

/// The sequences of a genome that reads can come from.
pub(crate) struct Places<'a> {
    sequences: Vec<&'a Sequence>,
    /// Per sequence, letters of it and all before it.
    ends: Vec<u64>,
    has_n: bool,
}

impl<'a> Places<'a> {
    /// The sequences of at least `least` letters.
    pub(crate) fn new(
        sequences: &'a [Sequence],
        least: u64,
        genome: &str,
    ) -> Result<Places<'a>, SimulateError> {
        let length = |sequence: &Sequence| sequence.letters.len() as u64;
        let long: Vec<&Sequence> = sequences
            .iter()
            .filter(|sequence| length(sequence) >= least.max(1))
            .collect();
        let ends: Vec<u64> = long
            .iter()
            .scan(0, |end, sequence| Some(add(end, length(sequence))))
            .collect();
        if ends.is_empty() {
            let longest = sequences.iter().map(length).max().unwrap_or(0);
            return Err(SimulateError::Short {
                genome: genome.to_owned(),
                longest,
                needed: least.max(1),
            });
        }
        let has_n = long.iter().any(|sequence| sequence.letters.contains(&b'N'));
        Ok(Places {
            sequences: long,
            ends,
            has_n,
        })
    }

    /// Letters of all sequences.
    pub(crate) fn letters(&self) -> u64 {
        *self.ends.last().expect("there is a sequence")
    }

    /// Number of sequences.
    pub(crate) fn sequences(&self) -> u64 {
        self.ends.len() as u64
    }

    /// A fragment of `length` letters, fewer where the sequence is shorter.
    fn fragment(&self, length: usize, random: &mut Random) -> Fragment<'a> {
        let place = random.below(self.letters());
        let sequence = self.sequences[self.ends.partition_point(|&end| end <= place)];
        let length = length.min(sequence.letters.len());
        let start = random.below((sequence.letters.len() - length + 1) as u64) as usize;
        Fragment {
            sequence,
            start,
            end: start + length,
            reverse: random.bits() >> 63 == 1,
        }
    }

    /// A fragment with at most a tenth of N, if one is found in reasonable time.
    fn readable_fragment(&self, length: usize, random: &mut Random) -> Fragment<'a> {
        let mut fragment = self.fragment(length, random);
        let mut attempts = 1;
        while self.has_n && attempts < ATTEMPTS && fragment.is_unreadable() {
            fragment = self.fragment(length, random);
            attempts += 1;
        }
        fragment
    }
}

fn add(sum: &mut u64, term: u64) -> u64 {
    *sum += term;
    *sum
}

/// A piece of a sequence, from 0, end excluded.
pub(crate) struct Fragment<'a> {
    pub(crate) sequence: &'a Sequence,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// True when mate 1 reads the minus strand.
    pub(crate) reverse: bool,
}

impl<'a> Fragment<'a> {
    fn letters(&self) -> &'a [u8] {
        &self.sequence.letters[self.start..self.end]
    }

    fn is_unreadable(&self) -> bool {
        let letters = self.letters();
        10 * letters.iter().filter(|&&letter| letter == b'N').count() > letters.len()
    }

    /// What mate 1 reads when `second` is false, mate 2 otherwise: the piece and whether its minus
    /// strand.
    fn mate(&self, length: usize, second: bool) -> (&'a [u8], bool) {
        let letters = self.letters();
        let reverse = self.reverse != second;
        let length = length.min(letters.len());
        (
            if reverse {
                &letters[letters.len() - length..]
            } else {
                &letters[..length]
            },
            reverse,
        )
    }

    /// Writes the name without the mate's number.
    pub(crate) fn write_name(&self, number: u64, out: &mut impl Write) -> io::Result<()> {
        let (name, start, end, strand) = (
            &self.sequence.name,
            self.start + 1,
            self.end,
            strand(self.reverse),
        );
        write!(out, "{name}:{start}-{end}:{strand}:{number}")
    }
}

/// What came out of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Yield {
    pub(crate) reads: u64,
    pub(crate) letters: u64,
    pub(crate) errors: u64,
}

/// Makes reads of fragments.
pub(crate) struct Shotgun {
    protocol: Protocol,
    machine: Sequencer,
    /// Mean and deviation of the logarithm of the length of long reads.
    logs: (f64, f64),
    read: Read,
    name: Vec<u8>,
    pub(crate) made: Yield,
}

impl Shotgun {
    pub(crate) fn new(protocol: &Protocol) -> Result<Shotgun, SimulateError> {
        protocol.check()?;
        let Errors { rate, indels } = protocol.errors;
        let (machine, logs) = match protocol.layout {
            LibraryLayout::Single { length } | LibraryLayout::Paired { length, .. } => (
                Sequencer::new(length as usize, rate, indels, Course::Rising),
                (0.0, 0.0),
            ),
            LibraryLayout::Long { mean, deviation } => (
                Sequencer::new(1, rate, indels, Course::Flat),
                logs(mean, deviation),
            ),
        };
        let protocol = protocol.clone();
        Ok(Shotgun {
            protocol,
            machine,
            logs,
            read: Read::default(),
            name: Vec::new(),
            made: Yield::default(),
        })
    }

    /// The generator of fragment `number` (from 0).
    pub(crate) fn random(&self, number: u64) -> Random {
        Random::stream(self.protocol.seed, READS, number)
    }

    /// A fragment of a genome.
    pub(crate) fn shear<'a>(&self, places: &Places<'a>, random: &mut Random) -> Fragment<'a> {
        let length = match self.protocol.layout {
            LibraryLayout::Single { length } => length as usize,
            LibraryLayout::Paired {
                length,
                insert_mean,
                insert_deviation,
            } => {
                let insert = insert_mean + insert_deviation * random.normal() + 0.5;
                (insert as usize).max(length as usize)
            }
            LibraryLayout::Long { .. } => {
                ((random.log_normal(self.logs.0, self.logs.1) + 0.5) as usize).max(1)
            }
        };
        places.readable_fragment(length, random)
    }

    /// Reads a fragment into one file, or mate 1 into the first and mate 2 into the last of two.
    pub(crate) fn sequence(
        &mut self,
        fragment: &Fragment,
        number: u64,
        random: &mut Random,
        files: &mut [Writer],
    ) -> Result<(), SimulateError> {
        let length = match self.protocol.layout {
            LibraryLayout::Single { length } | LibraryLayout::Paired { length, .. } => {
                length as usize
            }
            LibraryLayout::Long { .. } => usize::MAX,
        };
        let paired = self.protocol.layout.is_paired();
        for second in [false, true].into_iter().take(1 + usize::from(paired)) {
            let (template, reverse) = fragment.mate(length, second);
            self.machine.read(template, reverse, random, &mut self.read);
            let file = if second {
                files.last_mut()
            } else {
                files.first_mut()
            }
            .expect("there is a file");
            self.name.clear();
            let named = fragment.write_name(number, &mut self.name);
            named.expect("a Vec takes every byte");
            if paired {
                self.name
                    .extend_from_slice(if second { b"/2" } else { b"/1" });
            }
            file.write(&self.name, &self.read.letters, &self.read.qualities)?;
            self.count();
        }
        Ok(())
    }

    fn count(&mut self) {
        self.made.reads += 1;
        self.made.letters += self.read.letters.len() as u64;
        self.made.errors += self.read.errors;
    }
}

/// Mean and deviation of the logarithm of a log-normal variable of this mean and deviation.
fn logs(mean: f64, deviation: f64) -> (f64, f64) {
    let variance = ln(1.0 + deviation * deviation / (mean * mean));
    (ln(mean) - variance / 2.0, variance.sqrt())
}
