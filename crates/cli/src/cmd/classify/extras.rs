//! What `gyrase classify` gives beside answers and reports: where reads lie, reads by taxon, plots
//! of coverage.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_classify::{Extract, Which};
use gyrase_fastx::PairWriter;
use gyrase_taxonomy::Taxonomy;

use crate::failure::{Failure, Result};
use crate::sink;

/// Why reads are read again for the coverage filter.
pub const DROP_READS_TWICE: &str = "--drop-least-covered needs them twice";

/// What is wanted beside answers and reports.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reads and where they lie")]
pub struct Extras {
    /// Answers tell where each read lies: reference, first and last letter there, hits, k-mers of
    /// the read that were looked up, share of that stretch (in windows) that was hit
    #[arg(long)]
    pub locations: bool,

    /// Write the reads of a taxon and of all below it to a file, as they came; may be given again
    #[arg(long, value_name = "TAXID=FILE", value_parser = extract)]
    extract: Vec<(u32, PathBuf)>,

    /// Write the reads with a taxon to a file; of pairs, x#.fq are the files x_1.fq and x_2.fq
    #[arg(long, value_name = "FILE")]
    classified_out: Option<PathBuf>,

    /// Write the reads without a taxon to a file
    #[arg(long, value_name = "FILE")]
    unclassified_out: Option<PathBuf>,

    /// Plot the reads along the genomes with most of them, up to 500, as DIR/<taxid>_<first
    /// reference>.svg
    #[arg(long, value_name = "DIR")]
    pub coverage_plots: Option<PathBuf>,

    /// First drop the least covered genomes, up to this share of the sum of all coverages, such as
    /// 0.1, and name them; reads the reads twice, and needs a sample that covers what is in it
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub drop_least_covered: Option<f64>,
}

fn extract(text: &str) -> std::result::Result<(u32, PathBuf), String> {
    let (taxid, file) = text
        .split_once('=')
        .ok_or("write a taxid, =, and a file, as in 562=coli.fq")?;
    let taxid = taxid.trim().parse().ok().filter(|&taxid| taxid > 0);
    let taxid = taxid.ok_or("write the number of a taxon before the =, as in 562=coli.fq")?;
    if file.is_empty() {
        Err("write a file behind the =, as in 562=coli.fq".into())
    } else {
        Ok((taxid, file.into()))
    }
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to below 1, such as 0.1".into())
}

/// Which reads go to a file, as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Taxid(u32),
    Classified,
    Unclassified,
}

/// Files for some of the reads.
#[derive(Clone, Debug)]
pub struct ReadsOutput {
    asked: Asked,
    first: PathBuf,
    /// A file of its own for second mates.
    second: Option<PathBuf>,
}

impl Extras {
    /// The files that reads go to.
    pub fn places(&self, paired: bool) -> Result<Vec<ReadsOutput>> {
        let of_taxa = self
            .extract
            .iter()
            .map(|(taxid, file)| (Asked::Taxid(*taxid), file));
        let classified = self
            .classified_out
            .iter()
            .map(|file| (Asked::Classified, file));
        let unclassified = self
            .unclassified_out
            .iter()
            .map(|file| (Asked::Unclassified, file));
        of_taxa
            .chain(classified)
            .chain(unclassified)
            .map(|(asked, file)| reads_output(asked, file, paired))
            .collect()
    }
}

/// A `#` in the name of a file stands for the number of the mate, as in Kraken 2.
fn reads_output(asked: Asked, file: &Path, paired: bool) -> Result<ReadsOutput> {
    let name = file.to_string_lossy();
    if !name.contains('#') {
        return Ok(ReadsOutput {
            asked,
            first: file.to_path_buf(),
            second: None,
        });
    }
    if !paired {
        return Err(Failure::usage(format!(
            "the # of {name} stands for the number of the mate, but the reads are no pairs; leave \
             it out"
        )));
    }
    let [first, second] = ["_1", "_2"].map(|mate| PathBuf::from(name.replacen('#', mate, 1)));
    Ok(ReadsOutput {
        asked,
        first,
        second: Some(second),
    })
}

impl ReadsOutput {
    /// The files.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.first].into_iter().chain(&self.second)
    }

    /// Opens the files for reads with taxa of `taxonomy`.
    pub fn open(&self, taxonomy: &Taxonomy) -> Result<Extract> {
        let which = match self.asked {
            Asked::Classified => Which::Classified,
            Asked::Unclassified => Which::Unclassified,
            Asked::Taxid(taxid) => {
                let taxon = taxonomy.resolve(taxid).taxon();
                let unknown = || {
                    format!(
                        "no reference of the database is of taxid {taxid} or below it; `gyrase db \
                         taxa` lists its taxa"
                    )
                };
                Which::clade(taxonomy, taxon.ok_or_else(|| Failure::usage(unknown()))?)
            }
        };
        let second = self.second.as_deref().map(sink::records).transpose()?;
        Ok(Extract {
            which,
            to: PairWriter::new(sink::records(&self.first)?, second),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_with_their_taxid() {
        assert_eq!(extract("562=a=b.fq"), Ok((562, "a=b.fq".into())));
        for wrong in ["562", "562=", "=a", "x=a", "0=a", "-1=a", ""] {
            assert!(extract(wrong).is_err(), "{wrong}");
        }
        assert_eq!((share("0.1"), share("0")), (Ok(0.1), Ok(0.0)));
        assert!(
            ["1", "-0.1", "nan", "x"]
                .into_iter()
                .all(|wrong| share(wrong).is_err())
        );
    }

    #[test]
    fn a_hash_is_the_number_of_the_mate() {
        let files = |name: &str, paired| {
            let place = reads_output(Asked::Classified, Path::new(name), paired)?;
            Ok::<_, Failure>(place.files().cloned().collect::<Vec<_>>())
        };
        assert_eq!(
            files("x#.fq", true).unwrap(),
            ["x_1.fq", "x_2.fq"].map(PathBuf::from)
        );
        assert_eq!(files("x.fq", true).unwrap(), [PathBuf::from("x.fq")]);
        assert_eq!(files("x.fq", false).unwrap(), [PathBuf::from("x.fq")]);
        assert!(files("x#.fq", false).is_err());
    }
}
