//! The GPU that looks reads up, where there is one.

use gyrase_classify::{Collection, GpuRefusal, Lane};
use gyrase_gpu::GpuError;
use gyrase_picture::words::{bytes, grouped, things};
use serde_json::json;

use crate::failure::Result;
use crate::gpu::GpuArgs;
use crate::session::Session;

/// Bytes of reads below which no GPU is used that nobody asked for: it takes longer to begin.
const LEAST: u64 = 1 << 30;

/// The share of a database's bytes that reads have at least, likewise: all of it is verified and
/// brought to the GPU first.
const LEAST_SHARE: u64 = 8;

/// Brings the databases to the GPU that is to look up the reads of these lanes, where one is and
/// can.
pub fn bring<'l>(
    args: &GpuArgs,
    collection: &mut Collection,
    lanes: impl Iterator<Item = &'l Lane>,
    session: &Session,
) -> Result<()> {
    let Some(found) = args.find(is_worth(collection, lanes), session)? else {
        return Ok(());
    };
    let name = &found.gpu.name;
    let brought = session.shown(|progress| {
        progress.start("bring to the GPU", 0);
        collection.bring_to(&found.share(), session.memory, session.threads)
    });
    match brought {
        Ok(()) => {
            let size = bytes(collection.bytes());
            tracing::info!("reads are looked up on the {name}, {size} of features");
            Ok(())
        }
        Err(GpuRefusal::Gpu(GpuError::Memory { least, room })) => {
            let [least, room] = [least, room].map(bytes);
            args.without(format!(
                "with the databases it takes {least} of memory of the {name}, and --gpu-memory \
                 allows {room}"
            ))
        }
        Err(GpuRefusal::HostMemory { least, memory }) => {
            let [least, memory] = [least, memory].map(bytes);
            args.without(format!(
                "it takes {least} of memory, and --memory is {memory}"
            ))
        }
        Err(why) => args.without(why),
    }
}

/// True where there are enough reads, or nobody knows how many.
fn is_worth<'l>(collection: &Collection, lanes: impl Iterator<Item = &'l Lane>) -> bool {
    let reads: Option<u64> = lanes.map(Lane::bytes).sum();
    let least = LEAST.max(collection.bytes() / LEAST_SHARE);
    reads.is_none_or(|reads| reads >= least)
}

/// What a plan says of the GPU that a run would try.
pub fn planned(
    args: &GpuArgs,
    collection: &Collection,
    lanes: &[Lane],
    session: &Session,
) -> Result<Option<String>> {
    let Some(found) = args.find(is_worth(collection, lanes.iter()), session)? else {
        return Ok(None);
    };
    let [size, room] = [collection.bytes(), found.share().memory].map(bytes);
    let name = &found.gpu.name;
    Ok(Some(format!(
        "{name}: {size} of features, {room} of memory may be taken"
    )))
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
