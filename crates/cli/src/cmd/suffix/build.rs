//! `gyrase suffix build`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_gossip::execute::routes;
use gyrase_gossip::{Collective, Config, Method, planner};
use gyrase_gpu::{Gpu, GpuError, GpuRoutes, GpuSuffixes};
use gyrase_picture::words::bytes;
use gyrase_suffix::gysa::{self, GysaFacts};
use gyrase_suffix::{Error, SuffixArray, Texts, build_in, sort, sort_on};
use serde_json::json;

use super::info::in_json;
use super::plan;
use super::sequences::{LettersArg, Sequences, say_texts, warn_of_none};
use crate::cmd::gossip::wiring;
use crate::failure::{Failure, Result};
use crate::gpu::GpuArgs;
use crate::places::{self, Kind};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase suffix build genome.fa -o genome.gysa
  gyrase suffix build genomes/ --bwt -o genomes.gysa
  gyrase suffix build genomes/ --gpu 0,1,2,3 -o genomes.gysa
  mpirun -n 8 gyrase suffix build genomes/ -o genomes.gysa

A sentinel ends each sequence: smaller than every letter, and unlike all others.
docs/formats.md has every byte of the file. It takes 9 bytes for each letter,
and sorting takes 13 of memory. Each of several processes takes 40 for each
letter of its share, and up to 85 where much repeats: `gyrase plan suffix build
--processes 8` says how much that is.";

/// Letters below which no GPU is used that nobody asked for: it takes longer to begin.
const LEAST_ON_GPU: usize = 16 << 20;

/// Sort the suffixes of sequences: suffix array and longest common prefixes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Build {
    /// FASTA or FASTQ, plain or compressed, nucleotides or proteins; `-` for a pipe, `@list` for a
    /// list of files, a folder for the files in it that are named like such
    #[arg(value_name = "SEQUENCES", required = true)]
    sequences: Vec<PathBuf>,

    /// Keep the Burrows-Wheeler transform too: a byte for each letter
    #[arg(long)]
    bwt: bool,

    #[command(flatten)]
    letters: LettersArg,

    #[command(flatten)]
    gpu: GpuArgs,

    /// How several GPUs are wired, as `gyrase gossip topology` takes it: a name or a file [default:
    /// all alike]
    #[arg(long, value_name = "TOPOLOGY", help_heading = "GPU")]
    gpu_topology: Option<PathBuf>,

    /// File to make
    #[arg(long, short, value_name = "FILE.gysa", required = true)]
    output: Option<PathBuf>,
}

/// What `gyrase plan suffix build` is asked of.
#[derive(Debug, Args)]
pub struct PlanBuild {
    #[command(flatten)]
    build: Build,

    /// Say what each of so many processes takes that `mpirun` starts together
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    processes: NonZeroUsize,
}

impl PlanBuild {
    /// Prints the prediction.
    pub fn plan(&self, session: &Session) -> Result<()> {
        self.build.plan(self.processes.get(), session)
    }
}

