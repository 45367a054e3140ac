//! The library, and the GPUs that it sees.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arch::Functions;
use crate::error::GpuError;
use crate::find;

/// The loaded library.
#[derive(Clone, Debug)]
pub struct GpuLibrary {
    path: PathBuf,
    pub(crate) functions: Arc<Functions>,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its number, from 0.
    pub number: usize,
    /// What its maker calls it.
    pub name: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of it that nobody has.
    pub free: u64,
    /// Its compute capability.
    pub capability: (i32, i32),
}

/// Which GPU, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct GpuShare<'g> {
    /// What reaches it.
    pub library: &'g GpuLibrary,
    /// The GPU.
    pub gpu: &'g Gpu,
    /// Bytes of its memory.
    pub memory: u64,
}

impl GpuLibrary {
    /// Loads the library that the environment names, or that stands beside the program.
    ///
    /// # Errors
    /// See [`GpuError`].
    pub fn find() -> Result<Arc<GpuLibrary>, GpuError> {
        GpuLibrary::load(&find::place().ok_or(GpuError::Absent)?)
    }

    /// Loads the library `path`.
    ///
    /// # Errors
    /// See [`GpuError`].
    pub fn load(path: &Path) -> Result<Arc<GpuLibrary>, GpuError> {
        Ok(Arc::new(GpuLibrary {
            path: path.to_path_buf(),
            functions: Arc::new(Functions::load(path)?),
        }))
    }

    /// The library's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The GPUs, at least one, by their numbers.
    ///
    /// # Errors
    /// [`GpuError::NoGpu`], or what the driver says.
    pub fn gpus(&self) -> Result<Vec<Gpu>, GpuError> {
        let count = self.functions.devices()?;
        if count == 0 {
            return Err(GpuError::NoGpu);
        }
        (0..count).map(|number| self.describe(number)).collect()
    }

    /// The GPU of that number, or the first.
    ///
    /// # Errors
    /// See [`GpuLibrary::gpus`]; [`GpuError::NoSuchGpu`].
    pub fn gpu(&self, number: Option<usize>) -> Result<Gpu, GpuError> {
        let count = self.functions.devices()?;
        match number {
            None if count == 0 => Err(GpuError::NoGpu),
            Some(number) if number >= count => Err(GpuError::NoSuchGpu { number, count }),
            number => self.describe(number.unwrap_or(0)),
        }
    }

    fn describe(&self, number: usize) -> Result<Gpu, GpuError> {
        let (name, device) = self.functions.describe(number)?;
        Ok(Gpu {
            number,
            name,
            memory: device.memory,
            free: device.free,
            capability: (device.major, device.minor),
        })
    }
}
