//! A job of reads from a request: its files go to the disk as they come.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use futures_util::{Stream, StreamExt};
use gyrase_classify::sample_of;
use multer::Field;
use tokio::sync::mpsc;

use super::app::App;
use super::fields::Fields;
use super::refusal::Refusal;
use super::submit::{option, title};
use crate::job::{JobKind, Submission, new_id};
use crate::reads::{ReadDatabase, ReadFolder};

/// How long a client may send nothing.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pieces that wait to be written.
const AHEAD: usize = 8;
/// Bytes of the fields that are no files.
const FIELDS: usize = 1 << 20;
/// What reads are called of which nobody says a name.
const NAMELESS: &str = "reads";

/// Options with a value, and without, by what is done with reads.
const CLASSIFY: [&[&str]; 2] = [
    &["confidence", "min-hits", "lowest-rank", "abundance"],
    &["with-confidence", "locations", "interleaved"],
];
const KMERS: [&[&str]; 2] = [&[], &["all"]];

/// What came with a request.
struct Sent {
    folder: NewFolder,
    fields: Fields,
    /// The names of the files as their sender has them: reads, mates.
    names: [Option<String>; 2],
    /// Bytes of the files, and of the fields.
    bytes: u64,
    kept: usize,
}

/// The folder of a job that is not accepted yet; gone with this value.
struct NewFolder(Option<ReadFolder>);

impl NewFolder {
    fn folder(&self) -> &ReadFolder {
        self.0.as_ref().expect("it is there until it is kept")
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            folder.remove();
        }
    }
}

/// Accepts the job of reads that a request describes by the names of the command line; gives its
/// identifier. The reads are a body of their own, or the files `reads` and `mates` of a form.
///
/// # Errors
/// It does not describe one, or the service is busy.
pub async fn submit_reads(app: &Arc<App>, request: Request<Body>) -> Result<String, Refusal> {
    app.refuse_at_the_end()?;
    let client = app.client(&request);
    let _turn = app.may_upload().await?;
    let id = new_id().map_err(|error| Refusal::internal(&error))?;
    let folder = app.engine.read_folder(&id);
    folder.create().map_err(|error| Refusal::internal(&error))?;
    let mut sent = Sent {
        folder: NewFolder(Some(folder)),
        fields: Fields::of_address(&request),
        names: [None, None],
        bytes: 0,
        kept: 0,
    };
    sent.receive(app, request).await?;
    let own = Arc::clone(app);
    app.blocking(move || sent.accept(&own, id, client)).await
}

impl Sent {
    async fn receive(&mut self, app: &App, request: Request<Body>) -> Result<(), Refusal> {
        let kind = request.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let boundary = multer::parse_boundary(kind).ok();
        let most = app.engine.config().limits.reads;
        let body = request.into_body().into_data_stream();
        let Some(boundary) = boundary else {
            let path = self.folder.folder().sent("reads");
            self.bytes = save(body, &path, most).await?;
            self.names[0] = (self.bytes > 0).then(|| NAMELESS.to_string());
            return Ok(());
        };
        let mut parts = multer::Multipart::new(body, boundary);
        while let Some(part) = arrived(parts.next_field()).await?.map_err(damaged)? {
            match part.name().unwrap_or_default() {
                "reads" => self.save_part(0, part, most).await?,
                "mates" => self.save_part(1, part, most).await?,
                _ => self.keep(part).await?,
            }
        }
        Ok(())
    }

