//! Windows sketched on a GPU.

use gyrase_kmer::SketchShape;

use crate::arch::{OpenSketcher, Sequence};
use crate::error::GpuError;
use crate::library::GpuShare;

/// Letters of a window, at most: so many have room in what a warp keeps.
pub(crate) const MOST_WINDOW: usize = 256;

/// Refuses windows that are too long.
pub(crate) fn keep_window(shape: SketchShape) -> Result<(), GpuError> {
    let (window, most) = (shape.window(), MOST_WINDOW);
    match window > most {
        true => Err(GpuError::Window { window, most }),
        false => Ok(()),
    }
}

/// What sketches windows on a GPU.
#[derive(Debug)]
pub struct GpuSketcher {
    shape: SketchShape,
    sketcher: OpenSketcher,
}

impl GpuShare<'_> {
    /// Refuses windows of `shape` that a GPU does not sketch.
    ///
    /// # Errors
    /// [`GpuError::Window`].
    pub fn sketches(&self, shape: SketchShape) -> Result<(), GpuError> {
        keep_window(shape)
    }

    /// What sketches windows of `shape` with this share of a GPU, and up to `host` bytes of this
    /// machine's memory.
    ///
    /// # Errors
    /// [`GpuError::Window`] where windows are too long. See [`GpuError`] for others.
    pub fn sketcher(&self, shape: SketchShape, host: u64) -> Result<GpuSketcher, GpuError> {
        keep_window(shape)?;
        let (functions, number) = (&self.library.functions, self.gpu.number);
        let sketcher = OpenSketcher::new(functions, number, shape, (self.memory, host))?;
        Ok(GpuSketcher { shape, sketcher })
    }
}

impl GpuSketcher {
    /// Sketches the windows of sequences, as [`gyrase_kmer::Sketcher`] does.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where they are too many at once. See [`GpuError`] for others.
    pub fn sketch<'b>(
        &mut self,
        sequences: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<(), GpuError> {
        let raw = |letters: &'b [u8]| {
            let windows = self.shape.windows(letters.len());
            Sequence::new(letters, windows, 0)
        };
        let sequences: Option<Vec<Sequence<'b>>> = sequences.into_iter().map(raw).collect();
        self.sketcher.sketch(&sequences.ok_or(GpuError::Declined)?)
    }

    /// The features of each window of the last batch, sequence by sequence.
    pub fn windows(&self) -> impl Iterator<Item = &[u32]> {
        let features = self.sketcher.features();
        let ends = self.sketcher.begins().windows(2);
        ends.map(|two| &features[two[0] as usize..two[1] as usize])
    }
}
