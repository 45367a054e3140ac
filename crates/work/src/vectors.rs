//! What vectors a processor computes with: found out in this one place.

/// Sets of vector instructions, each with all of those before it. Whoever has kernels for some says
/// which of these sets each kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vectors {
    /// What every processor of the target has.
    Portable,
    /// Of x86-64: AVX2, with BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// AVX-512 F, BW, DQ and VL too.
    Avx512,
    /// AVX-512 VBMI too.
    Avx512Bytes,
}

impl Vectors {
    /// The most that this processor has.
    pub fn here() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        return x86_64();
        #[cfg(not(target_arch = "x86_64"))]
        Vectors::Portable
    }

    /// Those of `kernels` that run here, in their order; each stands beside what it needs.
    pub fn running<K: Copy>(kernels: &[(Vectors, K)]) -> impl DoubleEndedIterator<Item = K> {
        let here = Vectors::here();
        let run = kernels.iter().filter(move |(needed, _)| *needed <= here);
        run.map(|&(_, kernels)| kernels)
    }
}

#[cfg(target_arch = "x86_64")]
fn x86_64() -> Vectors {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512, is_x86_feature_detected!("avx512vbmi")) {
        (true, true, true) => Vectors::Avx512Bytes,
        (true, true, false) => Vectors::Avx512,
        (true, false, _) => Vectors::Avx2,
        _ => Vectors::Portable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kernel_runs_that_needs_more() {
        let all = [
            (Vectors::Portable, 0),
            (Vectors::Avx2, 1),
            (Vectors::Avx512, 2),
            (Vectors::Avx512Bytes, 3),
        ];
        let running: Vec<i32> = Vectors::running(&all).collect();
        let here = all.iter().position(|&(set, _)| set == Vectors::here());
        assert_eq!(Some(running.len() - 1), here);
        assert_eq!(running, (0..running.len() as i32).collect::<Vec<_>>());
    }

    /// Linux says the same of the processor.
    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn the_system_names_what_is_found() {
        let Ok(told) = std::fs::read_to_string("/proc/cpuinfo") else {
            return;
        };
        let Some(flags) = told.lines().find(|line| line.starts_with("flags")) else {
            return;
        };
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let has = |names: &str| names.split(' ').all(|name| flags.contains(&name));
        // Linux calls LZCNT by AMD's name.
        let ladder = [
            (has("avx2 bmi1 bmi2 abm popcnt"), Vectors::Avx2),
            (has("avx512f avx512bw avx512dq avx512vl"), Vectors::Avx512),
            (has("avx512vbmi"), Vectors::Avx512Bytes),
        ];
        let climbed = ladder.iter().take_while(|(has, _)| *has).last();
        let told = climbed.map_or(Vectors::Portable, |&(_, set)| set);
        assert_eq!(Vectors::here(), told);
    }
}
