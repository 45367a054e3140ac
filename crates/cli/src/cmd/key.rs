//! `gyrase key`, and where keys are.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_transfer::SecretKey;

use crate::failure::{Failure, Result};
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase key                     64 digits: tell them whom you send to, and get
                                 theirs; see gyrase send and gyrase receive
  gyrase key --secret lab.key    another key, in a file of its own";

/// Print the key by which others know you when you send or receive.
///
/// It is the public half of a pair that is made when it is first asked for. Who has the secret half
/// is taken for you: nobody else may read its file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Key {
    #[command(flatten)]
    own: OwnKey,
}

impl Key {
    /// Prints the public half.
    pub fn run(&self) -> Result<()> {
        let key = self.own.open()?.public();
        sink::write_all(None, format!("{key}\n").as_bytes())
    }
}

/// The key of this end.
#[derive(Debug, Args)]
pub struct OwnKey {
    /// File of your secret key; made where there is none [default: $XDG_CONFIG_HOME/gyrase/key,
    /// else ~/.config/gyrase/key]
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
}

impl OwnKey {
    /// Reads it, or makes it.
    pub fn open(&self) -> Result<SecretKey> {
        let usual = || {
            let folder = |name| std::env::var_os(name).filter(|folder| !folder.is_empty());
            let home = || Some(Path::new(&folder("HOME")?).join(".config"));
            let config = folder("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
            config.map(|config| config.join("gyrase/key"))
        };
        let path = self.secret.clone().or_else(usual).ok_or_else(|| {
            Failure::usage("HOME is not set: name the file of your secret key with --secret")
        })?;
        Ok(SecretKey::open_or_make(&path)?)
    }
}
