//! What words of the command line mean, and those of jobs.

use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use clap::{Command, CommandFactory, FromArgMatches, Parser};
use gyrase_classify::Columns;
use gyrase_serve::{NamedDatabase, ReadOptions};
use gyrase_taxonomy::Rank;

use crate::cmd::classify::{Thresholds, rank};
use crate::cmd::search::{SearchOptions, Taxids};

/// The words of a search.
#[derive(Parser)]
#[command(name = "search", no_binary_name = true, disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    taxids: Taxids,

    #[command(flatten)]
    options: SearchOptions,
}

/// The words of a classification.
#[derive(Parser)]
#[command(name = "classify", no_binary_name = true, disable_help_flag = true)]
struct ClassifyWords {
    #[command(flatten)]
    thresholds: Thresholds,

    #[arg(long)]
    locations: bool,

    #[arg(long)]
    interleaved: bool,

    #[arg(long, value_parser = rank, default_value = "species")]
    abundance: Rank,
}

/// What the words of a search mean.
pub fn search_options(words: &[String]) -> Result<gyrase_search::Config, String> {
    // What the options are takes longer to say than to ask, and jobs are many.
    static COMMAND: LazyLock<Mutex<Command>> = LazyLock::new(|| Mutex::new(Words::command()));
    let mut command = COMMAND.lock().unwrap_or_else(PoisonError::into_inner);
    let words: Words = parsed(&mut command, words)?;
    Ok(gyrase_search::Config {
        taxids: words.taxids.filter(),
        ..words.options.config()
    })
}

/// What the words of a classification mean.
pub fn classify_options(words: &[String]) -> Result<ReadOptions, String> {
    let words: ClassifyWords = parsed(&mut ClassifyWords::command(), words)?;
    Ok(ReadOptions {
        rule: words.thresholds.rule(),
        columns: Columns {
            locations: words.locations,
            confidence: words.thresholds.with_confidence,
        },
        interleaved: words.interleaved,
        rank: words.abundance,
    })
}

fn parsed<W: FromArgMatches>(command: &mut Command, words: &[String]) -> Result<W, String> {
    let matches = command.try_get_matches_from_mut(words);
    let words = matches.and_then(|matches| W::from_arg_matches(&matches));
    words.map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").to_string()
    })
}

/// Text before and behind a `=`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let (name, rest) = text.split_once('=').ok_or("write NAME=...")?;
    Ok((name.into(), rest.into()))
}

/// The origin of pages, as browsers write it.
pub fn origin(text: &str) -> Result<String, String> {
    let rest = text
        .strip_prefix("https://")
        .or(text.strip_prefix("http://"));
    let is_host = |rest: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        !rest.is_empty() && rest.bytes().all(plain)
    };
    match rest.is_some_and(is_host) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("write https:// and a host, and nothing behind".into()),
    }
}

/// Files by a name.
pub fn named(text: &str) -> Result<NamedDatabase, String> {
    let (name, files) = pair(text)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_plain) {
        return Err("a name has letters, digits, `.`, `_` and `-`, at most 64".into());
    }
    if files.split(',').any(str::is_empty) {
        return Err("name files behind the `=`, with commas between them".into());
    }
    Ok(NamedDatabase {
        name,
        description: String::new(),
        files: files.split(',').map(PathBuf::from).collect(),
    })
}
