//! `gyrase simulate`.

mod community;
mod genome;
mod reads;
mod shown;

use clap::{Args, Subcommand};

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase simulate genome -o genome.fa --length 5000000 --heterozygosity 0.01
  gyrase simulate reads genome.fa -o r_1.fq.gz --out2 r_2.fq.gz --coverage 30
  gyrase simulate community -o mock.fq --truth truth.tsv --abundances abund.tsv

The same seed gives the same bytes on every machine.";

/// Make genomes, reads and communities with known truth, from a seed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Simulate {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a random genome: GC content, repeats, gaps, a second haplotype
    Genome(genome::Genome),
    /// Read genomes: paired, single or long reads with errors and qualities
    Reads(reads::Reads),
    /// Read many genomes at log-normal abundances
    Community(community::Community),
}

impl Simulate {
    /// Writes the files.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Genome(verb) => verb.run(session),
            What::Reads(verb) => verb.run(session),
            What::Community(verb) => verb.run(session),
        }
    }
}
