//! Which kernels there are, and which the processor runs.

use std::sync::OnceLock;

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

impl Kernels {
    /// The fastest set that this processor runs.
    pub fn detect() -> Kernels {
        static DETECTED: OnceLock<Kernels> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            Kernels::available()
                .pop()
                .expect("portable code is always there")
        })
    }

    /// Every set that this processor runs, slowest first.
    pub fn available() -> Vec<Kernels> {
        #[cfg_attr(
            not(target_arch = "x86_64"),
            expect(unused_mut, reason = "there is one set")
        )]
        let mut kernels = vec![Kernels::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            let beside = is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let newer = is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vl");
            if is_x86_feature_detected!("avx2") && beside {
                kernels.push(Kernels::Avx2);
                if newer {
                    kernels.push(Kernels::Avx512);
                }
            }
        }
        kernels
    }
}
