//! Reports of jobs that are done, as answers that flow.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::stream;
use gyrase_search::ReportFormat;
use gyrase_work::Progress;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::app::App;
use super::refusal::Refusal;
use crate::engine::ReportError;
use crate::job::{Job, State};

/// Bytes that are sent at a time.
const PIECE: usize = 64 << 10;
/// Pieces that wait to be sent.
const AHEAD: usize = 4;
/// How long a client may take none.
const PATIENCE: Duration = Duration::from_secs(30);

/// A format of reports, by its name in the interfaces.
#[derive(Clone, Copy, Debug)]
pub struct NamedFormat {
    /// Its name.
    pub name: &'static str,
    /// As `gyrase search --format` has it.
    pub format: &'static str,
    /// What it is, for people.
    pub told: &'static str,
    /// The ending of its files.
    pub ending: &'static str,
    /// Its media type.
    pub media: &'static str,
}

const fn format(
    name: &'static str,
    format: &'static str,
    told: &'static str,
    [ending, media]: [&'static str; 2],
) -> NamedFormat {
    NamedFormat {
        name,
        format,
        told,
        ending,
        media,
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

/// What may be downloaded.
pub const FORMATS: [NamedFormat; 14] = [
    format(
        "tsv",
        "6",
        "Table",
        ["tsv", "text/tab-separated-values; charset=utf-8"],
    ),
    format("commented", "7", "Table with comments", ["tsv", TEXT]),
    format(
        "csv",
        "10",
        "Table with commas",
        ["csv", "text/csv; charset=utf-8"],
    ),
    format("text", "0", "Pairwise text", ["txt", TEXT]),
    format("anchored", "1", "Text along the query, dots", ["txt", TEXT]),
    format(
        "anchored-letters",
        "2",
        "Text along the query, letters",
        ["txt", TEXT],
    ),
    format(
        "flat",
        "3",
        "Flat text along the query, dots",
        ["txt", TEXT],
    ),
    format(
        "flat-letters",
        "4",
        "Flat text along the query, letters",
        ["txt", TEXT],
    ),
    format("xml", "5", "BLAST XML", ["xml", "application/xml"]),
    format("xml2", "16", "BLAST XML 2", ["xml", "application/xml"]),
    format("json", "15", "BLAST JSON", ["json", "application/json"]),
    format(
        "jsonl",
        "jsonl",
        "JSON, a line for each query",
        ["jsonl", "application/jsonl"],
    ),
    format("sam", "17", "SAM", ["sam", TEXT]),
    format("paf", "paf", "PAF", ["paf", TEXT]),
];

/// The format of a name.
///
/// # Errors
/// There is none.
pub fn named(name: &str) -> Result<NamedFormat, Refusal> {
    let found = FORMATS.into_iter().find(|format| format.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        Refusal::bad(format!(
            "there is no format {name:?}: choose {}",
            names.join(", ")
        ))
    })
}

/// A job, if there is one.
///
/// # Errors
/// There is none.
pub async fn job(app: &Arc<App>, id: &str) -> Result<Job, Refusal> {
    if !crate::job::is_id(id) {
        return Err(Refusal::unknown());
    }
    let (engine, id) = (Arc::clone(&app.engine), id.to_string());
    let found = app.blocking(move || Ok(engine.store().job(&id)?)).await?;
    found.ok_or_else(Refusal::unknown)
}

/// Deletes a job.
///
/// # Errors
/// There is none.
pub async fn delete(app: &Arc<App>, id: String) -> Result<(), Refusal> {
    let engine = Arc::clone(&app.engine);
    match app.blocking(move || Ok(engine.delete(&id)?)).await? {
        true => Ok(()),
        false => Err(Refusal::unknown()),
    }
}

/// What stands around a report, and what is changed in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// Before it.
    pub before: &'static str,
    /// Behind it.
    pub behind: &'static str,
    /// Whether it stands in HTML.
    pub is_escaped: bool,
}

/// The report of a job that is done, as the body of an answer: of all queries, or of some. What
/// fails before the first piece is an error; what fails later ends the connection.
///
/// # Errors
/// The job is not done, or its report cannot be made.
pub async fn report(
    app: &Arc<App>,
    job: Job,
    format: &str,
    queries: Option<Range<usize>>,
    frame: Frame,
) -> Result<Body, Refusal> {
    if job.state != State::Done {
        return Err(Refusal::new(StatusCode::CONFLICT, "the job has no result"));
    }
    let format: ReportFormat = format.parse().expect("a format");
    let permit = app.may_report(&job).await?;
    let (sender, mut pieces) = mpsc::channel::<Result<Bytes, ReportError>>(AHEAD);
    let engine = Arc::clone(&app.engine);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut out = Pieces {
            piece: frame.before.as_bytes().to_vec(),
            sender: &sender,
            runtime: Handle::current(),
            is_escaped: frame.is_escaped,
        };
        let progress = Progress::default();
        let made = engine.report(&job, format, queries, &progress, &mut out);
        let made = made.and_then(|()| {
            out.piece.extend_from_slice(frame.behind.as_bytes());
            Ok(out.flush()?)
        });
        if let Err(error) = made {
            let _ = sender.blocking_send(Err(error));
        }
    });
    let first = match pieces.recv().await {
        Some(Err(error)) => return Err(error.into()),
        Some(Ok(first)) => first,
        None => Bytes::new(),
    };
    let rest = stream::unfold(pieces, |mut pieces| async {
        pieces.recv().await.map(|piece| (piece, pieces))
    });
    let first = stream::once(async { Ok(first) });
    Ok(Body::from_stream(futures_util::StreamExt::chain(
        first, rest,
    )))
}

/// Text that is sent piece by piece.
struct Pieces<'s> {
    piece: Vec<u8>,
    sender: &'s mpsc::Sender<Result<Bytes, ReportError>>,
    runtime: Handle,
    is_escaped: bool,
}

impl Write for Pieces<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        match self.is_escaped {
            true => escape(&mut self.piece, text),
            false => self.piece.extend_from_slice(text),
        }
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = std::mem::take(&mut self.piece);
        let sent = self.sender.send_timeout(Ok(piece.into()), PATIENCE);
        // Whoever takes nothing holds the turn of somebody else.
        let sent = self.runtime.block_on(sent);
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

fn escape(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            _ => out.push(byte),
        }
    }
}
