//! Where the bytes of a run lie, in buffers of this process.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use super::Messages;
use crate::transfers::{Transfer, Transfers};

/// Where a transfer puts its bytes: into the output of its target, or into a buffer from which they
/// go on.
enum Landing<'a> {
    Output(&'a mut [u8]),
    Transit(Vec<u8>),
}

impl Landing<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Landing::Output(bytes) => bytes,
            Landing::Transit(bytes) => bytes,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Landing::Output(bytes) => bytes,
            Landing::Transit(bytes) => bytes,
        }
    }
}

/// What all transfers of a run read and write.
pub struct Memory<'a> {
    traffic: &'a Transfers,
    inputs: &'a Messages,
    landings: Vec<RwLock<Landing<'a>>>,
}

impl<'a> Memory<'a> {
    /// Divides the outputs among the transfers that arrive, and makes buffers for the others.
    pub fn new(
        traffic: &'a Transfers,
        inputs: &'a Messages,
        outputs: &'a mut Messages,
    ) -> Memory<'a> {
        let mut arriving: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (number, transfer) in traffic.transfers().iter().enumerate() {
            if transfer.arrives() {
                let key = (transfer.source, transfer.target);
                arriving.entry(key).or_default().push(number);
            }
        }
        let transit = |transfer: &Transfer| {
            let bytes = if transfer.arrives() {
                0
            } else {
                transfer.len()
            };
            Landing::Transit(vec![0; bytes as usize])
        };
        let mut landings: Vec<Landing<'a>> = traffic.transfers().iter().map(transit).collect();
        for (source, row) in outputs.0.iter_mut().enumerate() {
            for (target, output) in row.iter_mut().enumerate() {
                let mut numbers = arriving.remove(&(source, target)).unwrap_or_default();
                numbers.sort_by_key(|&number| traffic.transfers()[number].bytes.start);
                let mut rest = &mut output[..];
                for number in numbers {
                    let (own, behind) =
                        rest.split_at_mut(traffic.transfers()[number].len() as usize);
                    landings[number] = Landing::Output(own);
                    rest = behind;
                }
            }
        }
        Memory {
            traffic,
            inputs,
            landings: landings.into_iter().map(RwLock::new).collect(),
        }
    }

    /// Copies the bytes of a transfer, `piece` of them at a time; before each piece `pass` is told
    /// how many bytes it has.
    pub fn copy(&self, number: usize, piece: usize, mut pass: impl FnMut(usize)) {
        let transfer = &self.traffic.transfers()[number];
        // A thread that panicked ends the run, whatever is in its buffers.
        let mut to = self.landings[number]
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let mut copied = |from: &[u8]| {
            for (to, from) in to.bytes_mut().chunks_mut(piece).zip(from.chunks(piece)) {
                pass(from.len());
                to.copy_from_slice(from);
            }
        };
        match transfer.after {
            Some(before) => {
                let from = self.landings[before]
                    .read()
                    .unwrap_or_else(PoisonError::into_inner);
                copied(from.bytes());
            }
            None => {
                let collective = self.traffic.collective();
                let message = self
                    .inputs
                    .input(collective, transfer.source, transfer.target);
                let bytes = transfer.bytes.start as usize..transfer.bytes.end as usize;
                copied(&message[bytes]);
            }
        }
    }
}

/// Outputs of the right sizes, with what stays where it is in place.
pub fn outputs(traffic: &Transfers, inputs: &Messages) -> Messages {
    let mut outputs = Messages::empty(traffic.devices());
    for (source, target) in traffic.collective().messages(traffic.devices()) {
        let message = inputs.input(traffic.collective(), source, target);
        outputs.0[source][target] = match source == target {
            true => message.to_vec(),
            false => vec![0; message.len()],
        };
    }
    outputs
}
