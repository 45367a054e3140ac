//! GPUs.

use std::fs::{read_dir, read_to_string};
use std::path::Path;

use gyrase_gpu::{Gpu, GpuError, GpuLibrary};
use gyrase_picture::words::bytes;

use super::finding::Finding;

/// Which GPUs are there, and whether `classify` can use them.
pub fn gpu() -> Finding {
    let models: Vec<String> = read_dir("/proc/driver/nvidia/gpus")
        .into_iter()
        .flatten()
        .filter_map(|entry| model(&read_to_string(entry.ok()?.path().join("information")).ok()?))
        .collect();
    let usable = GpuLibrary::find().and_then(|library| library.gpus());
    judge(&models, Path::new("/dev/kfd").exists(), usable)
}

/// The model that the driver's text names.
fn model(text: &str) -> Option<String> {
    text.lines()
        .find_map(|line| Some(line.strip_prefix("Model:")?.trim().to_string()))
}

fn judge(models: &[String], amd: bool, usable: Result<Vec<Gpu>, GpuError>) -> Finding {
    let seen = match models {
        [] if amd => "one of AMD",
        [] => "none is seen",
        [one, ..] => one,
    };
    match usable {
        Ok(gpus) => Finding::fine("GPU", of_use(&gpus)),
        Err(_) if models.is_empty() && amd => {
            Finding::fine("GPU", format!("{seen}; Gyrase uses those of NVIDIA"))
        }
        Err(GpuError::Absent | GpuError::Driver { .. } | GpuError::NoGpu) if models.is_empty() => {
            Finding::fine("GPU", seen)
        }
        Err(why) => Finding::warning("GPU", format!("{seen}, and it is not used: {why}")),
    }
}

/// What there is for `classify`.
fn of_use(gpus: &[Gpu]) -> String {
    let each = gpus.iter().map(|gpu| {
        let Gpu { number, name, .. } = gpu;
        let (memory, free) = (bytes(gpu.memory), bytes(gpu.free));
        format!("{number}: {name}, {memory}, {free} free")
    });
    let all: Vec<String> = each.collect();
    format!("{}; classify uses the first, or --gpu N", all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named() {
        let text = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 99\n";
        assert_eq!(model(text).as_deref(), Some("NVIDIA H200"));
        assert_eq!(model("IRQ: 1\n"), None);
    }

    #[test]
    fn who_has_a_gpu_hears_why_it_is_not_used() {
        let models = ["NVIDIA H200".to_string()];
        let absent = || Err(GpuError::Absent);
        let sentence = judge(&models, false, absent()).sentence;
        assert!(sentence.starts_with("NVIDIA H200, and it is not used: libgyrase_gpu.so is not"));
        assert_eq!(judge(&[], false, absent()).sentence, "none is seen");
        assert!(
            judge(&[], true, absent())
                .sentence
                .starts_with("one of AMD")
        );
        let why = "cannot count the GPUs: CUDA driver version is insufficient".to_string();
        let old = judge(&models, false, Err(GpuError::Driver { why }));
        assert!(old.sentence.ends_with("is insufficient"), "{old:?}");
        let gpu = Gpu {
            number: 0,
            name: "NVIDIA H200".into(),
            memory: 141 << 30,
            free: 140 << 30,
            capability: (9, 0),
        };
        let sentence = judge(&models, false, Ok(vec![gpu])).sentence;
        assert!(sentence.starts_with("0: NVIDIA H200, 141"), "{sentence}");
    }
}
