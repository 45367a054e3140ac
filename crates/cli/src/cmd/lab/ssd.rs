//! `gyrase lab ssd`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_kmer::Shape;
use gyrase_lab::ssd::{
    self, MOST_M, PUBLISHED_SETS, PartitionMapping, ProfileConfig, PublishedCases, SetsConfig,
    SsdConfig, SsdConstants, SsdDesign, SsdError, Variation,
};
use gyrase_picture::words;
use serde_json::json;

use crate::cmd::counts::length;
use crate::cmd::folders::{self, Wanted};
use crate::errors::Meaning;
use crate::failure::{Code, Failure, Result};
use crate::places;
use crate::session::Session;
use crate::sink::{self, Sink};
use crate::size::Size;
use crate::texts::text;

const EXAMPLES: &str = "\
Examples:
  gyrase lab ssd reads.fq.gz -k 28                 the three published designs
  gyrase lab ssd reads.fq.gz --design op --channels 16 --pad 4M
  gyrase lab ssd reads.fq.gz --mapping greedy --plot fig.svg --report x.json
  gyrase lab ssd --constants-out c.json            to change, and give back
  gyrase lab ssd reads.fq.gz --constants c.json
  gyrase lab ssd --paper -o abakus.html            published beside modelled

The same reads and seed give the same bytes. docs/laboratory.md has the model.";

/// Simulate drives that count k-mers themselves: partitions, tables and filters are those of your
/// reads, time and energy are modelled.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Ssd {
    /// FASTA or FASTQ, plain or compressed; `@list` for a list of files, a folder for its files
    #[arg(value_name = "READS", required_unless_present_any = ["paper", "constants_out"])]
    inputs: Vec<PathBuf>,

    /// Length of the k-mers, 1 to 127
    #[arg(short, value_name = "K", default_value_t = 28, value_parser = length)]
    k: usize,

    /// Take a k-mer and its reverse complement for two
    #[arg(long)]
    stranded: bool,

    /// Bases of a minimizer; each minimizer is a partition
    #[arg(long, value_name = "M", default_value_t = 9, value_parser = minimizer)]
    minimizer: usize,

    /// Designs: basic, bf, op [default: all]
    #[arg(long, value_name = "DESIGN,...", value_delimiter = ',')]
    design: Vec<SsdDesign>,

    /// Channels [default: 32, or of the constants]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    channels: Option<u16>,

    /// Scratchpad for tables: of a chip (basic, bf), of a channel (op) [default: 512K, 2M]
    #[arg(long, value_name = "SIZE")]
    pad: Option<Size>,

    /// Which chip a partition is on: round-robin, random, heuristic (pairs of low and high rank,
    /// spread at random), heuristic-modulo, heuristic-snake, heuristic-blocks, greedy
    #[arg(long, value_name = "MAPPING", default_value_t = PartitionMapping::Heuristic)]
    mapping: PartitionMapping,

    /// The seed of mappings, and of the reads of --paper
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Batches of a chip at most [default: 64; of --paper 16]: more are slower, and finer; with
    /// fewer than 16 DRAM is taken to be large enough
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    batches: Option<u64>,

    /// Constants of the model, instead of those of Gyrase
    #[arg(long, value_name = "FILE.json")]
    constants: Option<PathBuf>,

    /// Write the constants
    #[arg(long, value_name = "FILE.json")]
    constants_out: Option<PathBuf>,

    /// Draw what is busy for how long
    #[arg(long, value_name = "FILE.svg", conflicts_with = "paper")]
    plot: Option<PathBuf>,

    /// Tables 1 and 2 and figures 9 to 12 of the publication beside those of the model: a page
    #[arg(long, conflicts_with = "inputs")]
    paper: bool,

    /// Letters of the reads that are simulated for each published set
    #[arg(
        long, value_name = "N", default_value_t = 2_000_000, requires = "paper",
        value_parser = clap::value_parser!(u64).range(10_000..=1_000_000_000),
    )]
    letters: u64,

    /// What is found, as lines; the page of --paper [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn minimizer(text: &str) -> std::result::Result<usize, String> {
    let found = text.parse().ok().filter(|m| (1..=MOST_M).contains(m));
    found.ok_or_else(|| format!("write a number from 1 to {MOST_M}"))
}

