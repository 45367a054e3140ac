//! k-mers, canonical form, keys, minimizers and super-k-mers.
//!
//! # The idea
//!
//! A **k-mer** is a word of k bases, 1 <= k <= 127, held as a big integer of two bits a base (first
//! base most significant, `A=0 C=1 G=2 T=3`), so that integers compare as letters do: [`Kmer`].
//!
//! A k-mer and its reverse complement are the same piece of DNA; the **canonical** form is the
//! smaller of the two. With *stranded* counting the form is the k-mer itself. [`Shape`] says which.
//!
//! The **minimizer** of a k-mer is that m-mer in it whose canonical form has the smallest hash; m
//! follows from k. Neighbouring k-mers mostly share it, so a read falls into few **super-k-mers**,
//! runs of k-mers with the same minimizer ([`Cutter`], [`SuperKmer`]). The minimizer names one of
//! 4,096 **bins**, which owns all of them: [`bin_of`] (Roberts et al. 2004,
//! doi:10.1093/bioinformatics/bth408; Deorowicz et al. 2015, doi:10.1093/bioinformatics/btv022).
//! Here k is 13, so m is 8; the minimizer of each run is marked:
//!
//! ```text
//!  a read             GATTACAGATTACCAGATTT        8 k-mers
//!                                            k-mers   bin
//!  its super-k-mers   GATTACAGATTACC              2    281
//!                      ^^^^^^^^
//!                       TTACAGATTACCAG            2    698
//!                             ^^^^^^^^
//!                         ACAGATTACCAGATTT        4   1654
//!                                 ^^^^^^^^
//! ```
//!
//! So 8 k-mers of 13 bases, 104 letters, travel as 44, and every copy of a k-mer in any read, on
//! either strand, meets the others in one bin. In real reads, with k = 31, runs are longer.
//!
//! A **key** is a scrambled k-mer: the same bits under a bijection that makes its first word
//! uniform, so that tables, sort orders and searches can use it as their hash without computing
//! another: [`Key`].
//!
//! A **sketch** is some **features**, hashes of k-mers, of a window of a sequence: [`Sketcher`].
//!
//! # Example
//!
//! ```
//! use gyrase_kmer::{Cutter, Key, Kmer, Shape, bin_of};
//!
//! let shape = Shape::new(13, false)?; // k = 13, both strands as one
//! let mut runs = Vec::new();
//! let mut cutter = Cutter::<1>::new(shape); // one word of 64 bits holds a k-mer
//! let kmers = cutter.cut(b"GATTACAGATTACCAGATTT", &mut |bin, run| {
//!     runs.push((bin, run.kmers()));
//!     Ok::<(), std::convert::Infallible>(())
//! })?;
//! assert_eq!(kmers, 8);
//! assert_eq!(runs, [(281, 2), (698, 2), (1654, 4)]);
//!
//! let first = Kmer::<1>::from_letters(b"GATTACAGATTAC").expect("bases alone");
//! let other_strand = first.reverse_complement(13);
//! assert_eq!(other_strand.letters(13), b"GTAATCTGTAATC");
//! assert_eq!(other_strand.canonical(13), first.canonical(13));
//! assert_eq!(bin_of(other_strand, shape), 281);
//! assert_eq!(Kmer::from(Key::from(first)), first);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arch;
mod feature;
mod key;
mod kmer;
mod minimizer;
mod packed;
mod shape;
mod sketch;
mod superkmer;

pub use arch::{Kernels, MAX_LETTERS, MinimizerScheme, Stretch};
pub use feature::{
    MAX_FEATURE_K, MAX_FEATURES, MAX_ONE_IN, MAX_SAMPLED_K, Sampling, feature_of,
    sampled_feature_of,
};
pub use key::{Key, mix, unmix};
pub use kmer::{Kmer, reverse_pairs};
pub use minimizer::{BINS, bin_of, bin_of_hash, bin_of_strands, bins_of_junctions, minimizer_hash};
pub use shape::{MAX_K, Shape, ShapeError};
pub use sketch::{Choice, MAX_WINDOW, SketchShape, SketchShapeError, Sketcher};
pub use superkmer::{Cutter, SuperKmer};
