//! What a histogram of k-mers says about the genome: peaks, size, heterozygosity, errors, and a
//! picture of it.
//!
//! Each k-mer of a genome sequenced c times over occurs about c times in the reads, each k-mer with
//! a sequencing error about once. So the histogram (x: multiplicity, y: number of distinct k-mers)
//! falls from an **error peak** at 1 to a **valley** and rises again to the **homozygous peak** at
//! the k-mer coverage. K-mers over a variant between the haplotypes of a diploid genome are half as
//! deep and form the **heterozygous peak**.
//!
//! [`Spectrum::estimate`] finds them and fits negative binomials at 1/2, 1, 3/2 and 2 times the
//! coverage, whose sizes follow from the share of k-mers that differ between the haplotypes and of
//! those that are repeated, as in GenomeScope 2 (Ranallo-Benavidez et al. 2020,
//! doi:10.1038/s41467-020-14998-3); [`plot`] draws them. The data are taken to be of one genome:
//! peaks of a metagenome are read as if they were. What cannot be told from the data is `None`:
//! without a peak there is no size. Whether there are two haplotypes is told by their two peaks or,
//! where these are one, by how much better two fit than one; who knows it says it
//! ([`Spectrum::estimate_with`]), also of three and of four, whose k-mers make peaks at every third
//! or fourth of the coverage. Two limits are in the nature of the matter: a genome so heterozygous
//! (above some 5 %) that no homozygous peak is left looks haploid and twice as large, and of a
//! polyploid one that is not said to be one the two main peaks are taken.

mod fit;
mod genome;
mod model;
mod newton;
mod plot;

pub use fit::Fit;
pub use genome::MOST_HAPLOTYPES;
pub use model::{Ranges, Spectrum};
pub use plot::plot;
