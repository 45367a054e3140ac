//! What people ask who are about to buy a machine.

use gyrase_work::Progress;

use crate::ssd::SsdError;

use super::measure::{BottleneckConfig, CountedData, MeasuredMachine, count_config};
use super::model::{PredictedCount, predict};

/// Another machine, and what counting would take there.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// What is different, in words.
    pub what: String,
    /// The machine.
    pub machine: MeasuredMachine,
    /// What it would take.
    pub predicted: PredictedCount,
}

/// Storage as many times as fast, and threads as many times as many.
const STORAGE: [f64; 4] = [0.1, 0.5, 2.0, 10.0];
const PROCESSORS: [f64; 3] = [0.5, 2.0, 8.0];
const MEMORY: [f64; 3] = [0.25, 0.5, 4.0];

/// The machine as it is, and others.
///
/// # Errors
/// The inputs cannot be opened.
pub fn alternatives(
    config: &BottleneckConfig,
    machine: &MeasuredMachine,
    data: &CountedData,
    progress: &Progress,
) -> Result<Vec<Alternative>, SsdError> {
    let of = |what: String, machine: MeasuredMachine, data: &CountedData| Alternative {
        what,
        machine,
        predicted: predict(&machine, data),
    };
    let mut all = vec![of("as it is".into(), *machine, data)];
    for factor in STORAGE {
        let faster = MeasuredMachine {
            read_bytes_per_second: machine.read_bytes_per_second * factor,
            write_bytes_per_second: machine.write_bytes_per_second * factor,
            ..*machine
        };
        all.push(of(
            format!("storage {} as fast", times(factor)),
            faster,
            data,
        ));
    }
    for factor in PROCESSORS {
        let threads = ((machine.threads as f64 * factor).round() as usize).max(1);
        let share = machine.gain_of_threads / machine.threads as f64;
        let more = MeasuredMachine {
            threads,
            gain_of_threads: (share * threads as f64).max(1.0),
            ..*machine
        };
        if threads != machine.threads {
            all.push(of(format!("{threads} threads"), more, data));
        }
    }
    for factor in MEMORY {
        progress.go_on()?;
        let memory = (machine.memory as f64 * factor) as u64;
        let other = BottleneckConfig {
            memory,
            ..config.clone()
        };
        let output = config.tmp.join("none.gyk");
        let wanted = count_config(&other, config.inputs.clone(), output, config.threads);
        let plan = gyrase_count::plan(&wanted)?;
        let enough = plan.admit(&wanted).is_ok();
        let spilled = (plan.tmp.least + plan.tmp.most.unwrap_or(plan.tmp.least)) as f64 / 2.0;
        if enough {
            let (machine, data) = (
                MeasuredMachine { memory, ..*machine },
                CountedData { spilled, ..*data },
            );
            all.push(of(
                format!("memory {} as large", times(factor)),
                machine,
                &data,
            ));
        }
    }
    Ok(all)
}

fn times(factor: f64) -> String {
    match factor {
        0.1 => "a tenth".into(),
        0.25 => "a quarter".into(),
        0.5 => "half".into(),
        2.0 => "twice".into(),
        factor => format!("{factor} times"),
    }
}
