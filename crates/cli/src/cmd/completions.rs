//! `gyrase completions`.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Result;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase completions bash > ~/.local/share/bash-completion/completions/gyrase
  gyrase completions zsh > ~/.zfunc/_gyrase
  gyrase completions fish > ~/.config/fish/completions/gyrase.fish";

/// Print the completion script of a shell.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub fn run(&self, mut root: Command) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut root, "gyrase", &mut script);
        sink::write_all(None, &script)
    }
}
