//! `gyrase receive`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::{bytes, things};
use gyrase_search::ReportFormat;
use gyrase_transfer::{Arrived, Event, PublicKey, Receiver, Receiving, TransferError};
use serde_json::json;

use super::key::OwnKey;
use super::search::{names, regenerate::Regenerate};
use super::send::PORT;
use crate::failure::{Failure, Result};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase key                                            here, for them
  gyrase receive -o arrived/ --from 64DIGITS            once
  gyrase receive -o arrived/ --from 64DIGITS --stay     until Ctrl-C
  gyrase receive -o arrived/ --from 64DIGITS \\
      --db replica.gysd --regenerate hits.xml --format 5

64DIGITS is what `gyrase key` prints where `gyrase send` is run. Nobody else can
send, and nobody on the way can read or change what is sent. A file has its name
once it is whole; what arrived before a cut is FILE.partial, and sending goes on
behind it.";

/// Receive files that `gyrase send` sends from another machine.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Receive {
    /// Folder for what arrives
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,

    /// Keys of those who may send: what `gyrase key` prints there
    #[arg(long, value_name = "64DIGITS", required = true, num_args = 1..)]
    from: Vec<PublicKey>,

    /// Address and port to wait at
    #[arg(long, value_name = "ADDRESS", default_value_t = format!("0.0.0.0:{PORT}"))]
    listen: String,

    #[command(flatten)]
    own: OwnKey,

    /// Go on waiting for others, until Ctrl-C
    #[arg(long)]
    stay: bool,

    /// Let what arrives replace files that are there
    #[arg(long)]
    replace: bool,

    /// Make the report of a search of the metadata (.gym) and the queries that arrive, as `gyrase
    /// regenerate` does, in this file
    #[arg(long, value_name = "FILE", requires = "db", conflicts_with = "stay")]
    #[arg(help_heading = "Regenerate")]
    regenerate: Option<PathBuf>,

    /// A replica of the database that was searched: the same sequences in the same order
    #[arg(long, value_name = "DB", num_args = 1.., requires = "regenerate")]
    #[arg(help_heading = "Regenerate")]
    db: Vec<PathBuf>,

    /// Format, as of `gyrase search` [default: the one that was asked of the search]
    #[arg(long, value_name = "FORMAT", requires = "regenerate")]
    #[arg(help_heading = "Regenerate")]
    format: Option<ReportFormat>,

    /// NCBI dump or table of lineages, if the search was of some taxids and named one
    #[arg(long, value_name = "PATH", requires = "regenerate")]
    #[arg(help_heading = "Regenerate")]
    taxonomy: Option<PathBuf>,
}

impl Receive {
    /// Waits for files.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart(&self.db, &self.regenerate)?;
        if !self.output.is_dir() {
            let folder = self.output.display();
            return Err(Failure::usage(format!(
                "there is no folder {folder}; make it first"
            )));
        }
        let key = self.own.open()?;
        let receiver = Receiver::bind(Receiving {
            listen: self.listen.clone(),
            folder: self.output.clone(),
            key: key.clone(),
            senders: self.from.clone(),
            replace: self.replace,
        })?;
        tracing::info!(
            "waiting at {}; the key here is {}",
            receiver.address(),
            key.public()
        );
        let mut last = None;
        session.shown(|progress| {
            receiver.run(progress, |event| {
                match event {
                    Event::Arrived(arrived) => {
                        tell(&arrived);
                        last = Some(arrived);
                        return Ok(self.stay);
                    }
                    Event::Failed(error) => self.failed(error)?,
                    Event::NotLetIn(error) => not_let_in(error),
                }
                Ok::<_, Failure>(true)
            })
        })?;
        let Some(arrived) = last else {
            return Ok(());
        };
        session.note("files", names(&arrived.files));
        session.note(
            "bytes",
            json!({"files": arrived.bytes, "received": arrived.received}),
        );
        self.regenerate(arrived.files, session)
    }

    /// Says why something did not arrive. Where nothing can be written no other try helps.
    fn failed(&self, error: TransferError) -> Result<()> {
        match error {
            TransferError::Output(error) if !self.stay => Err(error.into()),
            error => {
                let kept = match error.is_of_the_line() {
                    true => "; what arrived is kept",
                    false => "",
                };
                tracing::warn!("{}{kept}; still waiting", Failure::from(error));
                Ok(())
            }
        }
    }

    /// Makes the report of what arrived, if anybody wants it.
    fn regenerate(self, files: Vec<PathBuf>, session: &Session) -> Result<()> {
        if self.regenerate.is_none() {
            return Ok(());
        }
        let is_metadata = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gym");
        let (metadata, queries): (Vec<_>, Vec<_>) = files.into_iter().partition(is_metadata);
        let [metadata] = <[PathBuf; 1]>::try_from(metadata).map_err(|found| {
            let found = things(found.len() as u64, "file of metadata");
            Failure::usage(format!(
                "{found} (.gym) arrived; --regenerate takes one, and its queries"
            ))
        })?;
        let again = Regenerate {
            metadata,
            queries,
            db: self.db,
            output: self.regenerate,
            format: self.format,
            taxonomy: self.taxonomy,
        };
        again.run(session)
    }
}

fn tell(arrived: &Arrived) {
    let before = match arrived.bytes - arrived.received {
        0 => String::new(),
        before => format!(", {} of it here before", bytes(before)),
    };
    tracing::info!(
        "{} with {}{before}, from {}: {}",
        things(arrived.files.len() as u64, "file"),
        bytes(arrived.bytes),
        arrived.sender,
        names(&arrived.files).join(", ")
    );
}

/// Says who was not let in; strangers that look what is at this port are nobody's business.
fn not_let_in(error: TransferError) {
    match error {
        TransferError::OtherKey { peer, found } => {
            tracing::warn!("{peer} was not let in; --from {found} lets in who has that key")
        }
        error => tracing::debug!("{error}"),
    }
}