    async fn save_part(&mut self, at: usize, part: Field<'_>, most: u64) -> Result<(), Refusal> {
        let file = ["reads", "mates"][at];
        let name = part.file_name().map(last_name);
        let path = self.folder.folder().sent(file);
        if path.exists() {
            return Err(Refusal::bad(format!("the field {file} is there twice")));
        }
        let bytes = save(part, &path, most - self.bytes).await?;
        match bytes {
            // A file that was not chosen is an empty part.
            0 => drop(std::fs::remove_file(&path)),
            _ => self.names[at] = Some(name.unwrap_or_else(|| NAMELESS.into())),
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Keeps a field that is no file.
    async fn keep(&mut self, mut part: Field<'_>) -> Result<(), Refusal> {
        let name = part.name().unwrap_or_default().to_string();
        let mut value = Vec::new();
        while let Some(piece) = arrived(part.chunk()).await?.map_err(damaged)? {
            value.extend_from_slice(&piece);
            self.kept += piece.len();
            if self.kept > FIELDS {
                let message = format!("the field {name} is too long: send it as a file");
                return Err(Refusal::bad(message));
            }
        }
        self.fields.add(name, value)
    }

    fn accept(mut self, app: &App, id: String, client: String) -> Result<String, Refusal> {
        let (engine, fields) = (&app.engine, &self.fields);
        let database = database(app, fields.text("database")?.unwrap_or_default())?;
        let kind = database.kind();
        if let (Some(text), None) = (fields.bytes("text")?, &self.names[0]) {
            let path = self.folder.folder().sent("reads");
            let written = write(&path, [text].into_iter());
            written.map_err(|error| Refusal::internal(&error))?;
            self.names[0] = Some(NAMELESS.into());
            self.bytes = text.len() as u64;
        }
        let words = words(fields, kind)?;
        if kind == JobKind::Classify {
            (engine.config().classify_options)(&words).map_err(Refusal::bad)?;
        }
        self.check(kind, words.iter().any(|word| word == "--interleaved"))?;
        let [reads, mates] = self
            .names
            .each_ref()
            .map(|name| name.as_deref().map(Path::new));
        let sample = sample_of(reads.unwrap_or(Path::new(NAMELESS)), mates);
        let submission = Submission {
            id: id.clone(),
            kind,
            database: database.named.name.clone(),
            options: words,
            title: title(fields.text("title")?.map_or(sample, Into::into)),
            client,
            fasta: Vec::new(),
            queries: 0,
            letters: self.bytes,
            webhook: app.webhook(fields.text("webhook")?.map(Into::into))?,
        };
        engine
            .store()
            .submit(&submission, &engine.config().limits)?;
        self.folder.0 = None;
        Ok(id)
    }

    /// Finds early that what was sent are no reads.
    fn check(&self, kind: JobKind, interleaved: bool) -> Result<(), Refusal> {
        let folder = self.folder.folder();
        match &self.names {
            [None, _] => return Err(Refusal::bad("there are no reads: send a file of them")),
            [_, Some(_)] if kind == JobKind::Kmers => {
                return Err(Refusal::bad(
                    "k-mers are looked up of one file, not of mates",
                ));
            }
            [_, Some(_)] if interleaved => {
                let message = "mates are in one file (interleaved), or in a second, not both";
                return Err(Refusal::bad(message));
            }
            _ => {}
        }
        let checked = folder.lane(interleaved).check();
        checked.map_err(|error| Refusal::bad(folder.without_place(&error.to_string())))
    }
}

/// The name of a file without what some browsers put before it.
fn last_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().filter(|letter| !letter.is_control()).collect()
}

/// The database of a name for reads.
///
/// # Errors
/// There is none.
pub fn database<'a>(app: &'a App, name: &str) -> Result<&'a ReadDatabase, Refusal> {
    let databases = app.engine.databases();
    databases.of_reads_named(name).ok_or_else(|| {
        let all = databases.of_reads().iter();
        let names: Vec<&str> = all.map(|database| database.named.name.as_str()).collect();
        Refusal::bad(match names.is_empty() {
            true => "this service has no databases for reads".to_string(),
            false => format!(
                "there is no database for reads of the name {name:?}: choose {}",
                names.join(", ")
            ),
        })
    })
}

/// The options of a job as words of the command line.
fn words(fields: &Fields, kind: JobKind) -> Result<Vec<String>, Refusal> {
    let known = if kind == JobKind::Kmers {
        KMERS
    } else {
        CLASSIFY
    };
    let others = |name: &&str| !["database", "title", "text", "webhook"].contains(name);
    let mut words = Vec::new();
    for name in fields.names().filter(others) {
        words.extend(match option(known, name, fields.text(name)?)? {
            Some((name, Some(value))) => Some(format!("--{name}={value}")),
            Some((name, None)) => Some(format!("--{name}")),
            None => None,
        });
    }
    Ok(words)
}

/// What comes, if it comes soon.
async fn arrived<T>(coming: impl Future<Output = T>) -> Result<T, Refusal> {
    let arrived = tokio::time::timeout(PATIENCE, coming).await;
    arrived.map_err(|_| Refusal::slow())
}

fn damaged(error: impl std::fmt::Display) -> Refusal {
    Refusal::bad(format!("the request is damaged: {error}"))
}

/// Writes what comes to a new file, and gives its bytes once the disk has them.
async fn save<E: std::fmt::Display>(
    mut body: impl Stream<Item = Result<Bytes, E>> + Unpin,
    path: &Path,
    most: u64,
) -> Result<u64, Refusal> {
    let (sender, mut pieces) = mpsc::channel::<Bytes>(AHEAD);
    let path = path.to_path_buf();
    let writer = tokio::task::spawn_blocking(move || {
        write(&path, std::iter::from_fn(|| pieces.blocking_recv()))
    });
    let mut bytes = 0;
    while let Some(piece) = arrived(body.next()).await? {
        let piece = piece.map_err(damaged)?;
        bytes += piece.len() as u64;
        if bytes > most {
            let message = "these are more reads than the service takes: divide them";
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        if sender.send(piece).await.is_err() {
            break;
        }
    }
    drop(sender);
    let written = writer.await.map_err(|error| Refusal::internal(&error))?;
    written.map_err(|error| Refusal::internal(&error))?;
    Ok(bytes)
}

/// Writes pieces to a new file; the disk has it and its name then.
fn write<P: AsRef<[u8]>>(path: &Path, mut pieces: impl Iterator<Item = P>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    pieces.try_for_each(|piece| file.write_all(piece.as_ref()))?;
    file.sync_all()?;
    // The folder of the job, that of all, and that of the service.
    let mut folders = path.ancestors().skip(1).take(3);
    folders.try_for_each(|folder| File::open(folder)?.sync_all())
}
