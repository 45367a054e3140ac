//! `gyrase demo`.

mod chart;
mod naive;
mod said;
mod taxa;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use gyrase_count::histogram::{self, Histogram};
use gyrase_count::{Config, Summary};
use gyrase_kmer::Shape;
use gyrase_picture::words::{self, grouped, things};
use gyrase_simulate::genome::{self, Blueprint, Repeats};
use gyrase_simulate::reads::{self, Amount, Errors, Protocol, ReadFiles};
use gyrase_table::gyk::Database;

use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use said::print;

const K: usize = naive::K;
const LENGTH: u64 = 100_000;
const COVERAGE: f64 = 40.0;

/// Show both main jobs, counting and classifying, on small simulated samples, in seconds, and check
/// the results.
#[derive(Debug, Args)]
pub struct Demo {
    /// Leave the samples, the databases and the report in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The folder of the sample, removed afterwards unless it is to be kept.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed lies in the folder for temporary files.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl Demo {
    /// Simulates, counts, classifies, shows and checks.
    pub fn run(self, session: &Session) -> Result<()> {
        let folder = self.folder(session)?;
        let file = |name: &str| folder.path.join(name);
        let (first, second) = (file("reads_1.fq"), file("reads_2.fq"));
        print(
            "Gyrase counts the k-mers of sequencing data. Here it does so for a small simulated \
             sample.\n",
        )?;
        simulate(session, &file("genome.fa"), &first, &second)?;
        let inputs = vec![first, second];
        let start = Instant::now();
        let (config, summary) = count(session, inputs, file("sample.gyk"))?;
        print_count(&summary, start.elapsed())?;
        let histogram = histogram::run(&config.output, session.threads, &session.progress)?;
        print_spectrum(&histogram)?;
        check(&config, &file("genome.fa"), &summary)?;
        taxa::show(&folder.path, session)?;
        print_end(self.keep.as_deref())
    }

    fn folder(&self, session: &Session) -> Result<Folder> {
        let own = || {
            session
                .tmp
                .join(format!("gyrase-demo-{}", std::process::id()))
        };
        let folder = Folder {
            path: self.keep.clone().unwrap_or_else(own),
            keep: self.keep.is_some(),
        };
        let made = std::fs::create_dir_all(&folder.path);
        made.map_err(|error| {
            Failure::new(
                Code::Output,
                format!("cannot make {}: {error}", folder.path.display()),
            )
        })?;
        Ok(folder)
    }
}

fn simulate(session: &Session, genome: &Path, first: &Path, second: &Path) -> Result<()> {
    print(&format!(
        "$ gyrase simulate genome -o genome.fa --length {LENGTH} --repeat-families 5"
    ))?;
    let repeats = Repeats {
        families: 5,
        copies: 10,
        length: 500,
        divergence: 0.05,
    };
    let blueprint = Blueprint {
        length: LENGTH,
        repeats,
        ..Blueprint::default()
    };
    let config = genome::Config {
        blueprint,
        output: genome.to_path_buf(),
        truth: None,
    };
    let made = genome::run(&config, &session.progress)?;
    print(&format!(
        "  {}, with repeats\n",
        things(made.letters, "base")
    ))?;

    print(&format!(
        "$ gyrase simulate reads genome.fa -o reads_1.fq --out2 reads_2.fq --coverage {COVERAGE} \
         --error-rate 0.004"
    ))?;
    let layout = reads::LibraryLayout::Paired {
        length: 150,
        insert_mean: 350.0,
        insert_deviation: 50.0,
    };
    let config = reads::Config {
        genomes: vec![genome.to_path_buf()],
        protocol: Protocol {
            seed: 1,
            layout,
            errors: Errors {
                rate: 0.004,
                indels: 0.02,
            },
        },
        amount: Amount::Coverage(COVERAGE),
        target: ReadFiles::Two(first.to_path_buf(), second.to_path_buf()),
    };
    let made = reads::run(&config, &session.progress)?;
    print(&format!(
        "  {}, {}, {} of them wrong\n",
        things(made.reads, "read"),
        things(made.letters, "base"),
        grouped(made.errors)
    ))
}

fn count(session: &Session, inputs: Vec<PathBuf>, output: PathBuf) -> Result<(Config, Summary)> {
    print(&format!(
        "$ gyrase count reads_1.fq reads_2.fq -k {K} -o sample.gyk"
    ))?;
    let config = Config {
        inputs,
        output,
        shape: Shape::new(K, false).map_err(Failure::usage)?,
        min_count: 1,
        max_count: u32::MAX,
        min_base_quality: None,
        paired: false,
        threads: session.threads,
        memory: session.memory,
        tmp: session.tmp.clone(),
        max_tmp: session.max_tmp,
        resume: false,
        chunk: None,
    };
    let summary = gyrase_count::run(&config, &session.progress)?;
    Ok((config, summary))
}

fn print_count(summary: &Summary, time: Duration) -> Result<()> {
    let database = &summary.database;
    print(&format!(
        "  {} {K}-mers, {} of them distinct, {} unique (mostly errors), in {}\n",
        grouped(summary.read.kmers),
        grouped(database.distinct),
        grouped(database.unique),
        words::time(time)
    ))
}

fn print_spectrum(histogram: &Histogram) -> Result<()> {
    print("$ gyrase kmers histo sample.gyk    # here as a chart")?;
    print(&chart::chart(histogram))?;
    print(
        "  Left, cut off: errors, each seen once or twice. The hill: the genome, at its depth of \
         coverage.\n",
    )
}

/// Compares the database with the genome that the reads come from and with a naive count of the
/// reads.
fn check(config: &Config, genome: &Path, summary: &Summary) -> Result<()> {
    let database = Database::open(&config.output)?;
    let naive = naive::count(&config.inputs)?;
    let mut wrong = 0;
    for (letters, &count) in &naive {
        wrong += usize::from(naive::look_up(&database, letters)? != count);
    }
    let same = wrong == 0 && naive.len() as u64 == summary.database.distinct;
    let of_genome = naive::count(&[genome.to_path_buf()])?;
    let mut found = 0;
    for letters in of_genome.keys() {
        found += u64::from(naive::look_up(&database, letters)? > 0);
    }
    print("Checks")?;
    print(&format!(
        "  a naive count of the same reads gives the same {} counts: {}",
        grouped(naive.len() as u64),
        if same { "yes" } else { "NO" }
    ))?;
    print(&format!(
        "  of the {} {K}-mers of the genome, {} are in the reads",
        grouped(of_genome.len() as u64),
        grouped(found)
    ))?;
    if same {
        return Ok(());
    }
    Err(Failure::new(
        Code::Internal,
        format!(
            "{} of {} counts differ from the naive count",
            wrong,
            naive.len()
        ),
    ))
}

fn print_end(keep: Option<&Path>) -> Result<()> {
    match keep {
        Some(folder) => print(&format!("\nThe files are in {}.", folder.display())),
        None => print(
            "\nNow your own data: gyrase count --help, gyrase classify --help; docs/howto/ has a page \
             a job.",
        ),
    }
}
