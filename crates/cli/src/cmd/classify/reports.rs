//! The reports of `gyrase classify`, and where each goes.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use gyrase_taxonomy::Rank;

/// The reports that are wanted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reports", group = ArgGroup::new("estimates").multiple(true).args(["bracken", "abundance_out", "reports"]))]
pub struct Reports {
    /// Reads of every taxon, as Kraken 2's --report lists them, for Bracken, Pavian and MultiQC,
    /// which calls x.kraken2.kreport x
    #[arg(long, value_name = "FILE")]
    kreport: Option<PathBuf>,

    /// The same with two columns more, as --report-minimizer-data of Kraken 2: hits of k-mers and
    /// distinct k-mers hit
    #[arg(long, value_name = "FILE")]
    kreport_evidence: Option<PathBuf>,

    /// What speaks for every taxon: distinct k-mers hit, and expected of so many hits; stretches
    /// of its genomes (windows) that reads were found in
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,

    /// Reads of every taxon by its lineage, as MetaPhlAn writes it
    #[arg(long, value_name = "FILE")]
    mpa: Option<PathBuf>,

    /// Profile in the format of CAMI: percent of all reads
    #[arg(long, value_name = "FILE")]
    cami: Option<PathBuf>,

    /// Reads of the taxa themselves by taxid, as taxpasta's standard table has them
    #[arg(long, value_name = "FILE")]
    taxpasta: Option<PathBuf>,

    /// Interactive page of all taxa in one file; needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Estimated reads of the taxa of a rank in Bracken's columns
    #[arg(long, value_name = "FILE")]
    bracken: Option<PathBuf>,

    /// Estimated shares of the taxa of a rank, of reads and of genomes, and what was left above it
    #[arg(long, value_name = "FILE")]
    abundance_out: Option<PathBuf>,

    /// The rank of --bracken and --abundance-out, domain to species [default: species]
    #[arg(long, value_name = "RANK", value_parser = rank, requires = "estimates")]
    abundance: Option<Rank>,
}

fn rank(text: &str) -> Result<Rank, String> {
    Rank::from_name(&text.to_lowercase()).ok_or_else(|| {
        let names: Vec<&str> = Rank::ALL.into_iter().map(Rank::name).collect();
        format!("write one of {}", names.join(", "))
    })
}

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Form {
    // As `--kreport`.
    Kreport,
    // As `--kreport-evidence`.
    KreportEvidence,
    // As `--evidence`.
    Evidence,
    // As `--mpa`.
    Mpa,
    // As `--cami`.
    Cami,
    // As `--taxpasta`.
    Taxpasta,
    // As `--html`.
    Html,
    // As `--bracken`.
    Bracken,
    // As `--abundance-out`.
    Abundance,
}

impl Reports {
    /// The reports that are wanted, and their files.
    pub fn places(&self) -> Vec<(Form, PathBuf)> {
        let all = [
            (Form::Kreport, &self.kreport),
            (Form::KreportEvidence, &self.kreport_evidence),
            (Form::Evidence, &self.evidence),
            (Form::Mpa, &self.mpa),
            (Form::Cami, &self.cami),
            (Form::Taxpasta, &self.taxpasta),
            (Form::Html, &self.html),
            (Form::Bracken, &self.bracken),
            (Form::Abundance, &self.abundance_out),
        ];
        all.into_iter()
            .filter_map(|(form, path)| Some((form, path.clone()?)))
            .collect()
    }

    /// The rank of the estimates.
    pub fn rank(&self) -> Rank {
        self.abundance.unwrap_or(Rank::Species)
    }
}

impl Form {
    /// True for reports that tell more of taxa than their reads.
    pub fn needs_evidence(self) -> bool {
        matches!(self, Form::KreportEvidence | Form::Evidence)
    }

    /// The ending of its file in a folder of samples.
    pub fn ending(self) -> &'static str {
        match self {
            // MultiQC names the sample by what is before `.kraken2`.
            Form::Kreport => "kraken2.kreport",
            Form::KreportEvidence => "kraken2.kreport-evidence",
            Form::Evidence => "evidence",
            Form::Mpa => "mpa",
            Form::Cami => "cami",
            Form::Taxpasta => "taxpasta",
            Form::Html => "html",
            Form::Bracken => "bracken",
            Form::Abundance => "abundance",
        }
    }
}
