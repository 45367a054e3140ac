//! Optimised scores on the vectors that the processor has. There is one source of it, compiled
//! for each set: operations and their order are the same, and so is every bit of the result.

use super::{Adjuster, Composition, Scores};

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernels {
    /// Whatever the target has.
    Portable,
    /// 256-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Kernels {
    /// The fastest set that this processor runs.
    pub(super) fn detect() -> Kernels {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Kernels::Avx2;
        }
        Kernels::Portable
    }

    /// See [`Adjuster::optimise`].
    #[allow(unsafe_code)]
    pub(super) fn optimise(
        self,
        adjuster: &Adjuster,
        query: &Composition,
        subject: &Composition,
        scores: &mut Scores,
    ) -> bool {
        match self {
            Kernels::Portable => adjuster.optimise(query, subject, scores),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `detect` saw the feature.
            Kernels::Avx2 => unsafe { avx2(adjuster, query, subject, scores) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(
    adjuster: &Adjuster,
    query: &Composition,
    subject: &Composition,
    scores: &mut Scores,
) -> bool {
    adjuster.optimise(query, subject, scores)
}
