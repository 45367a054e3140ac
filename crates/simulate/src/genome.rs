//! Random genomes: GC content, contigs, repeat families, gaps, further haplotypes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use gyrase_work::Progress;

use crate::error::check;
use crate::files::{Table, fasta};
use crate::random::Random;
use crate::sequence::Sequence;
use crate::sequencer::substitute;
use crate::{SimulateError, sequence};

const CONTIG: u64 = 1;
const FAMILY: u64 = 2;
const PLACES: u64 = 3;
const GAPS: u64 = 4;
const HAPLOTYPE: u64 = 5;
const ATTEMPTS: u32 = 1000;
/// Haplotypes of a genome at most: each has a letter in the names of its contigs.
const HAPLOTYPES: u32 = 8;

/// Repeat families: each is one random sequence that lies in the genome in several diverged copies,
/// on either strand, none over another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeats {
    /// Number of families; 0 for a genome without repeats.
    pub families: u32,
    /// Copies of each family.
    pub copies: u32,
    /// Bases of each copy.
    pub length: u64,
    /// Share of the bases of each copy that are substituted, 0 to 0.75.
    pub divergence: f64,
}

/// Runs of N, outside of the repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    /// Number of runs.
    pub runs: u32,
    /// Letters of each run.
    pub length: u64,
}

/// What a random genome is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    /// Chooses among all genomes of this blueprint.
    pub seed: u64,
    /// Prefix of the names of the contigs.
    pub name: String,
    /// Bases of one haplotype, all contigs together.
    pub length: u64,
    /// Number of contigs; their lengths differ by up to three times.
    pub contigs: u32,
    /// Share of G and C, 0 to 1.
    pub gc: f64,
    /// Repeats.
    pub repeats: Repeats,
    /// Runs of N.
    pub gaps: Gaps,
    /// Share of the bases in which each further haplotype differs from the first, 0 to 0.75; 0 for
    /// a haploid genome.
    pub heterozygosity: f64,
    /// Haplotypes where they differ, 2 to 8.
    pub ploidy: u32,
}

impl Default for Blueprint {
    /// One contig of 1,000,000 random bases, half of them G or C.
    fn default() -> Blueprint {
        Blueprint {
            seed: 1,
            name: "genome".to_owned(),
            length: 1_000_000,
            contigs: 1,
            gc: 0.5,
            repeats: Repeats::default(),
            gaps: Gaps::default(),
            heterozygosity: 0.0,
            ploidy: 2,
        }
    }
}

/// A genome to write, and where to.
#[derive(Clone, Debug)]
pub struct Config {
    /// The genome.
    pub blueprint: Blueprint,
    /// The FASTA file, 80 columns wide; compressed where the name ends so.
    pub output: PathBuf,
    /// The table of repeats, gaps and variants, if wanted.
    pub truth: Option<PathBuf>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Sequences of all haplotypes.
    pub sequences: u64,
    /// Letters of all haplotypes.
    pub letters: u64,
    /// Copies of repeats in the first haplotype.
    pub repeats: u64,
    /// Runs of N in the first haplotype.
    pub gaps: u64,
    /// Bases that are not the same in all haplotypes.
    pub variants: u64,
}

/// What lies at a place of the genome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A copy of a repeat family.
    Repeat {
        /// Number of the family, from 1.
        family: u32,
        /// True when the copy lies on the minus strand.
        reverse: bool,
    },
    /// A run of N.
    Gap,
    /// A base that is not the same in all haplotypes.
    Variant {
        /// Letter of the first haplotype.
        first: u8,
        /// Letter of each further haplotype.
        others: Vec<u8>,
    },
}

/// One line of the truth: what lies where in the first haplotype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Index of the contig.
    pub contig: usize,
    /// Bases, from 0.
    pub bases: Range<u64>,
    /// What lies there.
    pub kind: Kind,
}

