//! What devices send each other, and by which ways.

use std::ops::Range;

/// Bytes that go from the buffer of a device to that of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuTransfer {
    /// The device that has them, by its place in the group.
    pub from: usize,
    /// The device that gets them.
    pub to: usize,
    /// Where they are in the one buffer.
    pub from_byte: u64,
    /// Where they go in the other.
    pub to_byte: u64,
    /// How many they are.
    pub bytes: u64,
    /// The transfer that brings them, which stands before this one; nothing where they are there at
    /// first.
    pub after: Option<usize>,
}

/// A transfer of some chunks of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuHop {
    /// The device that has them.
    pub from: usize,
    /// The device that gets them.
    pub to: usize,
    /// Who sends the message.
    pub source: usize,
    /// Who shall have it.
    pub target: usize,
    /// Which of its chunks they are.
    pub chunks: Range<usize>,
    /// The transfer that brings them, which stands before this one; nothing where the sender has
    /// them at first.
    pub after: Option<usize>,
}

/// A plan by which each of some devices sends each other one a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuRoutes {
    devices: usize,
    chunks: usize,
    hops: Vec<GpuHop>,
}

impl GpuRoutes {
    /// A plan for messages in so many chunks, with the transfers of each pair of devices in their
    /// order.
    ///
    /// # Panics
    /// Without devices or chunks, when a chunk does not come where it should, or when a transfer
    /// begins where its chunks are not.
    pub fn new(devices: usize, chunks: usize, hops: Vec<GpuHop>) -> GpuRoutes {
        assert!(devices > 0 && chunks > 0, "there are devices and chunks");
        let mut arriving = vec![Vec::new(); devices * devices];
        for (number, hop) in hops.iter().enumerate() {
            let is_there = match hop.after {
                None => hop.from == hop.source,
                Some(before) => {
                    let brought = &hops[..number][before];
                    brought.to == hop.from && is_same(brought, hop)
                }
            };
            assert!(is_there, "a transfer begins where its chunks are");
            let mut named = [hop.from, hop.to, hop.source, hop.target].into_iter();
            let is_known = named.all(|device| device < devices) && hop.chunks.end <= chunks;
            assert!(is_known, "there are such devices and chunks");
            if hop.to == hop.target {
                arriving[hop.source * devices + hop.target].push(hop.chunks.clone());
            }
        }
        for (pair, mut ranges) in arriving.into_iter().enumerate() {
            ranges.sort_by_key(|range| (range.start, range.end));
            let end = ranges.iter().try_fold(0, |end, range| {
                (range.start == end && range.end >= end).then_some(range.end)
            });
            let expected = if pair / devices == pair % devices {
                0
            } else {
                chunks
            };
            assert_eq!(end, Some(expected), "each chunk comes once");
        }
        GpuRoutes {
            devices,
            chunks,
            hops,
        }
    }

    /// How many devices there are.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// How many chunks a message has.
    pub(crate) fn chunks(&self) -> usize {
        self.chunks
    }

    pub(crate) fn hops(&self) -> &[GpuHop] {
        &self.hops
    }
}

/// True for the same chunks of the same message.
fn is_same(one: &GpuHop, other: &GpuHop) -> bool {
    (one.source, one.target, &one.chunks) == (other.source, other.target, &other.chunks)
}
