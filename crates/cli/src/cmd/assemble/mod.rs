//! `gyrase assemble`.

mod libraries;
mod outputs;
mod tell;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gyrase_assemble::{Config, HeaderStyle, Sample, forget, leftovers, run_in};
use gyrase_fabric::World;
use gyrase_files::OutputFolder;
use gyrase_picture::words::{bytes, grouped};
use serde_json::json;

use libraries::Libraries;

use crate::cmd::rows::{Table, bounds, shown};
use crate::failure::Result;
use crate::places;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase assemble reads_1.fq.gz reads_2.fq.gz -o asm/     first and second mates
  gyrase assemble reads.fq.gz -o asm/                     reads without mates
  gyrase assemble -1 r_1.fq -2 r_2.fq -s reads.fq -o asm/
  gyrase assemble r_1.fq r_2.fq --min-length 500 --header-style spades -o asm/
  gyrase assemble --meta -1 r_1.fq -2 r_2.fq -o meta/     reads of many genomes
  gyrase assemble r_1.fq r_2.fq --memory 8G --tmp /scratch -o asm/
  gyrase assemble r_1.fq r_2.fq -o asm/ --resume          go on after it stopped
  mpirun -n 8 gyrase assemble r_1.fq r_2.fq -o asm/       by several processes

The folder gets contigs.fa, scaffolds.fa, graph.gfa (GFA 1, for Bandage),
report.html (a page to look at), report.tsv (as QUAST's, for MultiQC) and
report.json. It appears when all of it is there, with the same bytes for any
threads, memory and processes. docs/assembling.md says how contigs are made.
Of a metagenome contigs are paths through graph.gfa, which has strains that
differ in more than one base of 33; --keep-strains keeps all strains.
Short reads are assembled: long reads are refused.";

/// Assemble the genome, or the genomes of a metagenome, that short reads are of.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Assemble {
    #[command(flatten)]
    libraries: Libraries,

    /// The reads are of many genomes, each of a depth of its own
    #[arg(long)]
    meta: bool,

    /// Keep ways of strains that lie side by side as contigs; else the best covered is one
    #[arg(long, requires = "meta")]
    keep_strains: bool,

    /// Folder to make; one of an earlier run is replaced
    // `gyrase plan assemble` does without.
    #[arg(long, short, value_name = "FOLDER", required = true)]
    output: Option<PathBuf>,

    /// Leave contigs of fewer bases out of contigs.fa
    #[arg(long, value_name = "BASES", default_value_t = 200)]
    min_length: usize,

    /// Keep in --tmp what is done behind each k, and go on from what an earlier run of these reads
    /// kept
    #[arg(long)]
    resume: bool,

    /// How contigs are named: as those of which assembler
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = Style::Own)]
    header_style: Style,
}

/// How contigs are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Style {
    /// contig_1 length=4653 depth=37.25 circular=no
    Own,
    /// NODE_1_length_4653_cov_37.250000
    Spades,
    /// k127_1 flag=1 multi=37.2500 len=4653
    Megahit,
    /// 1 4653 168597
    Abyss,
}

impl From<Style> for HeaderStyle {
    fn from(style: Style) -> HeaderStyle {
        match style {
            Style::Own => HeaderStyle::Own,
            Style::Spades => HeaderStyle::Spades,
            Style::Megahit => HeaderStyle::Megahit,
            Style::Abyss => HeaderStyle::Abyss,
        }
    }
}

impl Assemble {
    fn config(&self, session: &Session, output: PathBuf) -> Result<Config> {
        Ok(Config {
            libraries: self.libraries.read()?,
            sample: match self.meta {
                true => Sample::Metagenome {
                    keep_strains: self.keep_strains,
                },
                false => Sample::Isolate,
            },
            tmp: session.tmp_folder()?.to_path_buf(),
            output,
            threads: session.threads,
            memory: session.memory,
            ks: None,
            resume: self.resume,
        })
    }

    /// Prints what a run will take; one that would be refused is refused here too.
    pub fn plan(&self, session: &Session) -> Result<()> {
        let config = self.config(session, self.output.clone().unwrap_or_default())?;
        session.keep_apart(&self.libraries.files(), [])?;
        let plan = gyrase_assemble::plan(&config, 1)?;
        session.note("counts", json!({"bases": bounds(plan.bases)}));
        session.note(
            "bytes",
            json!({"memory": bounds(plan.memory), "least_memory": bounds(plan.least_memory)}),
        );
        let mut table = Table::default();
        table.row("bases", shown(plan.bases, grouped));
        table.memory(plan.memory, config.memory, false);
        table.row("least --memory", shown(plan.least_memory, bytes));
        table.print()?;
        Ok(plan.admit(&config)?)
    }

    /// Assembles, and says what came out.
    pub fn run(self, session: &Session) -> Result<()> {
        let files = self.libraries.files();
        session.keep_apart(&files, &self.output)?;
        places::keep_different(&files)?;
        let output = self.output.clone().unwrap_or_default();
        // One process makes it; all of them see it.
        let first = session.is_first();
        let folder = first.then(|| OutputFolder::create(&output, &outputs::FILES));
        let folder = folder.transpose()?;
        let partial = OutputFolder::partial(&output).unwrap_or_default();
        let config = self.config(session, output.clone())?;
        let world = session.world();
        let mut left = leftovers(&config, world.peer());
        left.extend(first.then(|| partial.clone()));
        session.leaves(left);
        let assembly = session.shown(|progress| run_in(&config, world, progress))?;
        let style = self.header_style.into();
        let scaffolds = assembly.scaffolds();
        let (made, named) = ((&assembly, &scaffolds[..]), (style, self.min_length));
        outputs::write_bases(&partial, made, &config, named, session)?;
        session.note_ranks()?;
        let Some(folder) = folder else {
            // What the first process writes has the warnings of all.
            session.report()?;
            return forget_together(&config, world);
        };
        let told = tell::Told {
            config: &config,
            scaffolds,
            assembly: &assembly,
            min_length: self.min_length,
        };
        told.note(session, &output, style);
        outputs::write(&folder, &output, &told, style, session)?;
        folder.commit()?;
        forget_together(&config, world)?;
        told.say(session, &output);
        Ok(())
    }
}

/// Removes what was kept for `--resume`, once the first process has made the output.
///
/// Collective.
fn forget_together(config: &Config, world: &dyn World) -> Result<()> {
    world.sum(&[0])?;
    forget(config);
    Ok(())
}
