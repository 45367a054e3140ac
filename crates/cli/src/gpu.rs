//! The GPU that a run uses, where there is one.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use gyrase_gpu::{Gpu, GpuError, GpuLibrary, GpuRoutes, GpuShare, GpuShares};
use gyrase_picture::words::bytes;

use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::size::Size;

/// The share of a GPU's free memory that a run takes when `--gpu-memory` is not given.
const SHARE: f64 = 0.9;

/// Whether a GPU is used, and which.
#[derive(Debug, Args)]
#[command(next_help_heading = "GPU")]
pub struct GpuArgs {
    /// Use a GPU, with the same result: the first one where it can be used and is faster than many
    /// cores (auto), none (off), or the one of this number, from 0, and fail where it cannot be
    /// used; `suffix build` takes several, as 0,1,2,3
    #[arg(long, value_name = "WHICH", default_value = "auto")]
    gpu: Which,

    /// Memory of the GPU that may be taken, such as 8G or 50% [default: 90% of what is free]
    #[arg(long, value_name = "SIZE")]
    gpu_memory: Option<Size>,
}

/// Which GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    Auto,
    Off,
    Number(usize),
    Several(Vec<usize>),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Which, String> {
        match text {
            "auto" => Ok(Which::Auto),
            "off" => Ok(Which::Off),
            numbers => {
                let parsed: std::result::Result<Vec<usize>, _> =
                    numbers.split(',').map(str::parse).collect();
                let numbers = parsed.map_err(|_| {
                    format!("\"{text}\" is no GPU; write auto, off, or a number such as 0")
                })?;
                Ok(match numbers[..] {
                    [number] => Which::Number(number),
                    _ => Which::Several(numbers),
                })
            }
        }
    }
}

/// A GPU that can be used.
pub struct Found {
    library: Arc<GpuLibrary>,
    /// The GPU.
    pub gpu: Gpu,
    memory: u64,
}

impl Found {
    /// How much of it may be used.
    pub fn share(&self) -> GpuShare<'_> {
        GpuShare {
            library: &self.library,
            gpu: &self.gpu,
            memory: self.memory,
        }
    }

    /// What a plan says of it.
    pub fn planned(&self) -> String {
        let (name, room) = (&self.gpu.name, bytes(self.memory));
        format!("{name}: {room} of its memory may be taken")
    }
}

/// Logical devices that work together, of which several may be one GPU.
pub struct FoundSeveral {
    library: Arc<GpuLibrary>,
    /// The GPU of each.
    pub gpus: Vec<Gpu>,
    memory: Vec<u64>,
}

impl FoundSeveral {
    /// How much of each may be used.
    pub fn shares<'g>(&'g self, routes: &'g GpuRoutes) -> GpuShares<'g> {
        let numbers = self.gpus.iter().map(|gpu| gpu.number);
        GpuShares {
            library: &self.library,
            shares: numbers.zip(self.memory.iter().copied()).collect(),
            routes,
        }
    }
}

impl GpuArgs {
    /// The GPUs that were asked for, where they are several.
    pub fn find_several(&self, session: &Session) -> Result<Option<FoundSeveral>> {
        let Which::Several(numbers) = &self.gpu else {
            return Ok(None);
        };
        if session.job().is_some() {
            return Err(refused("several processes do not share GPUs"));
        }
        let found = self.look_several(numbers).map_err(refused)?;
        Ok(Some(found))
    }

    fn look_several(&self, numbers: &[usize]) -> std::result::Result<FoundSeveral, GpuError> {
        let library = GpuLibrary::find()?;
        let gpus = numbers.iter().map(|&number| library.gpu(Some(number)));
        let gpus: Vec<Gpu> = gpus.collect::<std::result::Result<_, _>>()?;
        let of_each = |gpu: &Gpu| {
            let alike = gpus.iter().filter(|other| other.number == gpu.number);
            self.memory(gpu) / alike.count() as u64
        };
        Ok(FoundSeveral {
            memory: gpus.iter().map(of_each).collect(),
            library,
            gpus,
        })
    }

    /// The GPU that was asked for; or the first where none was named, one can be used, and it is
    /// `worth` it.
    pub fn find(&self, worth: bool, session: &Session) -> Result<Option<Found>> {
        let alone = session.job().is_none();
        let number = match &self.gpu {
            Which::Off => return Ok(None),
            Which::Auto if !alone || !worth => return Ok(None),
            Which::Auto => None,
            Which::Number(_) if !alone => {
                return Err(refused("several processes do not share a GPU"));
            }
            Which::Number(number) => Some(*number),
            Which::Several(_) => {
                let what = "several GPUs work together for `gyrase suffix build` alone; name one";
                return Err(Failure::usage(what));
            }
        };
        match self.look(number) {
            Ok(found) => Ok(Some(found)),
            // Nobody asked for one.
            Err(why) if number.is_none() && is_not_there(&why) => {
                tracing::debug!("no GPU is used: {why}");
                Ok(None)
            }
            Err(why) => self.without(why).map(|()| None),
        }
    }

    /// The GPU of the number that was asked for. Nobody else counts or builds on one, where it is
    /// no faster than many cores.
    pub fn find_named(&self, session: &Session) -> Result<Option<Found>> {
        self.find(false, session)
    }

    /// True where a GPU was asked for by its number.
    pub fn is_named(&self) -> bool {
        matches!(self.gpu, Which::Number(_))
    }

    fn look(&self, number: Option<usize>) -> std::result::Result<Found, GpuError> {
        let library = GpuLibrary::find()?;
        let gpu = library.gpu(number)?;
        Ok(Found {
            library,
            memory: self.memory(&gpu),
            gpu,
        })
    }

    /// Bytes of a GPU that may be taken.
    fn memory(&self, gpu: &Gpu) -> u64 {
        match self.gpu_memory {
            Some(size) => size.of(gpu.memory),
            None => Size::Share(SHARE).of(gpu.free),
        }
    }

    /// Goes on with the processor, unless a GPU was asked for.
    pub fn without(&self, why: impl Display) -> Result<()> {
        match &self.gpu {
            Which::Number(_) | Which::Several(_) => Err(refused(why)),
            Which::Auto | Which::Off => {
                tracing::info!("no GPU is used: {why}");
                Ok(())
            }
        }
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
            ("0,0,1", Which::Several(vec![0, 0, 1])),
        ] {
            assert_eq!(text.parse(), Ok(which));
        }
        for text in ["", "on", "-1", "1.5", "auto,off", "0,", "0,off"] {
            assert!(text.parse::<Which>().is_err(), "{text}");
        }
    }
}
