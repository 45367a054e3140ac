//! What of the options of a search its metadata keep.

use gyrase_search::ReportFormat;

use crate::session::Session;

/// Options of a search that are no parameters of it: where things are, and what is written.
const NO_PARAMETERS: [&str; 7] = [
    "db",
    "output",
    "metadata",
    "metadata-alignments",
    "resume",
    "why",
    "taxonomy",
];

/// The format of metadata, with the parameters of this run, and with alignments or without.
pub fn metadata_format(session: &Session, alignments: bool) -> ReportFormat {
    let is_parameter = |option: &&String| {
        let name = option.trim_start_matches("--").split('=').next();
        name.is_some_and(|name| !NO_PARAMETERS.contains(&name))
    };
    let options = session.options.iter().filter(is_parameter);
    ReportFormat::metadata(options.cloned().collect(), alignments)
}