impl Build {
    /// Sorts and writes.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = self.output.as_ref().expect("clap requires an output");
        places::keep_databases_only(output, Kind::Gysa)?;
        let sequences = self.sequences(session)?;
        let wires = self.gpu_topology.iter().filter_map(wiring::file);
        session.keep_apart(sequences.files.iter().chain(wires), [output])?;
        let facts = match session.world().ranks() {
            1 => Some(self.build(&sequences, output, session)?),
            _ => self.build_among(&sequences, output, session)?,
        };
        session.note_ranks()?;
        let Some(facts) = facts else {
            return Ok(());
        };
        say_texts(facts.texts, facts.letters - facts.texts);
        let path = output.display();
        tracing::info!(file_bytes = facts.bytes, "{path}: {}", bytes(facts.bytes));
        sequences.note(session);
        session.note("output", path.to_string());
        session.note("counts", in_json(&facts));
        session.say_end();
        Ok(())
    }

    fn build(&self, sequences: &Sequences, output: &Path, session: &Session) -> Result<GysaFacts> {
        let mut texts = sequences.texts(session)?;
        let on_gpu = self.sort_on_gpu(&texts, session)?;
        let built = session.shown(|progress| {
            let sorted = match on_gpu {
                Some(sorted) => sorted,
                None => sort(&mut texts, false, session.memory, progress)?,
            };
            progress.start("write", 0);
            gysa::write(output, &texts, &sorted, self.bwt)
        });
        Ok(built?)
    }

    /// The suffixes as GPUs sort them, where some are and can.
    fn sort_on_gpu(&self, texts: &Texts, session: &Session) -> Result<Option<SuffixArray>> {
        if let Some(found) = self.gpu.find_several(session)? {
            let routes = self.routes(found.gpus.len(), session)?;
            let shares = found.shares(&routes);
            let sort = |letters: &[u8]| shares.suffixes(letters);
            return self.sorted_on(&found.gpus, sort, texts, session);
        }
        if self.gpu_topology.is_some() {
            let what = "--gpu-topology says how several GPUs are wired, such as --gpu 0,1,2,3";
            return Err(Failure::usage(what));
        }
        let is_worth = texts.letters.len() >= LEAST_ON_GPU;
        let Some(found) = self.gpu.find(is_worth, session)? else {
            return Ok(None);
        };
        let gpu = found.share();
        let sort = |letters: &[u8]| gpu.suffixes(letters);
        self.sorted_on(std::slice::from_ref(&found.gpu), sort, texts, session)
    }

    fn sorted_on(
        &self,
        gpus: &[Gpu],
        sort: impl FnOnce(&[u8]) -> std::result::Result<GpuSuffixes, GpuError>,
        texts: &Texts,
        session: &Session,
    ) -> Result<Option<SuffixArray>> {
        let sorted = session.shown(|progress| sort_on(sort, texts, session.memory, progress));
        match sorted {
            Ok(sorted) => {
                let name = &gpus[0].name;
                let numbers: Vec<usize> = gpus.iter().map(|gpu| gpu.number).collect();
                tracing::info!("the suffixes were sorted on the {name}");
                session.note(
                    "gpu",
                    match numbers[..] {
                        [number] => json!({ "name": name, "number": number }),
                        _ => json!({ "name": name, "numbers": numbers }),
                    },
                );
                Ok(Some(sorted))
            }
            Err(Error::Gpu(why)) => self.gpu.without(why).map(|()| None),
            Err(error) => Err(error.into()),
        }
    }

    /// How so many GPUs send each other messages.
    fn routes(&self, gpus: usize, session: &Session) -> Result<GpuRoutes> {
        let topology = match &self.gpu_topology {
            Some(source) => wiring::open(source)?,
            None => format!("switch-{gpus}").parse()?,
        };
        if topology.devices() != gpus {
            let (name, devices) = (topology.name(), topology.devices());
            return Err(Failure::usage(format!(
                "--gpu has {gpus} numbers, and {name} has {devices} devices; give one for each"
            )));
        }
        let config = Config {
            topology,
            collective: Collective::AllToAll,
            method: Method::Auto,
            chunks: None,
            sizes: None,
        };
        let planned = session.shown(|progress| planner::plan(&config, progress))?;
        Ok(routes(&planned.plan))
    }

    /// The same by all processes of a job; the facts are in rank 0.
    fn build_among(
        &self,
        sequences: &Sequences,
        output: &Path,
        session: &Session,
    ) -> Result<Option<GysaFacts>> {
        let (world, files) = (session.world(), &sequences.files);
        places::refuse_standard_input(files)?;
        session.same_files(files.iter().cloned())?;
        let target = (output, self.bwt);
        let built = session.shown(|progress| {
            build_in(
                world,
                files,
                sequences.letters,
                target,
                session.memory,
                progress,
            )
        });
        let facts = built?;
        if let Some(facts) = &facts {
            warn_of_none(facts.texts);
        }
        Ok(facts)
    }

    /// Says what it will take, as one process or as each of several.
    fn plan(&self, processes: usize, session: &Session) -> Result<()> {
        let letters = plan::letters(&self.sequences(session)?)?;
        match processes {
            1 => plan::print_sorting(session, letters, false),
            _ => plan::print_sorting_of_each(session, letters, processes),
        }
    }

    fn sequences(&self, session: &Session) -> Result<Sequences> {
        let sequences = Sequences::find(&self.sequences, self.letters, session)?;
        match sequences.sorted() {
            Some(_) => Err(Failure::usage(
                "this .gysa file is built already; give FASTA",
            )),
            None => Ok(sequences),
        }
    }
}
