//! A job from the fields of a request.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use gyrase_search::Program;

use super::app::App;
use super::fields::Fields;
use super::refusal::Refusal;
use crate::intake;
use crate::job::{JobKind, Submission, new_id};

/// Options of a search that may be chosen, by the names of the command line, with a value.
const OPTIONS: [&str; 28] = [
    "taxid",
    "not-taxid",
    "evalue",
    "top",
    "max-hsps",
    "query-cover",
    "db-length",
    "db-sequences",
    "culling-limit",
    "best-hit-overhang",
    "best-hit-score-edge",
    "seg",
    "dust",
    "soft-masking",
    "db-mask",
    "gap-open",
    "gap-extend",
    "matrix",
    "comp-based-stats",
    "word-size",
    "template-length",
    "template-type",
    "reward",
    "penalty",
    "strand",
    "perc-identity",
    "query-gencode",
    "db-gencode",
];

/// Those without a value: `true` chooses them.
const FLAGS: [&str; 4] = [
    "fast",
    "exhaustive",
    "subject-besthit",
    "lower-case-masking",
];

/// What is asked for, by whatever interface.
#[derive(Debug, Default)]
pub struct Wanted {
    /// The name of the database.
    pub database: String,
    /// The program, if one was chosen.
    pub program: Option<String>,
    /// Options and their values.
    pub options: Vec<Chosen>,
    /// What people call it.
    pub title: Option<String>,
    /// What was sent as queries.
    pub sent: Vec<u8>,
    /// The URL to which the end of the job is told.
    pub webhook: Option<String>,
}

/// Accepts the job that a request describes by the names of the command line.
///
/// # Errors
/// It does not describe one, or the service is busy.
pub async fn submit_from(app: &Arc<App>, request: Request<Body>) -> Result<String, Refusal> {
    let client = app.client(&request);
    let most = app.engine.config().limits.body;
    let fields = Fields::read(app, request, most, "queries").await?;
    submit(app, wanted(&fields)?, client).await
}

fn wanted(fields: &Fields) -> Result<Wanted, Refusal> {
    let mut wanted = Wanted::default();
    for name in fields.names() {
        let text = || fields.text(name);
        match name {
            "database" => wanted.database = text()?.unwrap_or_default().into(),
            "program" => wanted.program = text()?.map(Into::into),
            "title" => wanted.title = text()?.map(Into::into),
            "webhook" => wanted.webhook = text()?.map(Into::into),
            // Pasted, or a file: the file counts.
            "queries" if fields.bytes("file")?.is_some() => {}
            "queries" | "file" => wanted.sent = fields.bytes(name)?.unwrap_or_default().to_vec(),
            _ => wanted
                .options
                .extend(option([&OPTIONS, &FLAGS], name, text()?)?),
        }
    }
    Ok(wanted)
}

/// An option and its value.
pub type Chosen = (&'static str, Option<String>);

/// An option of those that are known, with a value and without; nothing where it chooses nothing.
///
/// # Errors
/// It is not known, or is neither true nor false.
pub fn option(
    [options, flags]: [&[&'static str]; 2],
    name: &str,
    value: Option<&str>,
) -> Result<Option<Chosen>, Refusal> {
    if let Some(own) = options.iter().find(|own| **own == name) {
        return Ok(value.map(|value| (*own, Some(value.into()))));
    }
    let Some(own) = flags.iter().find(|own| **own == name) else {
        let known = [&["database", "title", "webhook"], options, flags]
            .concat()
            .join(", ");
        return Err(Refusal::bad(format!(
            "there is no field {name:?}: choose {known}"
        )));
    };
    match value {
        Some("true" | "on" | "yes" | "1") => Ok(Some((*own, None))),
        None | Some("false" | "off" | "no" | "0") => Ok(None),
        Some(other) => Err(Refusal::bad(format!(
            "{name}={other}: choose true or false"
        ))),
    }
}

/// Accepts a job; gives its identifier.
///
/// # Errors
/// It is not understood, too much, or the service is busy.
pub async fn submit(app: &Arc<App>, wanted: Wanted, client: String) -> Result<String, Refusal> {
    app.refuse_at_the_end()?;
    let _permit = app.may_submit().await?;
    let own = Arc::clone(app);
    app.blocking(move || accept(&own, wanted, client)).await
}

fn accept(app: &App, wanted: Wanted, client: String) -> Result<String, Refusal> {
    let (engine, limits) = (&app.engine, &app.engine.config().limits);
    let databases = engine.databases();
    let served = databases.named(&wanted.database);
    let served = served.ok_or_else(|| {
        let name = &wanted.database;
        let names = databases.all().iter();
        let names: Vec<&str> = names.map(|served| served.named.name.as_str()).collect();
        Refusal::bad(match databases.of_reads_named(name) {
            Some(_) => format!("the database {name:?} is for reads: send them to /api/v1/reads"),
            None => format!(
                "there is no database of the name {name:?}: choose {}",
                names.join(", ")
            ),
        })
    })?;
    let queries = intake::queries(wanted.sent, limits).map_err(Refusal::bad)?;
    let program = match &wanted.program {
        Some(name) => name
            .parse()
            .map_err(|error| Refusal::bad(format!("{error}")))?,
        None => Program::of([queries.molecule, served.searched.molecule()]),
    };
    let [_, of_subject] = program.molecules();
    if of_subject != served.searched.molecule() {
        return Err(Refusal::bad(format!(
            "{} searches in {of_subject}, and {} holds {}",
            program.name(),
            served.named.name,
            served.searched.molecule()
        )));
    }
    let webhook = app.webhook(wanted.webhook)?;
    let options = words(program, &wanted.options);
    let config = (engine.config().search_options)(&options).map_err(Refusal::bad)?;
    let checked = served.searched.check(&config.taxids);
    checked.map_err(|error| Refusal::bad(served.named.without_paths(error)))?;
    let id = new_id().map_err(|error| Refusal::internal(&error))?;
    let submission = Submission {
        id: id.clone(),
        kind: JobKind::Search,
        database: wanted.database,
        options,
        title: title(wanted.title.unwrap_or(queries.first)),
        client,
        fasta: queries.fasta,
        queries: queries.count,
        letters: queries.letters,
        webhook,
    };
    engine.store().submit(&submission, limits)?;
    Ok(id)
}

/// What people call a job, of which no more is kept than fits a page.
pub fn title(text: String) -> String {
    text.chars().take(200).collect()
}

fn words(program: Program, options: &[(&'static str, Option<String>)]) -> Vec<String> {
    let mut words = vec![format!("--program={}", program.name())];
    for (name, value) in options {
        match value {
            // One word, so that no value is taken for an option.
            Some(value) => words.push(format!("--{name}={value}")),
            None => words.push(format!("--{name}")),
        }
    }
    words
}
