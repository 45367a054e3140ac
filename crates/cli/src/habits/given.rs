//! The options that a verb was given.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::parser::ValueSource;

use crate::cmd::Cli;

/// Options of the verb itself, each as `--name` or `--name=value`, in no matter which way they were
/// written; an option of several values comes several times.
pub fn given(args: &[OsString]) -> Vec<String> {
    let gyrase = Cli::command();
    let Ok(matches) = gyrase.clone().try_get_matches_from(args) else {
        return Vec::new();
    };
    let Some((verb, own)) = matches.subcommand() else {
        return Vec::new();
    };
    let options = gyrase.find_subcommand(verb).into_iter();
    let mut words = Vec::new();
    for option in options.flat_map(clap::Command::get_arguments) {
        let (id, Some(name)) = (option.get_id().as_str(), option.get_long()) else {
            continue;
        };
        if own.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if !option.get_action().takes_values() {
            words.push(format!("--{name}"));
            continue;
        }
        let values = own.get_raw(id).into_iter().flatten();
        words.extend(values.map(|value| format!("--{name}={}", value.to_string_lossy())));
    }
    words
}
