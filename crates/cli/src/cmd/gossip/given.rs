//! Plans that verbs are given, and what is said of bounds.

use std::path::Path;

use gyrase_gossip::{Bound, Topology, TransferPlan};
use gyrase_picture::words::things;

use crate::failure::{Failure, Result};
use crate::texts;

/// Reads a plan.
pub fn planned(path: &Path) -> Result<TransferPlan> {
    Ok(TransferPlan::from_json(
        &path.display().to_string(),
        &texts::text(path)?,
    )?)
}

/// A bound in words: the time, and what stands behind it.
pub fn in_words(bound: &Bound) -> String {
    let time = bound.time;
    match &bound.bottleneck {
        Some(cut) => {
            let devices: Vec<String> = cut.devices.iter().map(usize::to_string).collect();
            let (messages, links) = (cut.messages, cut.links);
            let (message, link) = (plural(messages, "message"), plural(links as usize, "link"));
            format!(
                "{time:.4}, as {message} must leave {{{}}} by {link}",
                devices.join(",")
            )
        }
        None => format!("{time:.4} by a linear program"),
    }
}

/// `1 chunk`, `3 chunks`.
pub fn plural(number: usize, thing: &str) -> String {
    things(number as u64, thing)
}

/// Refuses a topology that has other devices than a plan.
pub fn fits(plan: &TransferPlan, topology: &Topology, path: &Path) -> Result<()> {
    let (planned, there) = (plan.devices(), topology.devices());
    if planned == there {
        return Ok(());
    }
    let (path, name) = (path.display(), topology.name());
    Err(Failure::usage(format!(
        "{path} is a plan for {planned} devices, and {name} has {there}; --devices takes some of them"
    )))
}
