//! The reports of `gyrase classify`, and where each goes.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use gyrase_classify::TaxonReport;
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

/// The rank of a name.
pub fn rank(text: &str) -> Result<Rank, String> {
    Rank::from_name(&text.to_lowercase()).ok_or_else(|| {
        let names: Vec<&str> = Rank::ALL.into_iter().map(Rank::name).collect();
        format!("write one of {}", names.join(", "))
    })
}

impl Reports {
    /// The reports that are wanted, and their files.
    pub fn places(&self) -> Vec<(TaxonReport, PathBuf)> {
        let all = [
            (TaxonReport::Kreport, &self.kreport),
            (TaxonReport::KreportEvidence, &self.kreport_evidence),
            (TaxonReport::Evidence, &self.evidence),
            (TaxonReport::Mpa, &self.mpa),
            (TaxonReport::Cami, &self.cami),
            (TaxonReport::Taxpasta, &self.taxpasta),
            (TaxonReport::Html, &self.html),
            (TaxonReport::Bracken, &self.bracken),
            (TaxonReport::Abundance, &self.abundance_out),
        ];
        all.into_iter()
            .filter_map(|(report, path)| Some((report, path.clone()?)))
            .collect()
    }

    /// The rank of the estimates.
    pub fn rank(&self) -> Rank {
        self.abundance.unwrap_or(Rank::Species)
    }
}

/// Takes the name of a report.
pub fn report() -> impl TypedValueParser<Value = TaxonReport> {
    let names = PossibleValuesParser::new(TaxonReport::ALL.map(TaxonReport::name));
    names.map(|name| TaxonReport::named(&name).expect("a possible value"))
}

/// The ending of the file of a report in a folder of samples.
pub fn ending(report: TaxonReport) -> String {
    match report {
        // MultiQC names the sample by what is before `.kraken2`.
        TaxonReport::Kreport | TaxonReport::KreportEvidence => {
            format!("kraken2.{}", report.name())
        }
        _ => report.name().into(),
    }
}
