//! The GPU that looks reads up, where there is one.

use gyrase_classify::{Collection, GpuRefusal, Lane};
use gyrase_gpu::GpuError;
use gyrase_picture::words::{bytes, grouped};
use serde_json::json;

use crate::failure::Result;
use crate::gpu::{Found, GpuArgs};
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
    let (within, passes) = (
        (session.memory, session.threads),
        most_passes(args, collection, session),
    );
    let brought = session.shown(|progress| {
        progress.start("bring to the GPU", 0);
        collection.bring_to(&found.share(), within, passes)
    });
    match brought {
        Ok(()) => {
            let (name, size) = (&found.gpu.name, bytes(collection.bytes()));
            tracing::info!("reads are looked up on the {name}, {size} of features");
            Ok(())
        }
        Err(why) => go_on_without(args, &found, why),
    }
}

/// How often the reads may be read with a GPU: as often as without one, unless it was named.
fn most_passes(args: &GpuArgs, collection: &Collection, session: &Session) -> usize {
    let without = collection.plan(session.memory, session.threads);
    match without {
        Ok(plan) if !args.is_named() => plan.passes,
        _ => usize::MAX,
    }
}

fn go_on_without(args: &GpuArgs, found: &Found, why: GpuRefusal) -> Result<()> {
    let name = &found.gpu.name;
    match why {
        GpuRefusal::Gpu(GpuError::Memory { least, room }) => {
            let [least, room] = [least, room].map(bytes);
            args.without(format!(
                "with a part of the databases it takes {least} of memory of the {name}, and \
                 --gpu-memory allows {room}"
            ))
        }
        GpuRefusal::HostMemory { least, memory } => {
            let [least, memory] = [least, memory].map(bytes);
            args.without(format!(
                "it takes {least} of memory, and --memory is {memory}"
            ))
        }
        why => args.without(why),
    }
}

/// True where there are enough reads for one database, or nobody knows how many. With several the
/// processor finds the regions, and nobody has measured what a GPU gains.
fn is_worth<'l>(collection: &Collection, lanes: impl Iterator<Item = &'l Lane>) -> bool {
    let reads: Option<u64> = lanes.map(Lane::bytes).sum();
    let least = LEAST.max(collection.bytes() / LEAST_SHARE);
    collection.checksums().count() == 1 && reads.is_none_or(|reads| reads >= least)
}

/// Chooses the GPU that a run would try; what a plan says of it.
pub fn planned(
    args: &GpuArgs,
    collection: &mut Collection,
    lanes: &[Lane],
    session: &Session,
) -> Result<Option<String>> {
    let Some(found) = args.find(is_worth(collection, lanes.iter()), session)? else {
        return Ok(None);
    };
    let (within, passes) = (
        (session.memory, session.threads),
        most_passes(args, collection, session),
    );
    match collection.choose_gpu(&found.share(), within, passes) {
        Ok(plan) => {
            let part = plan.most.min(collection.bytes());
            let [part, room] = [part, found.share().memory].map(bytes);
            let name = &found.gpu.name;
            Ok(Some(format!(
                "{name}: {part} of features at a time, {room} of memory may be taken"
            )))
        }
        Err(why) => go_on_without(args, &found, why).map(|()| None),
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
            "bytes_at_a_time": on_gpu.most(),
            "reads": reads,
            "reads_of_processor": others,
        }),
    );
    if let Some(why) = on_gpu.failure() {
        tracing::warn!("{why}; the processor has looked the other reads up");
    } else if others > 0 {
        let others = grouped(others);
        tracing::debug!("{others} reads were too many at once for the GPU");
    }
}
