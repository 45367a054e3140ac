//! Reads of many genomes at log-normal abundances.
//!
//! The abundance of a genome is its share of the cells; its share of the reads is proportional to
//! abundance times length, as in a real sample.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use gyrase_fastx::Writer;
use gyrase_work::Progress;

use crate::error::check;
use crate::files::{Table, fasta};
use crate::genome::{Blueprint, generate, mutate, strand};
use crate::reads::{Amount, Protocol, ReadFiles, heed};
use crate::sequence::{Sequence, read_sequences};
use crate::shotgun::{Fragment, Places, Shotgun};
use crate::{Random, SimulateError};

const ABUNDANCES: u64 = 32;
const SPECIES: u64 = 33;
const STRAINS: u64 = 34;

/// Where the genomes come from.
#[derive(Clone, Debug)]
pub enum GenomeSource {
    /// One genome per file, named like the file without its endings.
    Files(Vec<PathBuf>),
    /// Generated from one ancestor.
    Phylogeny(Phylogeny),
}

/// Genomes with shared ancestry: an ancestor, species that diverged from it, strains that diverged
/// from their species.
#[derive(Clone, Debug)]
pub struct Phylogeny {
    /// The ancestor. Its seed chooses the whole family; its heterozygosity must be 0.
    pub ancestor: Blueprint,
    /// Number of species.
    pub species: u32,
    /// Strains of each species.
    pub strains: u32,
    /// Share of the bases that differ between ancestor and species, 0 to 0.75.
    pub species_divergence: f64,
    /// Share of the bases that differ between species and strain, 0 to 0.75.
    pub strain_divergence: f64,
}

/// A community and its reads.
#[derive(Clone, Debug)]
pub struct Config {
    /// The genomes.
    pub source: GenomeSource,
    /// Standard deviation of the logarithm of the abundances, 0 (all alike) to 5.
    pub sigma: f64,
    /// How to read; its seed also draws the abundances.
    pub protocol: Protocol,
    /// How much; coverage is the mean over the letters of all genomes.
    pub amount: Amount,
    /// Where the reads go.
    pub target: ReadFiles,
    /// The table of every fragment: read, genome, sequence, start, end, strand.
    pub truth: PathBuf,
    /// The table of every genome: genome, letters, abundance, fragments, coverage.
    pub abundances: PathBuf,
    /// The genomes in one FASTA file, if wanted.
    pub genomes: Option<PathBuf>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Per genome what the table of abundances says.
    pub members: Vec<Member>,
    /// Reads written; mates count as two.
    pub reads: u64,
    /// Letters written.
    pub letters: u64,
    /// Sequencing errors among them.
    pub errors: u64,
}

/// A genome of the community.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name.
    pub genome: String,
    /// Its letters.
    pub letters: u64,
    /// Its share of the cells.
    pub abundance: f64,
    /// Fragments that were read from it.
    pub fragments: u64,
    /// Letters read per letter of the genome.
    pub coverage: f64,
}

struct Genome {
    name: String,
    sequences: Vec<Sequence>,
}

/// Makes the community and writes its reads and tables.
///
/// # Errors
/// When a setting is out of its range, a genome cannot be read or is too short, or a file cannot be
/// written; then no file appears.
pub fn run(config: &Config, progress: &Progress) -> Result<Summary, SimulateError> {
    config.protocol.check()?;
    check(
        (0.0..=5.0).contains(&config.sigma),
        "sigma",
        config.sigma,
        "between 0 and 5",
    )?;
    progress.start("genomes", 0);
    let genomes = config.source.genomes()?;
    let mut files = config.target.create(&config.protocol.layout)?;
    let mut truth = Table::create(&config.truth)?;
    let mut table = Table::create(&config.abundances)?;
    let sequences = || genomes.iter().flat_map(|genome| &genome.sequences);
    let fasta = config
        .genomes
        .as_ref()
        .map(|path| fasta(path, sequences()))
        .transpose()?;
    let summary = shoot(config, &genomes, &mut files, &mut truth, progress)?;
    write_members(&mut table, &summary.members)?;
    files
        .into_iter()
        .chain(fasta)
        .try_for_each(Writer::finish)?;
    [truth, table].into_iter().try_for_each(Table::commit)?;
    Ok(summary)
}

fn shoot(
    config: &Config,
    genomes: &[Genome],
    files: &mut [Writer],
    truth: &mut Table,
    progress: &Progress,
) -> Result<Summary, SimulateError> {
    let layout = &config.protocol.layout;
    let mut shotgun = Shotgun::new(&config.protocol)?;
    let least = layout.least();
    let places = genomes
        .iter()
        .map(|genome| Places::new(&genome.sequences, least, &genome.name));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let mut members = members(config, genomes, &places);
    let bounds = bounds(&members);
    let fragments = config
        .amount
        .fragments(places.iter().map(Places::letters).sum(), layout)?;
    progress.start("reads", fragments);
    truth.put(|out| writeln!(out, "#read\tgenome\tsequence\tstart\tend\tstrand"))?;
    for number in 0..fragments {
        heed(progress, number)?;
        let mut random = shotgun.random(number);
        let chosen = choose(&bounds, &mut random);
        let fragment = shotgun.shear(&places[chosen], &mut random);
        let before = shotgun.made.letters;
        shotgun.sequence(&fragment, number, &mut random, files)?;
        members[chosen].add(shotgun.made.letters - before);
        write_truth(truth, &members[chosen].genome, &fragment, number)?;
    }
    let made = shotgun.made;
    Ok(Summary {
        members,
        reads: made.reads,
        letters: made.letters,
        errors: made.errors,
    })
}

