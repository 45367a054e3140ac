//! Reports of jobs that are done, as answers that flow.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use gyrase_search::ReportFormat;
use gyrase_work::Progress;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::app::App;
use super::refusal::Refusal;
use crate::error::ReportError;
use crate::job::{Job, JobKind, State};
use crate::reads::LINES;

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
const TABLE: &str = "text/tab-separated-values; charset=utf-8";
/// The media type of pages.
pub const HTML: &str = "text/html; charset=utf-8";
const GZIP: &str = "application/gzip";

/// What may be downloaded of searches.
pub const FORMATS: [NamedFormat; 15] = [
    format("tsv", "6", "Table", ["tsv", TABLE]),
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
    format(
        "fasta",
        "fasta",
        "FASTA of what is aligned of subjects",
        ["fa", TEXT],
    ),
];

/// What may be downloaded of classified reads: files of the result.
const CLASSIFIED: [NamedFormat; 10] = [
    format("lines", LINES, "A line for each read", ["tsv.gz", GZIP]),
    format(
        "kreport",
        "kreport",
        "Report of taxa, as Kraken 2's",
        ["kreport", TEXT],
    ),
    format(
        "kreport-evidence",
        "kreport-evidence",
        "The same with distinct k-mers",
        ["kreport", TEXT],
    ),
    format(
        "evidence",
        "evidence",
        "What speaks for each taxon",
        ["tsv", TABLE],
    ),
    format("mpa", "mpa", "MetaPhlAn's table", ["tsv", TABLE]),
    format("cami", "cami", "CAMI profile", ["profile", TEXT]),
    format("taxpasta", "taxpasta", "taxpasta's table", ["tsv", TABLE]),
    format("bracken", "bracken", "Bracken's table", ["tsv", TABLE]),
    format(
        "abundance",
        "abundance",
        "Shares of reads and genomes",
        ["tsv", TABLE],
    ),
    format("html", "html", "Page", ["html", HTML]),
];

/// What may be downloaded of k-mers that were looked up.
const COUNTED: [NamedFormat; 1] = [format(
    "lines",
    LINES,
    "A line for each sequence",
    ["tsv.gz", GZIP],
)];

/// What may be downloaded of a kind of job.
pub fn formats(kind: JobKind) -> &'static [NamedFormat] {
    match kind {
        JobKind::Search => &FORMATS,
        JobKind::Classify => &CLASSIFIED,
        JobKind::Kmers => &COUNTED,
    }
}

/// The format of a name; the first of the kind where none is named.
///
/// # Errors
/// There is none.
pub fn named(kind: JobKind, name: Option<&str>) -> Result<NamedFormat, Refusal> {
    let formats = formats(kind);
    let Some(name) = name else {
        return Ok(formats[0]);
    };
    let found = formats.iter().find(|format| format.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
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
pub fn job(app: &App, id: &str) -> Result<Job, Refusal> {
    if !crate::job::is_id(id) {
        return Err(Refusal::unknown());
    }
    app.engine.store().job(id)?.ok_or_else(Refusal::unknown)
}

/// Deletes a job.
///
/// # Errors
/// There is none.
pub async fn delete(app: &Arc<App>, id: String) -> Result<(), Refusal> {
    if !crate::job::is_id(&id) {
        return Err(Refusal::unknown());
    }
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
        return Err(Refusal::without_result());
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

/// A file of the result of a job of reads that is done, as the body of an answer.
///
/// # Errors
/// The job is not done, or the file cannot be read.
pub async fn file(app: &Arc<App>, job: &Job, name: &str) -> Result<Body, Refusal> {
    if job.state != State::Done {
        return Err(Refusal::without_result());
    }
    let path = app.engine.read_folder(&job.id).result(name);
    let opened = app.blocking(move || File::open(path).map_err(|error| Refusal::internal(&error)));
    let file = opened.await?;
    let pieces = stream::unfold(Some(file), |file| async {
        let mut file = file?;
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::with_capacity(PIECE);
            let read = (&mut file).take(PIECE as u64).read_to_end(&mut piece);
            read.map(|_| (piece, file))
        });
        match read.await.map_err(io::Error::other).flatten() {
            Ok((piece, _)) if piece.is_empty() => None,
            Ok((piece, file)) => Some((Ok(Bytes::from(piece)), Some(file))),
            Err(error) => Some((Err(error), None)),
        }
    });
    Ok(Body::from_stream(pieces))
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
