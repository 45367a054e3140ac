//! A run on GPUs: each direction of each edge is a stream, and events say what has come.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gyrase_gpu::{GpuGroup, GpuHop, GpuLibrary, GpuRoutes, GpuTransfer};

use super::memory::outputs;
use super::{Executor, Messages};
use crate::collective::Collective;
use crate::error::GossipError;
use crate::plan::TransferPlan;
use crate::transfers::{Sizes, Transfer, Transfers};

/// Streams and events of GPUs. Each device of a plan is a logical one, of which several may be one
/// GPU.
#[derive(Clone, Copy, Debug)]
pub struct Streams<'g> {
    /// What reaches the GPUs.
    pub library: &'g GpuLibrary,
    /// The number of the GPU of each device.
    pub numbers: &'g [usize],
}

impl Executor for Streams<'_> {
    /// # Panics
    /// When the plan has not as many devices as there are numbers.
    fn execute(
        &self,
        traffic: &Transfers,
        inputs: &Messages,
    ) -> Result<(Messages, Duration), GossipError> {
        assert_eq!(traffic.devices(), self.numbers.len(), "each has a number");
        let places = Places::new(traffic);
        let mut group = self.library.group(self.numbers, &places.bytes)?;
        for (&(source, target), &at) in &places.inputs {
            group.put(source, at, inputs.of(source, target))?;
        }
        let transfers = places.transfers(traffic);
        open_streams(&mut group, &transfers)?;
        let start = Instant::now();
        group.transfer(&transfers)?;
        let time = start.elapsed();
        let mut outputs = outputs(traffic, inputs);
        for (source, target) in sent(traffic) {
            let at = places.outputs[&(source, target)];
            group.get(target, at, &mut outputs.0[source][target])?;
        }
        Ok((outputs, time))
    }
}

/// A plan of an all-to-all as GPUs take it that exchange messages of any sizes themselves.
///
/// # Panics
/// When the plan is of another collective.
pub fn routes(plan: &TransferPlan) -> GpuRoutes {
    assert_eq!(plan.collective(), Collective::AllToAll, "all send to all");
    let sizes = Sizes::each(plan.collective(), plan.devices(), plan.chunks() as u64);
    let hop = |transfer: &Transfer| GpuHop {
        from: transfer.from,
        to: transfer.to,
        source: transfer.source,
        target: transfer.target,
        chunks: transfer.chunks.clone(),
        after: transfer.after,
    };
    let traffic = Transfers::new(plan, &sizes);
    let hops = traffic.transfers().iter().map(hop).collect();
    GpuRoutes::new(plan.devices(), plan.chunks(), hops)
}

/// Who has a message for another device.
fn sent(traffic: &Transfers) -> impl Iterator<Item = (usize, usize)> {
    let messages = traffic.collective().messages(traffic.devices());
    messages.filter(|(source, target)| source != target)
}

/// Streams are opened by the first transfers that they get, which takes longer than those: none of
/// these has a byte.
fn open_streams(group: &mut GpuGroup, transfers: &[GpuTransfer]) -> Result<(), GossipError> {
    let empty = |transfer: &GpuTransfer| GpuTransfer {
        bytes: 0,
        ..transfer.clone()
    };
    let empty: Vec<GpuTransfer> = transfers.iter().map(empty).collect();
    Ok(group.transfer(&empty)?)
}

/// Where bytes are in the buffers of devices.
struct Places {
    /// Messages in the buffers of their sources.
    inputs: BTreeMap<(usize, usize), u64>,
    /// Messages in the buffers of their targets.
    outputs: BTreeMap<(usize, usize), u64>,
    /// What each transfer brings, in the buffer of its receiver.
    brought: Vec<u64>,
    /// Bytes of each buffer.
    bytes: Vec<u64>,
}

impl Places {
    fn new(traffic: &Transfers) -> Places {
        let mut bytes = vec![0; traffic.devices()];
        let mut take = |device: usize, count: u64| {
            bytes[device] += count;
            bytes[device] - count
        };
        let (mut inputs, mut outputs) = (BTreeMap::new(), BTreeMap::new());
        for (source, target) in sent(traffic) {
            let count = traffic.sizes().of(source, target);
            let held = traffic.collective().held(source, target);
            inputs.entry(held).or_insert_with(|| take(source, count));
            outputs.insert((source, target), take(target, count));
        }
        let brought = traffic.transfers().iter().map(|transfer| {
            match outputs.get(&(transfer.source, transfer.target)) {
                Some(output) if transfer.arrives() => output + transfer.bytes.start,
                _ => take(transfer.to, transfer.len()),
            }
        });
        let brought = brought.collect();
        Places {
            inputs,
            outputs,
            brought,
            bytes,
        }
    }

    fn transfers(&self, traffic: &Transfers) -> Vec<GpuTransfer> {
        let all = traffic.transfers().iter().enumerate();
        all.map(|(number, transfer)| GpuTransfer {
            from: transfer.from,
            to: transfer.to,
            from_byte: match transfer.after {
                Some(before) => self.brought[before],
                None => self.at_first(traffic, transfer),
            },
            to_byte: self.brought[number],
            bytes: transfer.len(),
            after: transfer.after,
        })
        .collect()
    }

    /// Where the bytes of a transfer are that its sender had at first.
    fn at_first(&self, traffic: &Transfers, transfer: &Transfer) -> u64 {
        let held = traffic.collective().held(transfer.source, transfer.target);
        self.inputs[&held] + transfer.bytes.start
    }
}
