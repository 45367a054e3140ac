//! What to build.

use std::path::PathBuf;

use gyrase_gpu::GpuShare;

use super::budget;
use super::on_gpu::BuildOnGpu;
use crate::on_gpu::GpuRefusal;
use crate::parameters::Parameters;

/// What to build.
#[derive(Clone, Debug)]
pub struct Config {
    /// The references: FASTA or FASTQ, in any compression.
    pub references: Vec<PathBuf>,
    /// The database to write; `None` keeps it in memory.
    pub output: Option<PathBuf>,
    /// How windows are sketched, and how many locations a feature keeps.
    pub parameters: Parameters,
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory that the build may take, [`Config::least_memory`] or more.
    pub memory: u64,
    /// Where spill files go.
    pub tmp: PathBuf,
    /// Bytes of spill files that the run may take.
    pub max_tmp: Option<u64>,
    /// Go on from what an earlier run left that was stopped, and leave as much when stopped: the
    /// spill files, once all is read, if there are any. The text says what the taxa of the
    /// references depend on besides the references and the taxonomy: what another text, or other
    /// references, left is not used.
    pub resume: Option<String>,
}

impl Config {
    /// Bytes of memory without which so many threads cannot build.
    pub fn least_memory(threads: usize) -> u64 {
        Config::least_memory_in(threads, 1)
    }

    /// The same for each of `ranks` processes.
    pub fn least_memory_in(threads: usize, ranks: usize) -> u64 {
        budget::least_memory(threads, ranks)
    }

    /// What this build uses a share of a GPU with.
    ///
    /// # Errors
    /// [`GpuRefusal::HostMemory`], or [`GpuRefusal::Gpu`] where windows are too long.
    pub fn on_gpu<'g>(&self, share: GpuShare<'g>) -> Result<BuildOnGpu<'g>, GpuRefusal> {
        let (threads, memory) = (self.threads, self.memory);
        let least = Config::least_memory(threads) + BuildOnGpu::host_memory(threads);
        if memory < least {
            return Err(GpuRefusal::HostMemory { least, memory });
        }
        Ok(BuildOnGpu::new(share, self.parameters.sketch, threads)?)
    }

    /// The same build with the memory that a GPU leaves.
    pub(super) fn beside_gpu(&self) -> Config {
        Config {
            memory: self.memory - BuildOnGpu::host_memory(self.threads),
            ..self.clone()
        }
    }
}