impl Member {
    fn add(&mut self, letters: u64) {
        self.fragments += 1;
        self.coverage += letters as f64 / self.letters as f64;
    }
}

fn members(config: &Config, genomes: &[Genome], places: &[Places]) -> Vec<Member> {
    let weight =
        |i| Random::stream(config.protocol.seed, ABUNDANCES, i).log_normal(0.0, config.sigma);
    let weights: Vec<f64> = (0..genomes.len() as u64).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    let member = |((genome, places), weight): ((&Genome, &Places), &f64)| Member {
        genome: genome.name.clone(),
        letters: places.letters(),
        abundance: weight / sum,
        fragments: 0,
        coverage: 0.0,
    };
    genomes
        .iter()
        .zip(places)
        .zip(&weights)
        .map(member)
        .collect()
}

/// Upper ends of the genomes' shares of the reads, of 2^63.
fn bounds(members: &[Member]) -> Vec<u64> {
    let share = |member: &Member| member.abundance * member.letters as f64;
    let sum: f64 = members.iter().map(share).sum();
    let whole = (1u64 << 63) as f64;
    let ends = members.iter().scan(0.0, |end, member| {
        *end += share(member) / sum;
        Some((*end * whole) as u64)
    });
    ends.collect()
}

fn choose(bounds: &[u64], random: &mut Random) -> usize {
    let place = random.bits() >> 1;
    bounds
        .partition_point(|&end| end <= place)
        .min(bounds.len() - 1)
}

impl GenomeSource {
    fn genomes(&self) -> Result<Vec<Genome>, SimulateError> {
        match self {
            GenomeSource::Files(paths) => {
                check(
                    !paths.is_empty(),
                    "the list of genomes",
                    "empty",
                    "at least one file",
                )?;
                paths.iter().map(|path| read_genome(path)).collect()
            }
            GenomeSource::Phylogeny(family) => family.genomes(),
        }
    }
}

fn read_genome(path: &Path) -> Result<Genome, SimulateError> {
    let file = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut name = file.as_str();
    for ending in [
        ".gz", ".zst", ".bz2", ".xz", ".fa", ".fna", ".fasta", ".fq", ".fastq",
    ] {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    Ok(Genome {
        name: name.to_owned(),
        sequences: read_sequences(path)?,
    })
}

impl Phylogeny {
    fn genomes(&self) -> Result<Vec<Genome>, SimulateError> {
        self.check()?;
        let ancestor = generate(&self.ancestor)?.sequences;
        let mut genomes = Vec::new();
        for species in 0..self.species {
            let founder = self.descend(
                &ancestor,
                self.species_divergence,
                SPECIES,
                u64::from(species),
            );
            for strain in 0..self.strains {
                let index = u64::from(species) << 32 | u64::from(strain);
                let name = format!("species{}_strain{}", species + 1, strain + 1);
                let mut sequences = self.descend(&founder, self.strain_divergence, STRAINS, index);
                (1..)
                    .zip(&mut sequences)
                    .for_each(|(i, sequence)| sequence.name = format!("{name}_{i}"));
                genomes.push(Genome { name, sequences });
            }
        }
        Ok(genomes)
    }

    fn check(&self) -> Result<(), SimulateError> {
        let share = 0.0..=0.75;
        check(self.species > 0, "species", self.species, "at least 1")?;
        check(self.strains > 0, "strains", self.strains, "at least 1")?;
        for (setting, value) in [
            ("species-divergence", self.species_divergence),
            ("strain-divergence", self.strain_divergence),
        ] {
            check(share.contains(&value), setting, value, "between 0 and 0.75")?;
        }
        let heterozygosity = self.ancestor.heterozygosity;
        check(
            heterozygosity == 0.0,
            "heterozygosity",
            heterozygosity,
            "0 for a community",
        )
    }

    fn descend(
        &self,
        parent: &[Sequence],
        divergence: f64,
        domain: u64,
        index: u64,
    ) -> Vec<Sequence> {
        let mut random = Random::stream(self.ancestor.seed, domain, index);
        let mut child = parent.to_vec();
        child
            .iter_mut()
            .for_each(|sequence| mutate(&mut sequence.letters, divergence, &mut random));
        child
    }
}

fn write_truth(
    truth: &mut Table,
    genome: &str,
    fragment: &Fragment,
    number: u64,
) -> Result<(), SimulateError> {
    let (sequence, strand) = (&fragment.sequence.name, strand(fragment.reverse));
    let put = truth.put(|out| {
        fragment.write_name(number, out)?;
        writeln!(
            out,
            "\t{genome}\t{sequence}\t{}\t{}\t{strand}",
            fragment.start + 1,
            fragment.end
        )
    });
    Ok(put?)
}

fn write_members(table: &mut Table, members: &[Member]) -> Result<(), SimulateError> {
    let put = table.put(|out| {
        writeln!(out, "#genome\tletters\tabundance\tfragments\tcoverage")?;
        members.iter().try_for_each(
            |Member {
                 genome,
                 letters,
                 abundance,
                 fragments,
                 coverage,
             }| {
                writeln!(
                    out,
                    "{genome}\t{letters}\t{abundance:.8}\t{fragments}\t{coverage:.4}"
                )
            },
        )
    });
    Ok(put?)
}
