//! Logical devices, and transfers among them.

use crate::arch::OpenGroup;
use crate::error::GpuError;
use crate::library::GpuLibrary;
use crate::routes::GpuTransfer;

/// Logical devices with a buffer each. Several may be one GPU.
#[derive(Debug)]
pub struct GpuGroup {
    group: OpenGroup,
}

impl GpuLibrary {
    /// A logical device on each of the GPUs of these numbers, of which one may come several times,
    /// with a buffer of so many bytes each.
    ///
    /// # Errors
    /// [`GpuError::NoSuchGpu`], or what the driver says.
    ///
    /// # Panics
    /// When there are not as many buffers as numbers.
    pub fn group(&self, numbers: &[usize], bytes: &[u64]) -> Result<GpuGroup, GpuError> {
        for &number in numbers {
            self.gpu(Some(number))?;
        }
        let numbers: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
        let group = OpenGroup::new(&self.functions, &numbers, bytes)?;
        Ok(GpuGroup { group })
    }
}

impl GpuGroup {
    /// Brings bytes into the buffer of a device, from byte `at` on.
    ///
    /// # Errors
    /// See [`GpuError`].
    ///
    /// # Panics
    /// When they are not within the buffer.
    pub fn put(&mut self, device: usize, at: u64, from: &[u8]) -> Result<(), GpuError> {
        self.group.put(device, at, from)
    }

    /// Brings bytes out of the buffer of a device, from byte `at` on.
    ///
    /// # Errors
    /// See [`GpuError`].
    ///
    /// # Panics
    /// When they are not within the buffer.
    pub fn get(&mut self, device: usize, at: u64, to: &mut [u8]) -> Result<(), GpuError> {
        self.group.get(device, at, to)
    }

    /// Moves bytes between buffers, and waits for all. Each pair of devices has a stream, which
    /// takes its transfers in their order; one goes on behind the event of the transfer that brings
    /// its bytes.
    ///
    /// # Errors
    /// See [`GpuError`].
    ///
    /// # Panics
    /// When a transfer is not within the buffers, or waits for one that does not stand before it.
    pub fn transfer(&mut self, transfers: &[GpuTransfer]) -> Result<(), GpuError> {
        self.group.transfer(transfers)
    }
}
