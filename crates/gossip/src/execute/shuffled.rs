//! A run in one thread, in an order that a seed decides: what no order of wake-ups may break.

use std::time::{Duration, Instant};

use gyrase_simulate::Random;

use super::memory::{Memory, outputs};
use super::{Executor, Messages};
use crate::error::GossipError;
use crate::transfers::Transfers;

/// Bytes that are copied at once.
const PIECE: usize = 1 << 16;

/// Wakes queues up in a random order; one whose next transfer has to wait goes on sleeping.
#[derive(Clone, Copy, Debug)]
pub struct Shuffled {
    /// What the order follows from.
    pub seed: u64,
}

impl Executor for Shuffled {
    fn execute(
        &self,
        traffic: &Transfers,
        inputs: &Messages,
    ) -> Result<(Messages, Duration), GossipError> {
        let start = Instant::now();
        let mut outputs = outputs(traffic, inputs);
        let memory = Memory::new(traffic, inputs, &mut outputs);
        let mut random = Random::stream(self.seed, 2, 0);
        let mut queues: Vec<Vec<usize>> = traffic.queues().into_values().collect();
        queues.iter_mut().for_each(|queue| queue.reverse());
        let mut done = vec![false; traffic.transfers().len()];
        while !queues.is_empty() {
            let woken = random.below(queues.len() as u64) as usize;
            let next = *queues[woken].last().expect("empty queues are taken out");
            if traffic.transfers()[next]
                .after
                .is_none_or(|before| done[before])
            {
                memory.copy(next, PIECE, |_| {});
                done[next] = true;
                queues[woken].pop();
                if queues[woken].is_empty() {
                    queues.swap_remove(woken);
                }
            }
        }
        drop(memory);
        Ok((outputs, start.elapsed()))
    }
}
