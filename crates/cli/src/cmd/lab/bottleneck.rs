//! `gyrase lab where`.

use std::path::PathBuf;

use clap::Args;
use gyrase_kmer::Shape;
use gyrase_lab::bottleneck::{
    self, BottleneckConfig, MeasuredMachine, bottleneck_json, bottleneck_page, bottleneck_text,
};

use crate::cmd::counts::length;
use crate::cmd::folders::{self, Wanted};
use crate::failure::{Code, Failure, Result};
use crate::places;
use crate::session::Session;
use crate::sink::{self, Sink};
use crate::size::Size;
use crate::texts::text;

const EXAMPLES: &str = "\
Examples:
  gyrase lab where reads.fq.gz                     a few lines
  gyrase lab where reads.fq -k 28 -o where.html    a page
  gyrase lab where reads.fq --read 150M --write 120M    on a hard disk
  gyrase lab where reads.fq --machine-out here.json     to change, and give back
  gyrase lab where reads.fq --machine here.json

This machine is measured for a few seconds, on a sample of the reads.
docs/laboratory.md says how.";

/// Say where the time of `gyrase count` would go if storage, memory and processors were others.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Where {
    /// FASTA or FASTQ, plain or compressed; `@list` for a list of files, a folder for its files
    #[arg(value_name = "READS", required = true)]
    inputs: Vec<PathBuf>,

    /// Length of the k-mers, 1 to 127
    #[arg(short, value_name = "K", default_value_t = 31, value_parser = length)]
    k: usize,

    /// Count a k-mer and its reverse complement apart
    #[arg(long)]
    stranded: bool,

    /// Text of the sample that is counted
    #[arg(long, value_name = "SIZE", default_value = "256M")]
    sample: Size,

    /// Storage reads so many bytes in a second [default: measured]
    #[arg(long, value_name = "SIZE")]
    read: Option<Size>,

    /// Storage writes so many bytes in a second [default: measured, in --tmp]
    #[arg(long, value_name = "SIZE")]
    write: Option<Size>,

    /// A machine that was measured before, instead of this one
    #[arg(long, value_name = "FILE.json")]
    machine: Option<PathBuf>,

    /// Write what was measured
    #[arg(long, value_name = "FILE.json")]
    machine_out: Option<PathBuf>,

    /// What is found: a page if it ends in .html [default: standard output, as lines]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Where {
    /// Measures, and says what it means.
    pub fn run(self, session: &Session) -> Result<()> {
        let prints = self.output.is_none().then(places::standard_output);
        let outputs = [&self.output, &self.machine_out]
            .into_iter()
            .flatten()
            .chain(prints);
        session.keep_apart(self.inputs.iter().chain(&self.machine), outputs)?;
        let config = self.config(session)?;
        let measured = session.shown(|progress| bottleneck::measure(&config, progress));
        let (measured, data) = measured?;
        let mut machine = match &self.machine {
            Some(path) => MeasuredMachine::parse(path, &text(path)?)?,
            None => measured,
        };
        let rate = |size: Option<Size>, own: f64| match size {
            Some(Size::Bytes(bytes)) => Ok(bytes as f64),
            Some(Size::Share(_)) => Err(Failure::usage("a rate is a size such as 150M")),
            None => Ok(own),
        };
        machine.read_bytes_per_second = rate(self.read, machine.read_bytes_per_second)?;
        machine.write_bytes_per_second = rate(self.write, machine.write_bytes_per_second)?;
        let all = session
            .shown(|progress| bottleneck::alternatives(&config, &machine, &data, progress))?;
        let names: Vec<String> = self
            .inputs
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        session.note("inputs", names);
        session.note("results", bottleneck_json(&all, &data));
        let mut written = Vec::new();
        if let Some(path) = &self.machine_out {
            written.push(sink::written(Some(path), machine.text().as_bytes())?);
        }
        let is_page = self.output.as_deref().is_some_and(|path| {
            places::without_compression(path)
                .extension()
                .is_some_and(|ending| ending == "html")
        });
        let mut sink = Sink::open(self.output.as_deref())?;
        let filled = match is_page {
            true => bottleneck_page(&all, &data, &mut sink),
            false => std::io::Write::write_all(&mut sink, bottleneck_text(&all, &data).as_bytes()),
        };
        filled.map_err(|source| sink.error(source))?;
        written.push(sink);
        written.into_iter().try_for_each(Sink::finish)
    }

    fn config(&self, session: &Session) -> Result<BottleneckConfig> {
        let Size::Bytes(sample) = self.sample else {
            return Err(Failure::usage("--sample is a size such as 256M"));
        };
        let inputs = folders::files(&self.inputs, Wanted::Sequences, session)?;
        if inputs.iter().any(|path| path.as_os_str() == "-") {
            let why = "a pipe cannot be read twice, as measuring and counting would; give a file";
            return Err(Failure::new(Code::Usage, why));
        }
        Ok(BottleneckConfig {
            inputs,
            shape: Shape::new(self.k, self.stranded).map_err(Failure::usage)?,
            threads: session.threads,
            memory: session.memory,
            tmp: session.tmp_folder()?.into(),
            sample,
        })
    }
}
