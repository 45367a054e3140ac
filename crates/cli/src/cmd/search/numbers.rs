//! Numbers of the command line.

/// A number from 0 to 100.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok();
    let percent = percent.filter(|percent: &f64| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| "write a number from 0 to 100".into())
}

/// A number above 0.
pub(super) fn evalue(text: &str) -> Result<f64, String> {
    let evalue = text
        .parse()
        .ok()
        .filter(|&evalue: &f64| evalue > 0.0 && evalue.is_finite());
    evalue.ok_or_else(|| "write a number above 0, such as 1e-3".into())
}

/// A number between 0 and 0.5.
pub(super) fn part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok();
    let part = part.filter(|&part: &f64| part > 0.0 && part < 0.5);
    part.ok_or_else(|| "write a number between 0 and 0.5, such as 0.1".into())
}
