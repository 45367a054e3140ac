//! `gyrase kmers`: what is done with databases.

mod combine;
mod dump;
mod exchange;
mod filter;
mod histo;
mod info;
mod plan;
mod query;
mod summary;

use clap::{Args, Subcommand};

pub use plan::PlanKmers;

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase kmers info sample.gyk
  gyrase kmers histo sample.gyk --plot spectrum.svg
  gyrase kmers union monday.gyk tuesday.gyk -o both.gyk
  gyrase kmers filter host.gyk reads.fq --drop -o rest.fq
  gyrase kmers import sample.kmc_pre -o sample.gyk";

/// Look into databases of k-mers, combine them, exchange them with other programs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Kmers {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say what a database holds and what it was made of
    Info(info::Info),
    /// Print how many k-mers have which count; draw the spectrum
    Histo(histo::Histo),
    /// Print every k-mer with its count
    Dump(dump::Dump),
    /// Look up k-mers, or all k-mers of sequences
    Query(query::Query),
    /// Unite databases: the k-mers of any of them
    Union(combine::Union),
    /// Intersect databases: the k-mers that all of them have
    Intersect(combine::Intersect),
    /// Subtract databases: the k-mers of the first that no other has
    Subtract(combine::Subtract),
    /// Keep or drop reads by how many of their k-mers a database has
    Filter(Box<filter::Filter>),
    /// Read the database of another program: KMC, KFF, text
    Import(exchange::Import),
    /// Write a database for another program: KMC, KFF, text
    Export(exchange::Export),
    /// Read all of a database and check it
    Verify(info::Verify),
}

impl Kmers {
    /// Does it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Info(verb) => verb.run(session),
            What::Histo(verb) => verb.run(session),
            What::Dump(verb) => verb.run(session),
            What::Query(verb) => verb.run(session),
            What::Union(verb) => verb.run(session),
            What::Intersect(verb) => verb.run(session),
            What::Subtract(verb) => verb.run(session),
            What::Filter(verb) => verb.run(session),
            What::Import(verb) => verb.run(session),
            What::Export(verb) => verb.run(session),
            What::Verify(verb) => verb.run(session),
        }
    }
}
