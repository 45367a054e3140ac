//! Logical devices with buffers, by the pointer that the library gives.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::functions::Functions;
use super::raw::RawTransfer;
use crate::error::GpuError;
use crate::routes::GpuTransfer;

/// Logical devices with a buffer each.
#[derive(Debug)]
pub(crate) struct OpenGroup {
    functions: Arc<Functions>,
    group: NonNull<c_void>,
    /// Bytes of the buffer of each.
    bytes: Vec<u64>,
}

// SAFETY: it may be used by one thread after the other.
unsafe impl Send for OpenGroup {}

impl OpenGroup {
    /// Logical devices on the devices of these numbers, with buffers of so many bytes.
    pub(crate) fn new(
        functions: &Arc<Functions>,
        numbers: &[i32],
        bytes: &[u64],
    ) -> Result<OpenGroup, GpuError> {
        assert_eq!(numbers.len(), bytes.len(), "each device has a buffer");
        let (devices, count) = (numbers.as_ptr(), numbers.len() as u32);
        // SAFETY: there are as many of both as is said, and the call copies them.
        let group = unsafe { (functions.group)(devices, bytes.as_ptr(), count) };
        Ok(OpenGroup {
            functions: Arc::clone(functions),
            group: functions.given(group)?,
            bytes: bytes.to_vec(),
        })
    }

    /// Brings bytes to a place of a buffer.
    pub(crate) fn put(&mut self, device: usize, at: u64, from: &[u8]) -> Result<(), GpuError> {
        let bytes = self.within(device, at, from.len() as u64);
        let (group, device) = (self.group.as_ptr(), device as u32);
        // SAFETY: it is open and in this thread alone; the bytes outlive the call, and have room.
        let code = unsafe { (self.functions.put)(group, device, at, from.as_ptr(), bytes) };
        self.functions.check(code)
    }

    /// Brings bytes from a place of a buffer.
    pub(crate) fn get(&mut self, device: usize, at: u64, to: &mut [u8]) -> Result<(), GpuError> {
        let bytes = self.within(device, at, to.len() as u64);
        let (group, device) = (self.group.as_ptr(), device as u32);
        // SAFETY: it is open and in this thread alone; the place outlives the call, and the buffer
        // has so many bytes.
        let code = unsafe { (self.functions.get)(group, device, at, to.as_mut_ptr(), bytes) };
        self.functions.check(code)
    }

    /// Moves bytes between buffers.
    pub(crate) fn transfer(&mut self, transfers: &[GpuTransfer]) -> Result<(), GpuError> {
        let raw = |(number, one): (usize, &GpuTransfer)| {
            self.within(one.from, one.from_byte, one.bytes);
            self.within(one.to, one.to_byte, one.bytes);
            assert!(
                one.after.is_none_or(|before| before < number),
                "a transfer waits for such as stand before it"
            );
            RawTransfer::from(one)
        };
        let raw: Vec<RawTransfer> = transfers.iter().enumerate().map(raw).collect();
        let (group, count) = (self.group.as_ptr(), raw.len() as u32);
        // SAFETY: it is open and in this thread alone; the transfers outlive the call, which waits
        // for all, and are within buffers.
        let code = unsafe { (self.functions.exchange)(group, raw.as_ptr(), count) };
        self.functions.check(code)
    }

    /// So many bytes, which a buffer has from a place on.
    fn within(&self, device: usize, at: u64, bytes: u64) -> u64 {
        let end = at.checked_add(bytes).expect("memory has fewer bytes");
        assert!(end <= self.bytes[device], "it is within the buffer");
        bytes
    }
}

impl Drop for OpenGroup {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it any more.
        unsafe { (self.functions.group_close)(self.group.as_ptr()) }
    }
}
