//! The GPU that sketches references and sorts their features, where there is one.

use gyrase_classify::{BuildConfig, BuildOnGpu, GpuRefusal};
use gyrase_picture::words::{bytes, things};
use serde_json::json;

use crate::failure::Result;
use crate::gpu::{Found, GpuArgs};
use crate::session::Session;

/// What sketches on the GPU that was found, where it can.
pub fn open<'f>(
    args: &GpuArgs,
    found: &'f Found,
    config: &BuildConfig,
) -> Result<Option<BuildOnGpu<'f>>> {
    match config.on_gpu(found.share()) {
        Ok(on_gpu) => Ok(Some(on_gpu)),
        Err(GpuRefusal::HostMemory { least, memory }) => {
            let [least, memory] = [least, memory].map(bytes);
            let why = format!("it takes {least} of memory, and {memory} are left of --memory");
            args.without(why).map(|()| None)
        }
        Err(why) => args.without(why).map(|()| None),
    }
}

/// Says what it sketched, and what became of the rest; in the report as this fact.
pub fn tell(on_gpu: &BuildOnGpu<'_>, fact: &str, session: &Session) {
    let (sketched, left) = on_gpu.windows();
    let gpu = on_gpu.gpu();
    session.note(
        fact,
        json!({
            "name": gpu.name,
            "number": gpu.number,
            "windows": sketched,
            "windows_left": left,
            "locations": on_gpu.sorted(),
        }),
    );
    let (name, rest) = (&gpu.name, things(left, "window"));
    let [windows, locations] = [(sketched, "window"), (on_gpu.sorted(), "location")]
        .map(|(count, what)| things(count, what));
    tracing::info!("the {name} sketched {windows}, and sorted {locations}");
    match on_gpu.failure() {
        Some(why) => tracing::warn!("{why}; the processor has done the rest"),
        None if left > 0 => tracing::warn!(
            "{rest} took more memory than there is for the {name}; the processor has sketched them"
        ),
        None => {}
    }
}
