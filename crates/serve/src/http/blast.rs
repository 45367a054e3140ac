//! NCBI's URL API, for programs that know it: `/Blast.cgi`.
//!
//! What clients look for in these pages was read in their sources: Biopython, BioPerl, R's
//! annotate, NCBI's `web_blast.pl`, JBrowse. They differ in blanks, so the blanks are meant.

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use gyrase_picture::escape;
use gyrase_search::{Molecule, Program};
use gyrase_work::Progress;
use tokio::time::Instant;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::app::App;
use super::fields::Fields;
use super::pages;
use super::refusal::Refusal;
use super::result::{self, Frame, HTML};
use super::submit::{Chosen, Wanted, submit};
use crate::job::{Job, JobKind, State as JobState};

/// Seconds until a client should ask for the first time.
const SOON: u32 = 3;
/// How long a client waits for a job that has not ended.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/Blast.cgi", any(answer))
        .route("/blast/Blast.cgi", any(answer))
}

async fn answer(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    let answered = answered(&app, request).await;
    answered.unwrap_or_else(|refusal| problem(&refusal))
}

async fn answered(app: &Arc<App>, request: Request<Body>) -> Result<Response, Refusal> {
    let client = app.client(&request);
    let most = app.engine.config().limits.body;
    let fields = Fields::read(app, request, most, "QUERY")
        .await?
        .upper_case();
    let command = fields.text("CMD")?.unwrap_or_default().to_ascii_lowercase();
    match command.as_str() {
        "put" => put(app, &fields, client).await,
        "get" | "" if fields.text("RID")?.is_some() => get(app, &fields).await,
        "delete" => delete(app, &fields).await,
        "info" => Ok(info(app)),
        "displayrids" => Err(Refusal::bad("DisplayRIDs would show the jobs of others")),
        other => Err(Refusal::bad(format!(
            "there is no CMD={other}: choose Put, Get, Delete, Info"
        ))),
    }
}

async fn put(app: &Arc<App>, fields: &Fields, client: String) -> Result<Response, Refusal> {
    let id = submit(app, wanted(fields)?, client).await?;
    let info = format!("QBlastInfoBegin\n    RID = {id}\n    RTOE = {SOON}\nQBlastInfoEnd");
    let link = format!("<p><a href=\"/jobs/{id}\">{id}</a></p>");
    Ok(page(StatusCode::OK, &format!("<!--{info}\n-->\n{link}")))
}

async fn get(app: &Arc<App>, fields: &Fields) -> Result<Response, Refusal> {
    let id = fields.text("RID")?.unwrap_or_default();
    let job = match ended(app, id).await {
        Ok(job) => job,
        Err(refusal) if refusal.status == StatusCode::NOT_FOUND => {
            return Ok(status(StatusCode::NOT_FOUND, "UNKNOWN", ""));
        }
        Err(refusal) => return Err(refusal),
    };
    let only_status = fields.text("FORMAT_OBJECT")?;
    let only_status = only_status.is_some_and(|object| object.eq_ignore_ascii_case("SearchInfo"));
    match job.state {
        JobState::Queued | JobState::Running => Ok(status(StatusCode::OK, "WAITING", "")),
        JobState::Failed => {
            let why = job.problem.as_deref().unwrap_or_default();
            let why = format!("<p class=\"error\">{}</p>\n", escape(why));
            Ok(status(StatusCode::INTERNAL_SERVER_ERROR, "FAILED", &why))
        }
        JobState::Done if only_status => {
            let hits = if job.hits > 0 { "yes" } else { "no" };
            let info = format!("QBlastInfoBegin\n    ThereAreHits={hits}\nQBlastInfoEnd");
            Ok(status(
                StatusCode::OK,
                "READY",
                &format!("<!--\n{info}\n-->\n"),
            ))
        }
        JobState::Done => report(app, job, fields).await,
    }
}

/// A job, once it has ended or a client has waited a while: most ask for the first time at once,
/// and for the second 20 seconds later.
async fn ended(app: &Arc<App>, id: &str) -> Result<Job, Refusal> {
    let end = Instant::now() + PATIENCE;
    let mut changes = app.engine.store().changes();
    loop {
        changes.mark_unchanged();
        let job = result::job(app, id)?;
        if job.kind != JobKind::Search {
            return Err(Refusal::unknown());
        }
        if job.state.has_ended()
            || tokio::time::timeout_at(end, changes.changed())
                .await
                .is_err()
        {
            return Ok(job);
        }
    }
}

