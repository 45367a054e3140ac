//! GPUs.

use std::fs::{read_dir, read_to_string};
use std::path::Path;

use super::finding::Finding;

/// What is there. Nothing uses it yet.
pub fn gpu() -> Finding {
    let models: Vec<String> = read_dir("/proc/driver/nvidia/gpus")
        .into_iter()
        .flatten()
        .filter_map(|entry| model(&read_to_string(entry.ok()?.path().join("information")).ok()?))
        .collect();
    judge(&models, Path::new("/dev/kfd").exists())
}

/// The model that the driver's text names.
fn model(text: &str) -> Option<String> {
    text.lines()
        .find_map(|line| Some(line.strip_prefix("Model:")?.trim().to_string()))
}

fn judge(models: &[String], amd: bool) -> Finding {
    let what = match models {
        [] if amd => "one of AMD".to_string(),
        [] => return Finding::fine("GPU", "none is seen; Gyrase does not use any yet"),
        [one] => one.clone(),
        [one, ..] => format!("{} of them, the first an {one}", models.len()),
    };
    Finding::fine("GPU", format!("{what}; Gyrase does not use any yet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named() {
        let text = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 99\n";
        assert_eq!(model(text).as_deref(), Some("NVIDIA H200"));
        assert_eq!(model("IRQ: 1\n"), None);
        let models = [model(text).unwrap(), "x".into()];
        assert!(
            judge(&models[..1], false)
                .sentence
                .starts_with("NVIDIA H200; ")
        );
        assert!(
            judge(&models, false)
                .sentence
                .starts_with("2 of them, the first an NVIDIA H200; ")
        );
        assert!(judge(&[], false).sentence.starts_with("none is seen"));
        assert!(judge(&[], true).sentence.starts_with("one of AMD"));
    }
}