/// A genome with its truth.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedGenome {
    /// The contigs of the first haplotype, then those of each further one.
    pub sequences: Vec<Sequence>,
    /// Repeats, gaps and variants, by contig and place.
    pub features: Vec<Feature>,
}

/// Generates a genome and writes it.
///
/// # Errors
/// When a setting is out of its range or a file cannot be written; then no file appears.
pub fn run(config: &Config, progress: &Progress) -> Result<Summary, SimulateError> {
    progress.start("genome", 0);
    let genome = generate(&config.blueprint)?;
    if progress.is_cancelled() {
        return Err(SimulateError::Cancelled);
    }
    let fasta = fasta(&config.output, &genome.sequences)?;
    let truth = config
        .truth
        .as_ref()
        .map(|path| write_truth(path, &genome))
        .transpose()?;
    fasta.finish()?;
    truth.map_or(Ok(()), Table::commit)?;
    Ok(genome.summary())
}

/// Generates a genome.
///
/// # Errors
/// When a setting is out of its range, or the repeats and gaps do not fit the length.
pub fn generate(blueprint: &Blueprint) -> Result<SimulatedGenome, SimulateError> {
    blueprint.check()?;
    let mut genome = SimulatedGenome {
        sequences: contigs(blueprint),
        features: Vec::new(),
    };
    let mut taken = vec![BTreeMap::new(); genome.sequences.len()];
    genome.place_repeats(blueprint, &mut taken)?;
    genome.place_gaps(blueprint, &mut taken)?;
    genome.add_haplotypes(blueprint);
    genome
        .features
        .sort_by_key(|feature| (feature.contig, feature.bases.start));
    Ok(genome)
}

impl Blueprint {
    fn check(&self) -> Result<(), SimulateError> {
        let share = 0.0..=0.75;
        let Repeats {
            families,
            copies,
            length,
            divergence,
        } = self.repeats;
        let filled = u128::from(families) * u128::from(copies) * u128::from(length)
            + u128::from(self.gaps.runs) * u128::from(self.gaps.length);
        let fewest = 10 * u64::from(self.contigs);
        check(self.contigs > 0, "contigs", self.contigs, "at least 1")?;
        check(
            self.length >= fewest,
            "length",
            self.length,
            format!("at least 10 per contig, here {fewest}"),
        )?;
        check(
            (0.0..=1.0).contains(&self.gc),
            "gc",
            self.gc,
            "between 0 and 1",
        )?;
        check(
            share.contains(&divergence),
            "repeat-divergence",
            divergence,
            "between 0 and 0.75",
        )?;
        check(
            share.contains(&self.heterozygosity),
            "heterozygosity",
            self.heterozygosity,
            "between 0 and 0.75",
        )?;
        let haplotypes = format!("between 2 and {HAPLOTYPES}");
        let several = (2..=HAPLOTYPES).contains(&self.ploidy);
        check(several, "ploidy", self.ploidy, haplotypes)?;
        let half = format!(
            "at most half of the length with all repeats and gaps together, here {filled} bases"
        );
        check(
            filled <= u128::from(self.length / 2),
            "repeat-families",
            families,
            half,
        )
    }

    fn random(&self, domain: u64, index: u64) -> Random {
        Random::stream(self.seed, domain, index)
    }
}

impl SimulatedGenome {
    /// Totals.
    pub fn summary(&self) -> Summary {
        let of = |wanted: fn(&Kind) -> bool| {
            self.features.iter().filter(|f| wanted(&f.kind)).count() as u64
        };
        Summary {
            sequences: self.sequences.len() as u64,
            letters: self
                .sequences
                .iter()
                .map(|sequence| sequence.letters.len() as u64)
                .sum(),
            repeats: of(|kind| matches!(kind, Kind::Repeat { .. })),
            gaps: of(|kind| matches!(kind, Kind::Gap)),
            variants: of(|kind| matches!(kind, Kind::Variant { .. })),
        }
    }

