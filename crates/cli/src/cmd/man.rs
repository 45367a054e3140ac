//! `gyrase man`.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, Command};
use clap_mangen::Man as Page;

use super::cite;
use crate::args::Common;
use crate::failure::{Code, Failure, Result};
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase man | man -l -                    read the page of gyrase
  gyrase man count | man -l -              read the page of one verb
  gyrase man --all ~/.local/share/man/man1  install every page";

/// The program, whose page has the options of every verb.
const ROOT: &str = "gyrase";

/// Bytes of a line of text: longer ones are bad style to `mandoc -Tlint`.
const WIDTH: usize = 80;

/// Print a manual page, or write one for every verb into a folder.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Man {
    /// The verb, such as `count` or `kmers histo` [default: the page of gyrase]
    #[arg(value_name = "VERB", conflicts_with = "all")]
    verb: Vec<String>,

    /// Write the page of every verb into this folder
    #[arg(long, value_name = "DIR")]
    all: Option<PathBuf>,
}

impl Man {
    /// True where a page is printed, and none is written.
    pub fn prints(&self) -> bool {
        self.all.is_none()
    }

    /// Prints the page, or writes them all.
    pub fn run(&self, mut root: Command) -> Result<()> {
        root.build();
        match &self.all {
            Some(folder) => write_pages(&root, folder),
            None => sink::write_all(None, &render(find(&root, &self.verb)?)?),
        }
    }
}

fn find<'a>(root: &'a Command, verb: &[String]) -> Result<&'a Command> {
    verb.iter().try_fold(root, |command, word| {
        command
            .find_subcommand(word)
            .ok_or_else(|| Failure::usage(format!("there is no verb \"{}\"", verb.join(" "))))
    })
}

fn write_pages(command: &Command, folder: &Path) -> Result<()> {
    let name = format!("{}.1", name(command));
    sink::write_all(Some(&folder.join(name)), &render(command)?)?;
    command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .try_for_each(|verb| write_pages(verb, folder))
}

/// The name of the page of a verb: `gyrase-kmers-histo`.
fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(ROOT).replace(' ', "-")
}

/// What the page shows: the options of every verb stand on that of gyrase alone.
fn shown(command: &Command) -> Command {
    let is_root = name(command) == ROOT;
    let common: Vec<_> = Common::augment_args(Command::new(""))
        .get_arguments()
        .map(|option| option.get_id().clone())
        .collect();
    let show = |option: Arg| {
        let is_elsewhere = !is_root && common.contains(option.get_id());
        let hide = option.is_hide_set() || is_elsewhere;
        option.hide(hide).hide_short_help(false)
    };
    command
        .clone()
        .display_name(name(command))
        .version(None::<&str>)
        .long_version(None::<&str>)
        .mut_args(show)
}

fn render(command: &Command) -> Result<Vec<u8>> {
    let (name, shown) = (name(command), shown(command));
    let page = Page::new(shown.clone())
        .title(name.to_uppercase())
        .date(cite::released())
        .source(concat!("gyrase ", env!("CARGO_PKG_VERSION")))
        .manual("Gyrase");
    let mut text = Vec::new();
    let mut sections = || -> io::Result<()> {
        page.render_title(&mut text)?;
        page.render_name_section(&mut text)?;
        let usage = shown.clone().render_usage().to_string();
        text.extend(synopsis(&usage).into_bytes());
        page.render_description_section(&mut text)?;
        if shown.get_arguments().any(|option| !option.is_hide_set()) {
            page.render_options_section(&mut text)?;
        }
        if shown.has_subcommands() {
            page.render_subcommands_section(&mut text)?;
        }
        let notes = shown.get_after_help().map(ToString::to_string);
        text.extend(verbatim(&notes.unwrap_or_default()).into_bytes());
        text.extend(see_also(&name).into_bytes());
        Ok(())
    };
    sections().map_err(|error| Failure::new(Code::Internal, error))?;
    // An empty line breaks the line by itself.
    let text = String::from_utf8_lossy(&text).replace("\n.br\n\n.br\n", "\n.br\n");
    Ok(wrapped(&text).into_bytes())
}

/// How the verb is written, as `--help` says it.
fn synopsis(usage: &str) -> String {
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim);
    let lines: Vec<String> = usage.filter(|line| !line.is_empty()).map(escaped).collect();
    format!(".SH SYNOPSIS\n.nf\n{}\n.fi\n", lines.join("\n"))
}

/// The page with its text in lines of [`WIDTH`] bytes; roff fills them anew.
fn wrapped(page: &str) -> String {
    let (mut to, mut filled) = (String::new(), true);
    for line in page.lines() {
        match line {
            ".nf" => filled = false,
            ".fi" => filled = true,
            _ => {}
        }
        if filled && !line.starts_with(['.', '\'']) {
            wrap(line, &mut to);
        } else {
            to += line;
        }
        to.push('\n');
    }
    to
}

/// Appends a line of text, broken at spaces, but not at those that roff keeps (`\ `). A word that
/// would be a request at the start of a line is kept from that.
fn wrap(line: &str, to: &mut String) {
    let mut length = 0;
    for piece in line.split_inclusive(' ') {
        let word = piece.trim_end_matches(' ');
        let is_free = to.ends_with(' ') && !to.ends_with("\\ ") && !word.is_empty();
        if is_free && length + word.len() > WIDTH {
            to.truncate(to.trim_end_matches(' ').len());
            to.push('\n');
            length = 0;
            if word.starts_with(['.', '\'']) {
                to.push_str("\\&");
                length = 2;
            }
        }
        to.push_str(piece);
        length += piece.len();
    }
}

/// Examples and what stands below them, line by line as `--help` has them.
fn verbatim(notes: &str) -> String {
    let Some(examples) = notes.strip_prefix("Examples:\n") else {
        return String::new();
    };
    let (examples, notes) = examples.split_once("\n\n").unwrap_or((examples, ""));
    let mut page = format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(examples));
    if !notes.is_empty() {
        page += &format!(".SH NOTES\n{}\n", escaped(notes));
    }
    page
}

/// Where the rest is said.
fn see_also(name: &str) -> String {
    match name {
        ROOT => String::new(),
        _ => ".SH SEE ALSO\n.BR gyrase (1):\nthe options of every verb\n".into(),
    }
}

/// Text that roff takes for nothing but text.
fn escaped(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        match line.starts_with(['.', '\'']) {
            true => format!("\\&{line}"),
            false => line,
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_request_of_roff() {
        assert_eq!(escaped(".SH\n'x a\\n-o"), "\\&.SH\n\\&'x a\\en\\-o");
    }

    #[test]
    fn text_is_broken_where_that_changes_nothing() {
        let [word, long] = ["x".repeat(39), "y".repeat(41)];
        let same = |text: &str| assert_eq!(wrapped(text), text);
        same(&format!("{word} {}\n", "z".repeat(40)));
        same(&format!(".BR {word} {long}\n.nf\n{word} {long}\n.fi\n"));
        same(&format!("{word}\\ {long}\n"));
        assert_eq!(
            wrapped(&format!("{word} .{long}\n")),
            format!("{word}\n\\&.{long}\n")
        );
        assert_eq!(
            wrapped(&format!("{word} {long} {word}\n")),
            format!("{word}\n{long}\n{word}\n")
        );
    }
}