async fn delete(app: &Arc<App>, fields: &Fields) -> Result<Response, Refusal> {
    result::delete(app, fields.text("RID")?.unwrap_or_default().into()).await?;
    Ok(page(StatusCode::OK, "<p>The job is deleted.</p>"))
}

fn info(app: &App) -> Response {
    let rows = app.engine.databases().all().iter().map(|served| {
        let size = served.searched.size();
        let (name, molecule) = (&served.named.name, served.molecule());
        format!("{name}\t{molecule}\t{}\t{}\n", size.sequences, size.letters)
    });
    let rows: String = rows.collect();
    page(StatusCode::OK, &format!("<pre>\n{}</pre>", escape(&rows)))
}

/// The report of a job that is done, in the format that is asked for.
async fn report(app: &Arc<App>, job: Job, fields: &Fields) -> Result<Response, Refusal> {
    let view = fields.text("ALIGNMENT_VIEW")?.unwrap_or_default();
    let mut kind = fields
        .text("FORMAT_TYPE")?
        .unwrap_or("HTML")
        .to_ascii_lowercase();
    if kind == "text" && view.eq_ignore_ascii_case("tabular") {
        kind = "tabular".into();
    }
    const READY: Frame = Frame {
        before: "<p><!--\nQBlastInfoBegin\n\tStatus=READY\nQBlastInfoEnd\n--><p>\n<PRE>\n",
        behind: "</PRE>\n",
        is_escaped: true,
    };
    let plain = Frame::default();
    let (format, frame, media) = match kind.as_str() {
        "html" => return pages::report(app, job).await,
        "json2" => return zipped(app, job, "13", "json").await,
        "xml2" => return zipped(app, job, "14", "xml").await,
        "text" => ("0", READY, HTML),
        "tabular" => ("7", READY, HTML),
        "xml" => ("5", plain, "application/xml"),
        "xml2_s" => ("16", plain, "application/xml"),
        "json2_s" => ("15", plain, "application/json"),
        "csv" => ("10", plain, "text/csv; charset=utf-8"),
        "sam" => ("17", plain, "text/plain; charset=utf-8"),
        _ => {
            let all = "HTML, Text, Tabular, XML, XML2, XML2_S, JSON2, JSON2_S, CSV, SAM";
            return Err(Refusal::bad(format!(
                "there is no FORMAT_TYPE={kind}: choose {all}"
            )));
        }
    };
    let body = result::report(app, job, format, None, frame).await?;
    Ok(([(CONTENT_TYPE, media)], body).into_response())
}

/// A document for each query and a list of them, in one file.
async fn zipped(
    app: &Arc<App>,
    job: Job,
    format: &'static str,
    ending: &'static str,
) -> Result<Response, Refusal> {
    let _permit = app.may_report(&job).await?;
    let engine = Arc::clone(&app.engine);
    let zipped = app.blocking(move || {
        let list = format!("{}.{ending}", job.id);
        let format = format.parse().expect("a format");
        Ok(engine.documents(&job, format, &list, &Progress::default(), zip_of)?)
    });
    Ok(([(CONTENT_TYPE, "application/zip")], zipped.await?).into_response())
}