    fn place_repeats(
        &mut self,
        blueprint: &Blueprint,
        taken: &mut [Taken],
    ) -> Result<(), SimulateError> {
        let Repeats {
            families,
            copies,
            length,
            divergence,
        } = blueprint.repeats;
        let mut random = blueprint.random(PLACES, 0);
        for family in 1..=families {
            let ancestor = letters(
                &mut blueprint.random(FAMILY, u64::from(family)),
                length,
                blueprint.gc,
            );
            for _ in 0..copies {
                let (contig, start) = self
                    .free_place(&mut random, taken, length)
                    .ok_or_else(|| does_not_fit("repeat-length", length))?;
                let reverse = random.chance(0.5);
                let mut copy = ancestor.clone();
                mutate(&mut copy, divergence, &mut random);
                if reverse {
                    copy = gyrase_seq::reverse_complement(&copy);
                }
                self.put(contig, start, &copy, Kind::Repeat { family, reverse });
            }
        }
        Ok(())
    }

    fn place_gaps(
        &mut self,
        blueprint: &Blueprint,
        taken: &mut [Taken],
    ) -> Result<(), SimulateError> {
        let Gaps { runs, length } = blueprint.gaps;
        let mut random = blueprint.random(GAPS, 0);
        let gap = vec![b'N'; length as usize];
        for _ in 0..runs {
            let (contig, start) = self
                .free_place(&mut random, taken, length)
                .ok_or_else(|| does_not_fit("gap-length", length))?;
            self.put(contig, start, &gap, Kind::Gap);
        }
        Ok(())
    }

    /// A random place of `length` free bases, taken from now on.
    fn free_place(
        &self,
        random: &mut Random,
        taken: &mut [Taken],
        length: u64,
    ) -> Option<(usize, u64)> {
        for _ in 0..ATTEMPTS {
            let contig = random.below(self.sequences.len() as u64) as usize;
            let bases = self.sequences[contig].letters.len() as u64;
            if length == 0 || bases < length {
                continue;
            }
            let start = random.below(bases - length + 1);
            let before = taken[contig].range(..start + length).next_back();
            if before.is_none_or(|(_, &end)| end <= start) {
                taken[contig].insert(start, start + length);
                return Some((contig, start));
            }
        }
        None
    }

    fn put(&mut self, contig: usize, start: u64, letters: &[u8], kind: Kind) {
        let bases = start..start + letters.len() as u64;
        self.sequences[contig].letters[bases.start as usize..bases.end as usize]
            .copy_from_slice(letters);
        self.features.push(Feature {
            contig,
            bases,
            kind,
        });
    }

    fn add_haplotypes(&mut self, blueprint: &Blueprint) {
        if blueprint.heterozygosity == 0.0 {
            return;
        }
        let firsts = std::mem::take(&mut self.sequences);
        let further = |haplotype: u64| {
            let mut contigs = firsts.clone();
            for (contig, number) in contigs.iter_mut().zip(0..) {
                let mut random = blueprint.random(HAPLOTYPE, haplotype << 32 | number);
                mutate(&mut contig.letters, blueprint.heterozygosity, &mut random);
            }
            contigs
        };
        let others: Vec<Vec<Sequence>> =
            (0..u64::from(blueprint.ploidy) - 1).map(further).collect();
        for (contig, first) in firsts.iter().enumerate() {
            let alike: Vec<&[u8]> = others.iter().map(|one| &one[contig].letters[..]).collect();
            self.features
                .extend(variants(contig, &first.letters, &alike));
        }
        let all = std::iter::once(firsts).chain(others);
        let named = |(letter, one)| sequence::suffixed(one, &format!("_{}", char::from(letter)));
        self.sequences = (b'a'..).zip(all).flat_map(named).collect();
    }
}

/// Start -> end of the places of one contig that are in use; no two overlap.
type Taken = BTreeMap<u64, u64>;

