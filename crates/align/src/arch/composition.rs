//! Work on doubles, on the vectors that the processor has.
//!
//! There is one source of it, compiled for each set of instructions: the operations and their
//! order are the same, and so is every bit of the result.

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernels {
    /// Whatever the target has.
    Portable,
    /// 256-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

/// Work that gains from wider vectors. All that it calls must be `#[inline(always)]`, for only
/// what is inlined is compiled for them.
pub(super) trait Kernel {
    /// Does it; false when it cannot be done.
    fn run(self) -> bool;
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

    /// Runs `work`.
    #[allow(unsafe_code)]
    pub(super) fn run(self, work: impl Kernel) -> bool {
        match self {
            Kernels::Portable => work.run(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `detect` saw the feature.
            Kernels::Avx2 => unsafe { avx2(work) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(work: impl Kernel) -> bool {
    work.run()
}
