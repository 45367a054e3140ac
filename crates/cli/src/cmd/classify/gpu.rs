//! The GPU that looks reads up, where there is one.

use std::fmt::Display;
use std::str::FromStr;

use clap::Args;
use gyrase_classify::{Collection, GpuRefusal, GpuShare};
use gyrase_gpu::{Gpu, GpuError, GpuLibrary};
use gyrase_picture::words::{bytes, grouped, things};
use serde_json::json;

use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::size::Size;

/// The share of a GPU's free memory that a run takes when `--gpu-memory` is not given.
const SHARE: f64 = 0.9;

/// Whether a GPU looks reads up.
#[derive(Debug, Args)]
#[command(next_help_heading = "GPU")]
pub struct OnGpu {
    /// Look reads up on a GPU, with the same answers: the first one where it can be used (auto),
    /// none (off), or the one of this number, from 0, and fail where it cannot be used
    #[arg(long, value_name = "WHICH", default_value = "auto")]
    gpu: Which,

    /// Memory of the GPU that may be taken, such as 8G or 50% [default: 90% of what is free]
    #[arg(long, value_name = "SIZE")]
    gpu_memory: Option<Size>,
}

/// Which GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Auto,
    Off,
    Number(usize),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Which, String> {
        match text {
            "auto" => Ok(Which::Auto),
            "off" => Ok(Which::Off),
            number => number.parse().map(Which::Number).map_err(|_| {
                format!("\"{text}\" is no GPU; write auto, off, or a number such as 0")
            }),
        }
    }
}

impl OnGpu {
    /// Brings the databases to the GPU that was asked for, or to the first where none was named and
    /// one can be used.
    pub fn bring(&self, collection: &mut Collection, session: &Session) -> Result<()> {
        let number = match self.gpu {
            Which::Off => return Ok(()),
            Which::Auto if session.job().is_some() => return Ok(()),
            Which::Auto => None,
            Which::Number(_) if session.job().is_some() => {
                return Err(refused("several processes do not share a GPU"));
            }
            Which::Number(number) => Some(number),
        };
        let found = GpuLibrary::find().and_then(|library| {
            let gpu = library.gpu(number)?;
            Ok((library, gpu))
        });
        match found {
            Ok((library, gpu)) => self.bring_to(&library, &gpu, collection, session),
            // Nobody asked for one.
            Err(why) if number.is_none() && is_not_there(&why) => {
                tracing::debug!("no GPU is used: {why}");
                Ok(())
            }
            Err(why) => self.without(why),
        }
    }

    fn bring_to(
        &self,
        library: &GpuLibrary,
        gpu: &Gpu,
        collection: &mut Collection,
        session: &Session,
    ) -> Result<()> {
        let memory = match self.gpu_memory {
            Some(size) => size.of(gpu.memory),
            None => Size::Share(SHARE).of(gpu.free),
        };
        let share = GpuShare {
            library,
            gpu,
            memory,
        };
        let brought = session.shown(|progress| {
            progress.start("bring to the GPU", 0);
            collection.bring_to(&share, session.memory, session.threads)
        });
        match brought {
            Ok(()) => {
                let size = bytes(collection.bytes());
                tracing::info!(
                    "reads are looked up on the {}, {size} of features",
                    gpu.name
                );
                Ok(())
            }
            Err(GpuRefusal::Gpu(GpuError::Memory { least, room })) => {
                let [least, room] = [least, room].map(bytes);
                self.without(format!(
                    "with the databases it takes {least} of memory of the {}, and --gpu-memory \
                     allows {room}",
                    gpu.name
                ))
            }
            Err(GpuRefusal::HostMemory { least, memory }) => {
                let [least, memory] = [least, memory].map(bytes);
                self.without(format!(
                    "it takes {least} of memory, and --memory is {memory}"
                ))
            }
            Err(why) => self.without(why),
        }
    }

    /// Goes on with the processor, unless a GPU was asked for.
    fn without(&self, why: impl Display) -> Result<()> {
        match self.gpu {
            Which::Number(_) => Err(refused(why)),
            Which::Auto | Which::Off => {
                tracing::info!("no GPU is used: {why}");
                Ok(())
            }
        }
    }
}

/// Says what became of the reads that the GPU was asked for.
pub fn tell(collection: &Collection, session: &Session) {
    let Some(on_gpu) = collection.on_gpu() else {
        return;
    };
    let (reads, others) = on_gpu.reads();
    session.note(
        "gpu",
        json!({
            "name": on_gpu.gpu().name,
            "number": on_gpu.gpu().number,
            "reads": reads,
            "reads_of_processor": others,
        }),
    );
    if let Some(why) = on_gpu.failure() {
        let rest = things(others, "read");
        tracing::warn!("{why}; the processor has looked {rest} up instead");
    } else if others > 0 {
        let others = grouped(others);
        tracing::debug!("{others} reads were too many at once for the GPU");
    }
}

/// True where a machine simply has no GPU that could be used.
fn is_not_there(why: &GpuError) -> bool {
    matches!(
        why,
        GpuError::Absent | GpuError::Driver { .. } | GpuError::NoGpu
    )
}

fn refused(why: impl Display) -> Failure {
    let what = format!("the GPU cannot be used: {why}; leave --gpu out to go on without it");
    Failure::new(Code::Mpi, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_named_by_number_or_word() {
        for (text, which) in [
            ("auto", Which::Auto),
            ("off", Which::Off),
            ("0", Which::Number(0)),
            ("12", Which::Number(12)),
        ] {
            assert_eq!(text.parse(), Ok(which));
        }
        for text in ["", "on", "-1", "1.5", "auto,off"] {
            assert!(text.parse::<Which>().is_err(), "{text}");
        }
    }
}