fn does_not_fit(setting: &'static str, length: u64) -> SimulateError {
    let expected =
        "short enough to find free places in the contigs; make it shorter or the genome longer"
            .to_owned();
    SimulateError::Setting {
        setting,
        found: length.to_string(),
        expected,
    }
}

fn contigs(blueprint: &Blueprint) -> Vec<Sequence> {
    let lengths = contig_lengths(blueprint);
    let contig = |(i, length)| Sequence {
        name: format!("{}_{}", blueprint.name, i + 1),
        letters: letters(
            &mut blueprint.random(CONTIG, i as u64),
            length,
            blueprint.gc,
        ),
    };
    lengths.into_iter().enumerate().map(contig).collect()
}

fn contig_lengths(blueprint: &Blueprint) -> Vec<u64> {
    let mut random = blueprint.random(PLACES, 1);
    let weights: Vec<u64> = (0..blueprint.contigs)
        .map(|_| 1000 + random.below(2001))
        .collect();
    let sum: u64 = weights.iter().sum();
    let part =
        |&weight| (u128::from(blueprint.length) * u128::from(weight) / u128::from(sum)) as u64;
    let mut lengths: Vec<u64> = weights.iter().map(part).collect();
    lengths[0] += blueprint.length - lengths.iter().sum::<u64>();
    lengths
}

fn letters(random: &mut Random, length: u64, gc: f64) -> Vec<u8> {
    let strong = (gc * (1u64 << 32) as f64) as u64;
    let letter = |bits: u64| {
        if bits >> 32 < strong {
            b"CG"[bits as usize & 1]
        } else {
            b"AT"[bits as usize & 1]
        }
    };
    (0..length).map(|_| letter(random.bits())).collect()
}

/// Substitutes each base with the probability `rate`.
pub(crate) fn mutate(letters: &mut [u8], rate: f64, random: &mut Random) {
    if rate == 0.0 {
        return;
    }
    for letter in letters.iter_mut().filter(|letter| **letter != b'N') {
        if random.chance(rate) {
            *letter = substitute(*letter, random.bits());
        }
    }
}

fn variants<'a>(
    contig: usize,
    first: &'a [u8],
    others: &'a [&'a [u8]],
) -> impl Iterator<Item = Feature> + 'a {
    let differ = (0..first.len()).filter(|&i| others.iter().any(|other| first[i] != other[i]));
    differ.map(move |i| Feature {
        contig,
        bases: i as u64..i as u64 + 1,
        kind: Kind::Variant {
            first: first[i],
            others: others.iter().map(|other| other[i]).collect(),
        },
    })
}

fn write_truth(path: &std::path::Path, genome: &SimulatedGenome) -> Result<Table, SimulateError> {
    let mut table = Table::create(path)?;
    table.put(|out| {
        writeln!(out, "#kind\tsequence\tstart\tend\tdetail")?;
        genome.features.iter().try_for_each(|feature| {
            let (start, end) = (feature.bases.start + 1, feature.bases.end);
            let (kind, detail) = feature.kind.words();
            writeln!(
                out,
                "{kind}\t{}\t{start}\t{end}\t{detail}",
                genome.sequences[feature.contig].name
            )
        })
    })?;
    Ok(table)
}

impl Kind {
    /// The first and the last column of the truth table.
    fn words(&self) -> (&'static str, String) {
        match self {
            Kind::Repeat { family, reverse } => (
                "repeat",
                format!("family={family};strand={}", strand(*reverse)),
            ),
            Kind::Gap => ("gap", String::from(".")),
            Kind::Variant { first, others } => (
                "variant",
                format!("{}>{}", char::from(*first), String::from_utf8_lossy(others)),
            ),
        }
    }
}

/// The sign of a strand.
pub(crate) fn strand(reverse: bool) -> char {
    if reverse { '-' } else { '+' }
}
