//! k-mers, canonical form, keys, minimizers and super-k-mers.
//!
//! A **k-mer** is a word of k bases, 1 <= k <= 127, held as a big integer of two bits a base (first
//! base most significant, `A=0 C=1 G=2 T=3`), so that integers compare as letters do: [`Kmer`].
//!
//! A k-mer and its reverse complement are the same piece of DNA; the **canonical** form is the
//! smaller of the two. With *stranded* counting the form is the k-mer itself. [`Shape`] says which.
//!
//! A **key** is a scrambled k-mer: the same bits under a bijection that makes its first word
//! uniform, so that tables, sort orders and searches can use it as their hash without computing
//! another: [`Key`].
//!
//! The **minimizer** of a k-mer is that m-mer in it whose canonical form has the smallest hash.
//! Neighbouring k-mers mostly share it, so a read falls into few **super-k-mers**, runs of k-mers
//! with the same minimizer, and the minimizer names the **bin** that owns all of them: [`bin_of`]
//! (Roberts et al. 2004, doi:10.1093/bioinformatics/bth408; Deorowicz et al. 2015,
//! doi:10.1093/bioinformatics/btv022).
//!
//! A **sketch** is some **features**, hashes of k-mers, of a window of a sequence: [`Sketcher`].

mod arch;
mod key;
mod kmer;
mod minimizer;
mod shape;
mod sketch;
mod superkmer;

pub use arch::{Kernels, MAX_LETTERS, Stretch, Window};
pub use key::{Key, mix, unmix};
pub use kmer::Kmer;
pub use minimizer::{BINS, bin_of, bin_of_hash, minimizer_hash};
pub use shape::{MAX_K, Shape, ShapeError};
pub use sketch::{
    Choice, MAX_FEATURE_K, MAX_FEATURES, MAX_ONE_IN, MAX_SAMPLED_K, MAX_WINDOW, SketchShape,
    SketchShapeError, Sketcher, feature_of, sampled_feature_of,
};
pub use superkmer::{Cutter, SuperKmer};
