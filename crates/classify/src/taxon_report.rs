//! The reports of one sample by their names.

use std::io::{self, Write};

use gyrase_taxonomy::Rank;

use crate::abundance::{self, Abundance};
use crate::catalogue::Catalogue;
use crate::genomes::Genomes;
use crate::report::{self, CamiProfile, Kreport, NamedTally, Origin};

/// A report of the taxa of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaxonReport {
    /// Reads of every taxon, as Kraken 2 lists them.
    Kreport,
    /// The same with hits of k-mers and distinct k-mers hit.
    KreportEvidence,
    /// What speaks for every taxon.
    Evidence,
    /// Reads of every taxon by its lineage, as MetaPhlAn writes it.
    Mpa,
    /// A profile in the format of CAMI.
    Cami,
    /// taxpasta's standard table.
    Taxpasta,
    /// A page in one file.
    Html,
    /// Estimated reads of the taxa of a rank in Bracken's columns.
    Bracken,
    /// Estimated shares of the taxa of a rank.
    Abundance,
}

impl TaxonReport {
    /// All of them.
    pub const ALL: [TaxonReport; 9] = [
        TaxonReport::Kreport,
        TaxonReport::KreportEvidence,
        TaxonReport::Evidence,
        TaxonReport::Mpa,
        TaxonReport::Cami,
        TaxonReport::Taxpasta,
        TaxonReport::Html,
        TaxonReport::Bracken,
        TaxonReport::Abundance,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TaxonReport::Kreport => "kreport",
            TaxonReport::KreportEvidence => "kreport-evidence",
            TaxonReport::Evidence => "evidence",
            TaxonReport::Mpa => "mpa",
            TaxonReport::Cami => "cami",
            TaxonReport::Taxpasta => "taxpasta",
            TaxonReport::Html => "html",
            TaxonReport::Bracken => "bracken",
            TaxonReport::Abundance => "abundance",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<TaxonReport> {
        TaxonReport::ALL
            .into_iter()
            .find(|report| report.name() == name)
    }

    /// True for reports that tell more of taxa than their reads
    /// ([`Wanted::evidence`](crate::Wanted)).
    pub fn needs_evidence(self) -> bool {
        matches!(self, TaxonReport::KreportEvidence | TaxonReport::Evidence)
    }

    /// Writes it for a sample; estimates are of the taxa of `rank`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        self,
        rank: Rank,
        (catalogue, origin): (&Catalogue, &Origin),
        sample: &NamedTally,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (taxonomy, &NamedTally { name, tally }) = (&catalogue.taxonomy, sample);
        let estimates = || Abundance::new(taxonomy, tally, rank);
        match self {
            TaxonReport::Kreport => report::kreport(taxonomy, tally, Kreport::default(), out),
            TaxonReport::KreportEvidence => {
                let with_evidence = Kreport {
                    evidence: true,
                    ..Kreport::default()
                };
                report::kreport(taxonomy, tally, with_evidence, out)
            }
            TaxonReport::Evidence => report::evidence(taxonomy, tally, out),
            TaxonReport::Mpa => report::mpa(taxonomy, tally, out),
            TaxonReport::Cami => report::cami(taxonomy, name, &CamiProfile::of_reads(tally), out),
            TaxonReport::Taxpasta => report::taxpasta(taxonomy, tally, out),
            TaxonReport::Html => {
                let title = format!("Taxa of {name}");
                report::html(taxonomy, &title, &[*sample], origin, out)
            }
            TaxonReport::Bracken => report::bracken(taxonomy, &estimates(), out),
            TaxonReport::Abundance => {
                let mut estimates = estimates();
                estimates.normalise(taxonomy, &Genomes::new(&catalogue.targets).lengths());
                abundance::table(taxonomy, &estimates, out)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_report_has_a_name_of_its_own() {
        for report in TaxonReport::ALL {
            assert_eq!(TaxonReport::named(report.name()), Some(report));
        }
        assert_eq!(TaxonReport::named("KREPORT"), None);
    }
}
