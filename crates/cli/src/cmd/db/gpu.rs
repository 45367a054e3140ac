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

/// Says what it did; in the report as this fact.
pub fn tell(on_gpu: &BuildOnGpu<'_>, fact: &str, session: &Session) {
    let (gpu, passes) = (on_gpu.gpu(), on_gpu.passes());
    let (windows, locations) = (on_gpu.windows(), on_gpu.locations());
    session.note(
        fact,
        json!({
            "name": gpu.name,
            "number": gpu.number,
            "windows": windows,
            "locations": locations,
            "passes": passes,
            "failed": on_gpu.failure().map(ToString::to_string),
        }),
    );
    if let Some(why) = on_gpu.failure() {
        tracing::warn!("{why}; the processor has built the database instead");
        return;
    }
    let (name, passes) = (&gpu.name, things(passes, "pass"));
    let [windows, locations] =
        [(windows, "window"), (locations, "location")].map(|(count, what)| things(count, what));
    tracing::info!("the {name} sketched {windows}, and sorted {locations}, in {passes}");
}
