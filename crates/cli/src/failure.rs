//! How a run can fail: the exit code and the sentence.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::{self, ErrorKind};

use clap::error::ErrorKind as ErrorKindOfUsage;
use gyrase_files::OutputError;

/// The documented exit codes (`docs/errors.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Nothing went wrong after all: the reader of our output has seen enough.
    Done = 0,
    /// Arguments that make no sense.
    Usage = 1,
    /// A database that is missing, corrupt or of another version, or a temporary file that was
    /// damaged.
    Database = 2,
    /// A fault of Gyrase itself.
    Internal = 3,
    /// Not enough memory, predicted or hit.
    Memory = 4,
    /// Files that did not come or did not arrive, or an address that cannot be listened at.
    Network = 5,
    /// An output or a temporary file that cannot be written.
    Output = 6,
    /// Input that cannot be read, is truncated or malformed.
    Input = 7,
    /// MPI that is missing or failed, or a GPU that was asked for and
    /// cannot be used.
    Mpi = 8,
    /// Hang-up.
    HangUp = 129,
    /// Interrupted from the keyboard.
    Interrupted = 130,
    /// Asked to end.
    Terminated = 143,
}

impl Code {
    /// Whether a signal asked the run to stop.
    pub fn is_signal(self) -> bool {
        matches!(self, Code::HangUp | Code::Interrupted | Code::Terminated)
    }
}

/// What stopped a run.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: Code,
    /// One or two sentences that a person can act on.
    pub message: String,
}

/// The result of everything that a verb does.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure in our own words.
    pub fn new(code: Code, message: impl Display) -> Failure {
        Failure {
            code,
            message: message.to_string(),
        }
    }

    /// Arguments that make no sense.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(Code::Usage, message)
    }

    /// A library's error. A closed pipe behind it is no failure, whatever `code` says.
    pub fn from_error(code: Code, error: &(dyn Error + 'static)) -> Failure {
        let code = if chain(error).any(is_closed_pipe) {
            Code::Done
        } else {
            code
        };
        Failure::new(code, sentence(error))
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Error for Failure {}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        Failure::from_error(Code::Output, &error)
    }
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| {
        error.source()
    })
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// The error and its causes, those left out that the sentence already holds.
fn sentence(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    for cause in chain(error).skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// What the argument parser says, or what is to be typed `instead`, in one line.
pub fn misuse(error: &clap::Error, instead: Option<String>) -> Failure {
    Failure::usage(instead.unwrap_or_else(|| in_short(error)))
}

/// Prints what the argument parser says (help included), or what is to be typed `instead`, and
/// gives the exit code for it. Where a `logger` is there, it is told errors in one line.
pub fn usage(error: &clap::Error, instead: Option<String>, logger: bool) -> u8 {
    if logger && error.use_stderr() {
        let code = Code::Usage as u8;
        let said = misuse(error, instead).message;
        tracing::error!(exit_code = code, "{said}");
        return code;
    }
    if let Some(instead) = instead {
        eprintln!("gyrase: error: {instead}");
        return Code::Usage as u8;
    }
    // The same prefix as every error has; help that nobody asked for by name is none.
    if error.use_stderr()
        && error.kind() != ErrorKindOfUsage::DisplayHelpOnMissingArgumentOrSubcommand
    {
        eprint!("gyrase: ");
    }
    // Whoever closed the pipe has seen enough of the help.
    let _ = error.print();
    (if error.use_stderr() {
        Code::Usage
    } else {
        Code::Done
    }) as u8
}

/// What the argument parser says, in one line: without the usage, and without help that nobody
/// asked for.
fn in_short(error: &clap::Error) -> String {
    if error.kind() == ErrorKindOfUsage::DisplayHelpOnMissingArgumentOrSubcommand {
        return "arguments are missing; add --help to see which there are".into();
    }
    let text = error.to_string();
    let of_all = ["Usage:", "For more information"];
    let told = text
        .split("\n\n")
        .map(str::trim)
        .filter(|part| !part.is_empty() && !of_all.iter().any(|start| part.starts_with(start)));
    let lines: Vec<String> = told
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let line = lines.join("; ");
    line.strip_prefix("error: ").unwrap_or(&line).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let wrap = |kind| OutputError {
            path: "x".into(),
            source: io::Error::from(kind),
        };
        assert_eq!(Failure::from(wrap(ErrorKind::BrokenPipe)).code, Code::Done);
        assert_eq!(
            Failure::from(wrap(ErrorKind::StorageFull)).code,
            Code::Output
        );
    }

    #[test]
    fn causes_are_said_once() {
        let error = OutputError {
            path: "x".into(),
            source: io::Error::other("it is a directory"),
        };
        assert_eq!(sentence(&error), "cannot write x: it is a directory");
    }
}
