//! Work on doubles, on the vectors that the processor has.
//!
//! There is one source of it, compiled for each set of instructions: the operations and their
//! order are the same, and so is every bit of the result.

use super::kernels::Kernels;

/// Work that gains from wider vectors. All that it calls must be `#[inline(always)]`, for only
/// what is inlined is compiled for them.
pub(crate) trait Kernel {
    /// Does it; false when it cannot be done.
    fn run(self) -> bool;
}

impl Kernels {
    /// Runs `work`.
    #[allow(unsafe_code)]
    pub(crate) fn run(self, work: impl Kernel) -> bool {
        match self {
            Kernels::Scalar => work.run(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the feature.
            Kernels::Avx2 | Kernels::Avx512 => unsafe { avx2(work) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(work: impl Kernel) -> bool {
    work.run()
}
