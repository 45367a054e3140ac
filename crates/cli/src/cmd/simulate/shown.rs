//! What all simulations do: they run while their progress is shown, and say what they wrote.

use gyrase_simulate::SimulateError;
use gyrase_work::Progress;

use crate::failure::Result;
use crate::session::Session;

/// Runs a simulation while its progress is shown, and says in `words` what it wrote.
pub fn simulate<T>(
    session: &Session,
    run: impl FnOnce(&Progress) -> std::result::Result<T, SimulateError>,
    words: impl FnOnce(&T) -> String,
) -> Result<T> {
    let summary = session.shown(run)?;
    tracing::info!(
        "{} ({})",
        words(&summary),
        gyrase_picture::words::time(session.elapsed())
    );
    Ok(summary)
}