impl Ssd {
    /// Simulates, and writes what is asked for.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart(self.inputs.iter().chain(&self.constants), self.files())?;
        let constants = self.constants()?;
        if let Some(path) = &self.constants_out {
            sink::write_all(Some(path), constants.text().as_bytes())?;
        }
        if self.paper {
            self.page(session, &constants)
        } else if !self.inputs.is_empty() {
            self.reads(session, &constants)
        } else {
            Ok(())
        }
    }

    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let prints = self.output.is_none() && (self.paper || !self.inputs.is_empty());
        let named = [&self.output, &self.plot, &self.constants_out]
            .into_iter()
            .flatten();
        named.chain(prints.then(places::standard_output))
    }

    fn constants(&self) -> Result<SsdConstants> {
        match &self.constants {
            Some(path) => Ok(SsdConstants::parse(path, &text(path)?)?),
            None => Ok(SsdConstants::standard()),
        }
    }

    /// The designs that are asked for, each once.
    fn configs(&self) -> Result<Vec<SsdConfig>> {
        let pad = match self.pad {
            Some(Size::Share(_)) => return Err(Failure::usage("--pad is a size such as 2M")),
            Some(Size::Bytes(bytes)) => Some(bytes),
            None => None,
        };
        let wanted = |design: &SsdDesign| self.design.is_empty() || self.design.contains(design);
        let config = |design| SsdConfig {
            channels: self.channels.map(usize::from),
            pad,
            mapping: self.mapping,
            seed: self.seed,
            batches: self.batches.unwrap_or(SsdConfig::of(design).batches),
            ..SsdConfig::of(design)
        };
        Ok(SsdDesign::ALL
            .into_iter()
            .filter(wanted)
            .map(config)
            .collect())
    }

    fn reads(&self, session: &Session, constants: &SsdConstants) -> Result<()> {
        if self.minimizer > self.k {
            return Err(Failure::usage(
                "--minimizer is at most as long as a k-mer (-k)",
            ));
        }
        let inputs = folders::files(&self.inputs, Wanted::Sequences, session)?;
        let config = ProfileConfig {
            inputs,
            shape: Shape::new(self.k, self.stranded).map_err(Failure::usage)?,
            m: self.minimizer,
            threads: session.threads,
            memory: session.memory,
            tmp: session.tmp_folder()?.into(),
        };
        let profile = session.shown(|progress| ssd::profile(&config, progress))?;
        let mut runs = Vec::new();
        for config in self.configs()? {
            runs.push((config, ssd::simulate(&profile, &config, constants)?));
        }
        let names: Vec<String> = self
            .inputs
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        session.note("inputs", names);
        session.note(
            "parameters",
            json!({"k": self.k, "m": self.minimizer, "seed": self.seed}),
        );
        session.note("results", ssd::json(&profile, &runs));
        let text = ssd::table(&profile, &runs);
        let mut written = vec![sink::written(self.output.as_deref(), text.as_bytes())?];
        if let Some(path) = &self.plot {
            let svg = ssd::plot(&profile, &runs).finish();
            written.push(sink::written(Some(path), svg.as_bytes())?);
        }
        written.into_iter().try_for_each(Sink::finish)
    }

    fn page(&self, session: &Session, constants: &SsdConstants) -> Result<()> {
        let sets = SetsConfig {
            letters: self.letters,
            seed: self.seed,
            threads: session.threads,
            memory: session.memory,
            ..SetsConfig::standard(session.tmp_folder()?)
        };
        let grain = SsdConfig {
            batches: self.batches.unwrap_or(PublishedCases::GRAIN),
            seed: self.seed,
            ..SsdConfig::of(SsdDesign::Op)
        };
        let cases = session.shown(|progress| {
            let profiles = PUBLISHED_SETS
                .iter()
                .map(|set| set.profiles(&sets, progress));
            let profiles = profiles
                .collect::<std::result::Result<Vec<_>, _>>()?
                .concat();
            let with = (session.threads, progress);
            PublishedCases::divide(profiles, Variation::all(), constants, grain, with)
        })?;
        let runs =
            session.shown(|progress| cases.simulate(constants, (session.threads, progress)))?;
        let scalars = runs.scalars(constants);
        let near = scalars
            .iter()
            .filter(|one| one.error().abs() <= 0.15)
            .count();
        let numbers: Vec<_> = scalars
            .iter()
            .map(|one| {
                let (place, what) = (one.place, one.what);
                json!({
                    "place": place, "what": what, "published": one.published,
                    "found": one.found,
                })
            })
            .collect();
        session.note(
            "parameters",
            json!({"letters": self.letters, "seed": self.seed}),
        );
        session.note("results", numbers);
        let time = words::time(session.elapsed());
        tracing::info!("{near} of {} numbers within 15 % ({time})", scalars.len());
        write_page(self.output.as_deref(), |out| {
            ssd::page(&runs, constants, out)
        })
    }
}

fn write_page(
    target: Option<&Path>,
    fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<()> {
    let mut sink = Sink::open(target)?;
    fill(&mut sink).map_err(|source| sink.error(source))?;
    sink.finish()
}

impl From<SsdError> for Failure {
    fn from(error: SsdError) -> Failure {
        let meaning = match error {
            SsdError::Tabulate(error) => return error.into(),
            SsdError::Simulate(error) => return error.into(),
            SsdError::Count(error) => return error.into(),
            SsdError::Temporary { .. } => Meaning::helped(Code::Output, "name another with --tmp"),
            SsdError::Memory { .. } => {
                Meaning::helped(Code::Memory, "give more with --memory, or fewer --threads")
            }
            SsdError::LargePartition { .. } => Meaning::helped(
                Code::Memory,
                "give more with --memory, fewer --threads, or a longer --minimizer",
            ),
            SsdError::Constants { .. } => Meaning::helped(
                Code::Input,
                "`gyrase lab ssd --constants-out c.json` writes some that can be changed",
            ),
            SsdError::Device { .. } => Code::Usage.into(),
        };
        meaning.failure(&error)
    }
}
