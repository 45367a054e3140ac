//! `gyrase simulate community`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::things;
use gyrase_simulate::community::{self, Config, GenomeSource, Phylogeny};

use super::genome::Kind;
use super::reads::{self, Shotgun};
use super::shown::simulate;
use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase simulate community -o mock.fq --truth truth.tsv --abundances abund.tsv
      3 species of 2 strains each, drawn from one random ancestor
  gyrase simulate community *.fa -o m_1.fq.gz --out2 m_2.fq.gz --coverage 20 \\
      --truth truth.tsv.gz --abundances abund.tsv
      the genomes of your own files";

/// Read many genomes at log-normal abundances.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Community {
    /// Genomes, one file each [default: a random family of species and strains]
    #[arg(value_name = "GENOME")]
    genomes: Vec<PathBuf>,

    #[command(flatten)]
    shotgun: Shotgun,

    /// Table to write: every fragment and where it was read from
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,

    /// Table to write: every genome, its abundance and its coverage
    #[arg(long, value_name = "FILE")]
    abundances: PathBuf,

    /// Also write all genomes to one FASTA file
    #[arg(long, value_name = "FILE")]
    genomes_out: Option<PathBuf>,

    /// Standard deviation of the logarithm of the abundances; 0 makes them alike
    #[arg(long, value_name = "SIGMA", default_value_t = 1.0)]
    sigma: f64,

    /// Species of a random family
    #[arg(long, value_name = "N", default_value_t = 3)]
    species: u32,

    /// Strains of each species
    #[arg(long, value_name = "N", default_value_t = 2)]
    strains: u32,

    /// Share of bases in which a species differs from the ancestor
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    species_divergence: f64,

    /// Share of bases in which a strain differs from its species
    #[arg(long, value_name = "SHARE", default_value_t = 0.005)]
    strain_divergence: f64,

    /// Bases of the ancestor of a random family
    #[arg(long, value_name = "BASES", default_value_t = 500_000)]
    genome_length: u64,

    #[command(flatten)]
    kind: Kind,
}

impl Community {
    /// Writes reads and tables.
    pub fn run(self, session: &Session) -> Result<()> {
        let shotgun = &self.shotgun;
        let tables = [&self.truth, &self.abundances]
            .into_iter()
            .chain(&self.genomes_out);
        session.keep_apart(&self.genomes, shotgun.outputs().chain(tables))?;
        let config = Config {
            source: self.source(),
            sigma: self.sigma,
            protocol: shotgun.protocol(),
            amount: shotgun.amount(),
            target: shotgun.target(),
            truth: self.truth.clone(),
            abundances: self.abundances.clone(),
            genomes: self.genomes_out.clone(),
        };
        let made = simulate(
            session,
            |progress| community::run(&config, progress),
            |made| {
                format!(
                    "{}, {}",
                    things(made.members.len() as u64, "genome"),
                    reads::words(made.reads, made.letters, made.errors)
                )
            },
        )?;
        shotgun.note(session, made.reads, made.letters, made.errors);
        Ok(())
    }

    fn source(&self) -> GenomeSource {
        if !self.genomes.is_empty() {
            return GenomeSource::Files(self.genomes.clone());
        }
        GenomeSource::Phylogeny(Phylogeny {
            ancestor: self.kind.blueprint(self.shotgun.seed, self.genome_length),
            species: self.species,
            strains: self.strains,
            species_divergence: self.species_divergence,
            strain_divergence: self.strain_divergence,
        })
    }
}
