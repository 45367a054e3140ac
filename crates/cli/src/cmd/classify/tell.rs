//! What is said of a sample, or of several, once they are classified.

use std::time::Duration;

use gyrase_classify::Summary;
use serde_json::{Value, json};

/// The numbers of a sample.
pub fn counts(summary: &Summary) -> Value {
    let tally = &summary.tally;
    json!({
        "reads": tally.total(),
        "bases": summary.letters,
        "classified": tally.classified(),
        "unclassified": tally.unclassified(),
        "taxa": tally.taxa().count(),
    })
}

/// Warns where no read of `whose` is long enough to have a k-mer.
pub fn warn_if_short(whose: &str, summary: &Summary, k: usize) {
    if summary.tally.total() > 0 && summary.longest < k as u64 {
        tracing::warn!(
            "{whose}no read has {k} letters, the k of the database, so none can be classified; \
             -k of gyrase db build makes one with shorter k-mers"
        );
    }
}

/// Says it in Kraken's words, which other programs look for.
pub fn say(summary: &Summary, time: Duration) {
    let tally = &summary.tally;
    let (total, million, seconds) = (
        tally.total(),
        summary.letters as f64 / 1e6,
        time.as_secs_f64(),
    );
    let per_minute = 60.0 / seconds.max(0.001);
    tracing::info!(
        reads = total,
        bases = summary.letters,
        seconds,
        "{total} sequences ({million:.2} Mbp) processed in {seconds:.3}s ({:.1} Kseq/m, {:.2} \
         Mbp/m).",
        total as f64 / 1e3 * per_minute,
        million * per_minute
    );
    let percent = |reads: u64| reads as f64 * 100.0 / total.max(1) as f64;
    let (found, others) = (tally.classified(), tally.unclassified());
    tracing::info!(
        classified = found,
        "  {found} sequences classified ({:.2}%)",
        percent(found)
    );
    tracing::info!(
        unclassified = others,
        "  {others} sequences unclassified ({:.2}%)",
        percent(others)
    );
}
