//! `gyrase man`.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::failure::{Code, Failure, Result};
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase man | man -l -                    read the page of gyrase
  gyrase man count | man -l -              read the page of one verb
  gyrase man --all ~/.local/share/man/man1  install every page";

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
    let page = page(command);
    sink::write_all(Some(&folder.join(page.get_filename())), &render(command)?)?;
    command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .try_for_each(|verb| write_pages(verb, folder))
}

fn page(command: &Command) -> Page {
    let name = command.get_bin_name().unwrap_or("gyrase").replace(' ', "-");
    Page::new(command.clone().display_name(name))
}

fn render(command: &Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    page(command)
        .render(&mut text)
        .map_err(|error| Failure::new(Code::Internal, error))?;
    Ok(text)
}
