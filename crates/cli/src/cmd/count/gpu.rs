//! The GPU that counts beside the threads, where there is one.

use gyrase_count::{Config, CountOnGpu, CountRefusal};
use gyrase_picture::words::{bytes, things};
use serde_json::json;

use crate::failure::Result;
use crate::gpu::{Found, GpuArgs};
use crate::session::Session;

/// What counts on the GPU that was found, where it can.
pub fn open<'f>(
    args: &GpuArgs,
    found: Option<&'f Found>,
    config: &Config,
) -> Result<Option<CountOnGpu<'f>>> {
    let Some(found) = found else {
        return Ok(None);
    };
    match CountOnGpu::new(found.share(), config) {
        Ok(on_gpu) => Ok(Some(on_gpu)),
        Err(why) => args.without(in_words(&why)).map(|()| None),
    }
}

/// Says what it counted, and what became of the rest.
pub fn tell(on_gpu: &CountOnGpu<'_>, session: &Session) {
    let (counted, left) = on_gpu.partitions();
    let (gpu, rest) = (on_gpu.gpu(), things(left, "partition"));
    session.note(
        "gpu",
        json!({
            "name": gpu.name,
            "number": gpu.number,
            "partitions": counted,
            "partitions_left": left,
        }),
    );
    let name = &gpu.name;
    tracing::info!("the {name} counted {}", things(counted, "partition"));
    match on_gpu.refusal() {
        Some(why) => tracing::warn!(
            "{}; the processor has counted {rest} instead",
            in_words(why)
        ),
        None if left > 0 => tracing::warn!(
            "{rest} took more memory than there is for the {name}; the processor has counted them"
        ),
        None => {}
    }
}

fn in_words(why: &CountRefusal) -> String {
    match why {
        CountRefusal::HostMemory { least, memory } => {
            let [least, memory] = [least, memory].map(|&size| bytes(size));
            format!("it takes {least} of memory, and --memory is {memory}")
        }
        why => why.to_string(),
    }
}
