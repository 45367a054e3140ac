//! Carries plans out.
//!
//! A [`Executor`] is given the transfers of a plan and what each device has at first, and gives
//! what each device has at the end. [`Threads`] moves bytes between buffers of this process, over
//! links that are as slow as asked for; [`Shuffled`] does so in an order of wake-ups that follows
//! from a seed, without waiting; [`Streams`] moves them between GPUs.

mod memory;
mod shuffled;
mod streams;
mod threads;

use std::time::Duration;

use gyrase_simulate::Random;

use crate::collective::Collective;
use crate::error::GossipError;
use crate::transfers::{Sizes, Transfers};

pub use shuffled::Shuffled;
pub use streams::{Streams, routes};
pub use threads::Threads;

/// What carries out the transfers of a plan.
pub trait Executor {
    /// Moves all messages from their sources to their targets, each transfer behind those that
    /// stand before it in its queue ([`Transfers::queues`]), and behind what brings its bytes.
    /// Gives what arrived, and the time from the first transfer to the last.
    ///
    /// # Errors
    /// There is not enough memory, or the devices fail.
    fn execute(
        &self,
        traffic: &Transfers,
        inputs: &Messages,
    ) -> Result<(Messages, Duration), GossipError>;
}

/// The bytes of messages, by source and target. Those of a broadcast are held by its main device
/// once at the beginning, as its message for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages(Vec<Vec<Vec<u8>>>);

impl Messages {
    /// Messages of random bytes.
    pub fn random(collective: Collective, devices: usize, sizes: &Sizes, seed: u64) -> Messages {
        let mut all = Messages::empty(devices);
        for (source, target) in collective.messages(devices) {
            if matches!(collective, Collective::Broadcast { .. }) && target != source {
                continue;
            }
            let mut random = Random::stream(seed, source as u64, target as u64);
            let mut bytes = vec![0; sizes.of(source, target) as usize];
            for word in bytes.chunks_mut(8) {
                word.copy_from_slice(&random.bits().to_le_bytes()[..word.len()]);
            }
            all.0[source][target] = bytes;
        }
        all
    }

    /// No bytes at all.
    fn empty(devices: usize) -> Messages {
        Messages(vec![vec![Vec::new(); devices]; devices])
    }

    /// The message of a device for another one.
    pub fn of(&self, source: usize, target: usize) -> &[u8] {
        &self.0[source][target]
    }

    /// What a device has for another one at the beginning.
    fn input(&self, collective: Collective, source: usize, target: usize) -> &[u8] {
        let (source, target) = collective.held(source, target);
        self.of(source, target)
    }
}

