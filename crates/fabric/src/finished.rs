//! Finished segments of a file, where they wait for their offsets.

use std::fs::File;
use std::io;
use std::sync::Arc;

use gyrase_files::Spill;

use crate::{FabricError, SpillFolder};

/// The folder for spills, where finished segments wait. They count against what spills may take.
#[derive(Debug)]
pub struct Finished(pub Arc<SpillFolder>);

/// The file in it.
const NAME: &str = "finished";

impl Spill for Finished {
    type Error = FabricError;

    fn file(&self) -> Result<File, FabricError> {
        let file = self.0.open(NAME)?;
        file.set_len(0).map_err(|source| self.0.error(source))?;
        Ok(file)
    }

    fn nameless(&self) -> Result<File, FabricError> {
        self.0.nameless()
    }

    fn allow(&self, bytes: u64) -> Result<(), FabricError> {
        self.0.allow(bytes)
    }

    fn error(&self, source: io::Error) -> FabricError {
        self.0.error(source)
    }
}
