//! What people ask who are about to buy a machine.

use gyrase_picture::words::things;
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
    let mut all = vec![Alternative::of("as it is".into(), *machine, data)];
    all.extend(STORAGE.map(|factor| with_storage(factor, machine, data)));
    all.extend(
        PROCESSORS
            .into_iter()
            .filter_map(|factor| with_threads(factor, machine, data)),
    );
    for factor in MEMORY {
        progress.go_on()?;
        all.extend(with_memory(factor, config, machine, data)?);
    }
    Ok(all)
}

impl Alternative {
    fn of(what: String, machine: MeasuredMachine, data: &CountedData) -> Alternative {
        let predicted = predict(&machine, data);
        Alternative {
            what,
            machine,
            predicted,
        }
    }
}

fn with_storage(factor: f64, machine: &MeasuredMachine, data: &CountedData) -> Alternative {
    let other = MeasuredMachine {
        read_bytes_per_second: machine.read_bytes_per_second * factor,
        write_bytes_per_second: machine.write_bytes_per_second * factor,
        ..*machine
    };
    Alternative::of(format!("storage {} as fast", times(factor)), other, data)
}

/// Nothing where so many threads are those that there are.
fn with_threads(factor: f64, machine: &MeasuredMachine, data: &CountedData) -> Option<Alternative> {
    let threads = ((machine.threads as f64 * factor).round() as usize).max(1);
    let share = machine.gain_of_threads / machine.threads as f64;
    let other = MeasuredMachine {
        threads,
        gain_of_threads: (share * threads as f64).max(1.0),
        ..*machine
    };
    let wanted = threads != machine.threads;
    wanted.then(|| Alternative::of(things(threads as u64, "thread"), other, data))
}

/// Nothing where that memory is too little.
fn with_memory(
    factor: f64,
    config: &BottleneckConfig,
    machine: &MeasuredMachine,
    data: &CountedData,
) -> Result<Option<Alternative>, SsdError> {
    let memory = (machine.memory as f64 * factor) as u64;
    let other = BottleneckConfig {
        memory,
        ..config.clone()
    };
    let output = config.tmp.join("none.gyk");
    let wanted = count_config(&other, config.inputs.clone(), output, config.threads);
    let plan = gyrase_count::plan(&wanted)?;
    if plan.admit(&wanted).is_err() {
        return Ok(None);
    }
    let spilled = (plan.tmp.least + plan.tmp.most.unwrap_or(plan.tmp.least)) as f64 / 2.0;
    let (machine, data) = (
        MeasuredMachine { memory, ..*machine },
        CountedData { spilled, ..*data },
    );
    let what = format!("memory {} as large", times(factor));
    Ok(Some(Alternative::of(what, machine, &data)))
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