/// Compares what arrived with the definition: each target has the message of each source.
///
/// # Errors
/// A message is not what was sent; says which, and from which byte on.
pub fn verify(
    traffic: &Transfers,
    inputs: &Messages,
    outputs: &Messages,
) -> Result<(), GossipError> {
    for (source, target) in traffic.collective().messages(traffic.devices()) {
        let (sent, came) = (
            inputs.input(traffic.collective(), source, target),
            outputs.of(source, target),
        );
        if sent != came {
            let equal = sent
                .iter()
                .zip(came)
                .take_while(|(sent, came)| sent == came);
            return Err(GossipError::Differs {
                source_device: source,
                target,
                byte: equal.count() as u64,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../../gpu/tests/twin/mod.rs"]
mod twin;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::planner::{Config, Method, plan};
    use crate::topology::Topology;
    use gyrase_gpu::GpuLibrary;
    use gyrase_work::Progress;

    /// A connected topology whose links come from a seed.
    fn random_topology(random: &mut Random) -> Topology {
        let devices = 2 + random.below(5) as usize;
        let mut links = vec![vec![0; devices]; devices];
        for to in 1..devices {
            let mut join = |from: usize, to: usize, count: u32| {
                (links[from][to], links[to][from]) = (count, count);
            };
            let from = random.below(to as u64) as usize;
            join(from, to, 1 + random.below(3) as u32);
            let (a, b) = (random.below(to as u64) as usize, to);
            if random.chance(0.6) {
                join(a, b, 1 + random.below(2) as u32);
            }
        }
        Topology::new("random", links, 25.0).unwrap()
    }

    fn planned(random: &mut Random, collective: impl Fn(usize) -> Collective) -> Transfers {
        let topology = random_topology(random);
        let devices = topology.devices();
        let main = random.below(devices as u64) as usize;
        let config = Config {
            topology,
            collective: collective(main),
            method: Method::Flow,
            chunks: Some(1 + random.below(4) as usize),
            sizes: None,
        };
        let plan = plan(&config, &Progress::default()).unwrap().plan;
        let mut rows = vec![vec!["0".to_owned(); devices]; devices];
        for (source, target) in config.collective.messages(devices) {
            let bytes = match config.collective {
                Collective::Broadcast { .. } => 23,
                _ => random.below(40),
            };
            rows[source][target] = bytes.to_string();
        }
        let text: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
        let sizes = Sizes::parse("t", &text.join("\n"), config.collective, devices);
        Transfers::new(&plan, &sizes.unwrap())
    }

    fn plans() -> Vec<Transfers> {
        let collectives: [fn(usize) -> Collective; 4] = [
            |_| Collective::AllToAll,
            |main| Collective::Scatter { main },
            |main| Collective::Gather { main },
            |main| Collective::Broadcast { main },
        ];
        let plan = |number: u64| {
            let mut random = Random::stream(17, 0, number);
            planned(&mut random, collectives[number as usize % 4])
        };
        (0..40).map(plan).collect()
    }

    /// Messages that follow from a seed, moved and compared.
    fn moved(executor: &impl Executor, traffic: &Transfers, seed: u64) -> Result<(), GossipError> {
        let (collective, devices) = (traffic.collective(), traffic.devices());
        let inputs = Messages::random(collective, devices, traffic.sizes(), seed);
        let (outputs, _) = executor.execute(traffic, &inputs)?;
        verify(traffic, &inputs, &outputs)
    }

    #[test]
    fn any_order_of_wake_ups_gives_what_the_definition_says() {
        let plans = plans();
        for seed in 0..1000 {
            let traffic = &plans[seed as usize % plans.len()];
            moved(&Shuffled { seed }, traffic, seed).unwrap();
        }
    }

    /// Where libraries for GPUs are made.
    fn folder() -> PathBuf {
        let program = std::env::current_exe().unwrap();
        program.parent().unwrap().to_path_buf()
    }

    /// Of so many seeds those whose messages came as they should, over streams of logical devices.
    fn moved_by_streams(library: &Path, seeds: u64) -> usize {
        let library = GpuLibrary::load(library).unwrap();
        let plans = plans();
        let is_moved = |&seed: &u64| {
            let traffic = &plans[seed as usize % plans.len()];
            let streams = Streams {
                library: &library,
                numbers: &vec![0; traffic.devices()],
            };
            moved(&streams, traffic, seed).is_ok()
        };
        (0..seeds).filter(is_moved).count()
    }

    #[test]
    fn streams_give_what_the_definition_says() {
        let Some(path) = twin::twin(&folder()) else {
            return;
        };
        assert_eq!(moved_by_streams(path, 1000), 1000);
    }

    #[test]
    fn streams_that_wait_for_no_event_are_found_out() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/tests/twin");
        let library = twin::make(
            &folder(),
            &tests.join("unordered.cu"),
            "gyrase_gpu_unordered",
        );
        let Some(path) = library else { return };
        assert!(moved_by_streams(&path, 40) < 40);
    }

    #[test]
    fn threads_give_what_the_definition_says() {
        for number in 0..8u64 {
            let mut random = Random::stream(5, 1, number);
            let traffic = planned(&mut random, |_| Collective::AllToAll);
            let (collective, devices) = (traffic.collective(), traffic.devices());
            let inputs = Messages::random(collective, devices, traffic.sizes(), number);
            let topology = Topology::new("any", vec![vec![0, 1], vec![1, 0]], 1.0).unwrap();
            let threads = Threads::unlimited(&topology);
            let (outputs, _) = threads.execute(&traffic, &inputs).unwrap();
            verify(&traffic, &inputs, &outputs).unwrap();
            if let Some((source, target)) = collective
                .messages(devices)
                .find(|&(source, target)| !outputs.of(source, target).is_empty())
            {
                let mut wrong = outputs.clone();
                wrong.0[source][target][0] ^= 1;
                assert!(verify(&traffic, &inputs, &wrong).is_err());
            }
        }
    }
}