fn zip_of(folder: &Path) -> std::io::Result<Vec<u8>> {
    let mut names = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<Vec<String>>>()?;
    // Shorter names first: the list, then its documents in their order.
    names.sort_by_key(|name| (name.len(), name.clone()));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for name in names.iter().filter(|name| folder.join(name).is_file()) {
        zip.start_file(name.as_str(), SimpleFileOptions::default())?;
        zip.write_all(&std::fs::read(folder.join(name))?)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Fields and the options that they are, of all programs; the first of two counts.
const OF_ALL: [(&str, &str); 5] = [
    ("EXPECT", "evalue"),
    ("HITLIST_SIZE", "top"),
    ("MAX_NUM_SEQ", "top"),
    ("GENETIC_CODE", "query-gencode"),
    ("DB_GENETIC_CODE", "db-gencode"),
];
/// Those of programs that compare proteins.
const OF_PROTEINS: [(&str, &str); 2] = [("MATRIX_NAME", "matrix"), ("MATRIX", "matrix")];
/// Those of programs that compare nucleotides.
const OF_NUCLEOTIDES: [(&str, &str); 6] = [
    ("WORD_SIZE", "word-size"),
    ("NUCL_REWARD", "reward"),
    ("NUCL_PENALTY", "penalty"),
    ("PERC_IDENT", "perc-identity"),
    ("TEMPLATE_LENGTH", "template-length"),
    ("TEMPLATE_TYPE", "template-type"),
];

/// What the fields ask for, in the words of the command line.
fn wanted(fields: &Fields) -> Result<Wanted, Refusal> {
    let program = program(fields)?;
    let compares_proteins = program.compares() == Molecule::Protein;
    let mut wanted = Wanted {
        database: fields.text("DATABASE")?.unwrap_or_default().into(),
        program: Some(program.name().into()),
        title: fields.text("JOB_TITLE")?.map(Into::into),
        sent: fields.bytes("QUERY")?.unwrap_or_default().to_vec(),
        ..Wanted::default()
    };
    let of_molecule = if compares_proteins {
        &OF_PROTEINS[..]
    } else {
        &OF_NUCLEOTIDES
    };
    for &(own, option) in OF_ALL.iter().chain(of_molecule) {
        let there = wanted.options.iter().any(|(name, _)| *name == option);
        if let Some(value) = fields.text(own)?.filter(|_| !there) {
            wanted.options.push((option, Some(value.into())));
        }
    }
    if let Some(costs) = fields.text("GAPCOSTS")? {
        let mut costs = costs.split_whitespace();
        let (Some(open), Some(extend), None) = (costs.next(), costs.next(), costs.next()) else {
            return Err(Refusal::bad("GAPCOSTS: write two numbers, as in \"11 1\""));
        };
        wanted.options.push(("gap-open", Some(open.into())));
        wanted.options.push(("gap-extend", Some(extend.into())));
    }
    masks(fields, compares_proteins, &mut wanted)?;
    statistics(fields, compares_proteins, &mut wanted)?;
    if let Some(query) = fields
        .text("ENTREZ_QUERY")?
        .filter(|value| *value != "(none)")
    {
        wanted.options.extend(taxids(query)?);
    }
    for name in ["QUERY_FROM", "QUERY_TO"] {
        if let Some(value) = fields.text(name)?.filter(|value| *value != "0") {
            return Err(Refusal::bad(format!(
                "{name}={value}: this is not supported here"
            )));
        }
    }
    Ok(wanted)
}

/// ENTREZ_QUERY as far as it names taxids: `txid561[ORGN] OR txid1279[ORGN] NOT txid562[ORGN]`.
fn taxids(query: &str) -> Result<Vec<Chosen>, Refusal> {
    let wrong = || {
        let message = "choose taxids, as in \"txid561[ORGN] OR txid1279[ORGN] NOT txid562[ORGN]\"";
        Refusal::bad(format!("ENTREZ_QUERY={query}: {message}"))
    };
    let taxid = |term: &str| {
        let term = term.trim().to_ascii_lowercase();
        let (name, field) = term.split_once('[')?;
        let field = field.strip_suffix(']')?.split(':').next()?;
        let number = name.trim_end().strip_prefix("txid")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && ["orgn", "organism"].contains(&field)).then(|| number.to_string())
    };
    let list = |terms: &str| -> Option<String> {
        let terms = terms.split(" OR ").map(taxid).collect::<Option<Vec<_>>>()?;
        Some(terms.join(","))
    };
    let mut parts = query.split("NOT ");
    let mut chosen = Vec::new();
    let only = parts.next().unwrap_or_default().trim();
    if !only.is_empty() {
        chosen.push(("taxid", Some(list(only).ok_or_else(wrong)?)));
    }
    let without: Option<Vec<String>> = parts.map(list).collect();
    let without = without.ok_or_else(wrong)?;
    if !without.is_empty() {
        chosen.push(("not-taxid", Some(without.join(","))));
    }
    Ok(chosen)
}

fn program(fields: &Fields) -> Result<Program, Refusal> {
    let name = fields
        .text("PROGRAM")?
        .unwrap_or_default()
        .to_ascii_lowercase();
    let kind = fields
        .text("BLAST_PROGRAMS")?
        .unwrap_or_default()
        .to_ascii_lowercase();
    let name = match (name.as_str(), kind.as_str()) {
        ("blastn", "megablast") => "megablast",
        ("blastn", "discomegablast") => "dc-megablast",
        ("blastn", _) if is_on(fields.text("MEGABLAST")?.unwrap_or_default()) => "megablast",
        (name, _) => name,
    };
    name.parse()
        .map_err(|error| Refusal::bad(format!("PROGRAM: {error}")))
}

/// FILTER: `F` masks nothing, `T` and `L` what SEG or DUST finds, `m` before it masks softly.
fn masks(fields: &Fields, of_proteins: bool, wanted: &mut Wanted) -> Result<(), Refusal> {
    if is_on(fields.text("LCASE_MASK")?.unwrap_or_default()) {
        wanted.options.push(("lower-case-masking", None));
    }
    let Some(filter) = fields.text("FILTER")? else {
        return Ok(());
    };
    let is_soft = filter.starts_with(['m', 'M']);
    let kind = filter.trim_start_matches(['m', 'M', ';', ' ']);
    let value = match kind.to_ascii_uppercase().as_str() {
        "F" | "NO" | "FALSE" | "NONE" => "no",
        "T" | "L" | "S" | "D" | "YES" | "TRUE" => "yes",
        "" if is_soft => "yes",
        _ => {
            return Err(Refusal::bad(format!(
                "FILTER={filter}: choose F, T, L or mL"
            )));
        }
    };
    wanted
        .options
        .push((if of_proteins { "seg" } else { "dust" }, Some(value.into())));
    if is_soft {
        wanted.options.push(("soft-masking", Some("true".into())));
    }
    Ok(())
}

fn statistics(fields: &Fields, of_proteins: bool, wanted: &mut Wanted) -> Result<(), Refusal> {
    let Some(value) = fields
        .text("COMPOSITION_BASED_STATISTICS")?
        .filter(|_| of_proteins)
    else {
        return Ok(());
    };
    let mode = match value.to_ascii_lowercase().as_str() {
        "0" | "f" | "off" | "no" | "false" => "0",
        "1" => "1",
        "2" | "d" | "t" | "on" | "yes" | "true" => "2",
        "3" => "3",
        _ => {
            let message = format!("COMPOSITION_BASED_STATISTICS={value}: choose 0, 1, 2 or 3");
            return Err(Refusal::bad(message));
        }
    };
    wanted.options.push(("comp-based-stats", Some(mode.into())));
    Ok(())
}

fn is_on(value: &str) -> bool {
    ["on", "yes", "true", "1", "t", "checked"].contains(&value.to_ascii_lowercase().as_str())
}

/// A page with the state of a job in a comment that all clients find.
fn status(code: StatusCode, state: &str, more: &str) -> Response {
    let info = format!("QBlastInfoBegin\n\tStatus={state}\nQBlastInfoEnd");
    page(code, &format!("<!--\n{info}\n-->\n{more}"))
}

fn problem(refusal: &Refusal) -> Response {
    let message = escape(&refusal.message);
    let info = "QBlastInfoBegin\n    RID = \n    RTOE = \nQBlastInfoEnd";
    let body = format!("<!--{info}\n-->\n<p class=\"error\">Message ID#24 Error: {message}</p>");
    refusal.answer(page(refusal.status, &body))
}

fn page(code: StatusCode, body: &str) -> Response {
    let head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
                <title>Gyrase</title></head>\n<body>\n";
    let text = format!("{head}{body}\n</body>\n</html>\n");
    (code, [(CONTENT_TYPE, HTML)], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taxids_are_read_of_queries_of_entrez() {
        let read = |query: &str| {
            let chosen = taxids(query).ok()?.into_iter();
            let words = chosen.map(|(name, value)| format!("{name}={}", value.unwrap_or_default()));
            Some(words.collect::<Vec<_>>().join(" "))
        };
        for (query, expected) in [
            ("txid561[ORGN]", Some("taxid=561")),
            ("txid561 [Organism:exp] OR txid7[orgn]", Some("taxid=561,7")),
            ("NOT txid562[ORGN]", Some("not-taxid=562")),
            (
                "txid561[ORGN] NOT txid562[ORGN] NOT txid7[ORGN]",
                Some("taxid=561 not-taxid=562,7"),
            ),
            ("Homo sapiens[ORGN]", None),
            ("txid561[ORGN] AND 100:200[SLEN]", None),
            ("txid[ORGN]", None),
            ("txid561", None),
        ] {
            assert_eq!(read(query).as_deref(), expected, "{query}");
        }
    }
}
