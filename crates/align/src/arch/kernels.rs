//! Which kernels there are, and which the processor runs.

use gyrase_work::Vectors;

/// A set of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Portable code.
    Scalar,
    /// 256-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// All sets, slowest first, and what each needs.
const SETS: &[(Vectors, Kernels)] = &[
    (Vectors::Portable, Kernels::Scalar),
    #[cfg(target_arch = "x86_64")]
    (Vectors::Avx2, Kernels::Avx2),
    #[cfg(target_arch = "x86_64")]
    (Vectors::Avx512Bytes, Kernels::Avx512),
];

impl Kernels {
    /// The fastest set that this processor runs.
    pub fn detect() -> Kernels {
        let mut sets = Vectors::running(SETS);
        sets.next_back().expect("portable code is always there")
    }

    /// Every set that this processor runs, slowest first.
    pub fn available() -> Vec<Kernels> {
        Vectors::running(SETS).collect()
    }
}
