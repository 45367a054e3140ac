//! Pages for people. They work without scripts, but for progress that shows by itself.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use gyrase_classify::report::TAXA_PAGE;
use gyrase_search::REPORT_PAGE;
use sha2::{Digest, Sha256};

use super::app::App;
use super::events::Status;
use super::refusal::Refusal;
use super::result::{self, Frame, HTML};
use super::submit::submit_from;
use super::upload::submit_reads;
use super::{forms, views};
use crate::job::{Job, JobKind, State as JobState};

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(start))
        .route("/classify", get(classify))
        .route("/kmers", get(kmers))
        .route("/about", get(about))
        .route("/jobs", post(create))
        .route("/reads", post(create_of_reads))
        .route("/jobs/{id}", get(job))
        .route("/jobs/{id}/report", get(job_report))
        .route("/jobs/{id}/delete", post(delete))
        .route("/style.css", get(style))
        .route("/script.js", get(script))
}

fn page(code: StatusCode, text: String) -> Response {
    (code, [(CONTENT_TYPE, HTML)], text).into_response()
}

/// A refusal as a page.
fn problem(refusal: &Refusal) -> Response {
    refusal.answer(page(refusal.status, views::problem(&refusal.message)))
}

async fn start(State(app): State<Arc<App>>) -> Response {
    let databases = app.engine.databases();
    match (databases.all(), databases.of_reads()) {
        ([], [first, ..]) => see(&format!("/{}", first.kind().name())),
        _ => page(StatusCode::OK, views::start(&app.engine)),
    }
}

async fn classify(State(app): State<Arc<App>>) -> Response {
    page(StatusCode::OK, forms::classify(&app.engine))
}

async fn kmers(State(app): State<Arc<App>>) -> Response {
    page(StatusCode::OK, forms::kmers(&app.engine))
}

async fn about(State(app): State<Arc<App>>) -> Response {
    page(StatusCode::OK, views::about(&app.engine))
}

async fn create(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    see_job(submit_from(&app, request).await)
}

async fn create_of_reads(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    see_job(submit_reads(&app, request).await)
}

/// Sends a browser to a job that was accepted.
fn see_job(accepted: Result<String, Refusal>) -> Response {
    match accepted {
        Ok(id) => see(&format!("/jobs/{id}")),
        Err(refusal) => problem(&refusal),
    }
}

/// Sends a browser to another page.
fn see(place: &str) -> Response {
    let place = HeaderValue::from_str(place).expect("letters and slashes");
    (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response()
}

async fn job(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    let found =
        result::job(&app, &id).and_then(|job| Ok((Status::of(job.clone(), &app.engine)?, job)));
    match found {
        Ok((status, job)) => page(StatusCode::OK, views::job(&app.engine, &job, &status)),
        Err(refusal) => problem(&refusal),
    }
}

async fn job_report(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    let report = match result::job(&app, &id) {
        Ok(job) => report(&app, job).await,
        Err(refusal) => Err(refusal),
    };
    report.unwrap_or_else(|refusal| problem(&refusal))
}

/// What is inline in the page of a search, and nothing else, may run there.
static SEARCH_POLICY: LazyLock<String> = LazyLock::new(|| {
    let [style, script] = REPORT_PAGE.inline().map(|text| digest(&text));
    policy(&style, &script)
});

/// The same for the page of taxa, whose bars have widths of their own.
static TAXA_POLICY: LazyLock<String> = LazyLock::new(|| {
    let [_, script] = TAXA_PAGE.inline();
    policy("'unsafe-inline'", &digest(&script))
});

fn digest(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(Sha256::digest(text)))
}

fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; style-src {style}; script-src {script}; img-src data: blob:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
}

/// The page of a report.
///
/// # Errors
/// The job is not done, or its report cannot be made.
pub async fn report(app: &Arc<App>, job: Job) -> Result<Response, Refusal> {
    if job.state != JobState::Done {
        return Ok(see(&format!("/jobs/{}", job.id)));
    }
    let (policy, body) = match job.kind {
        JobKind::Search => {
            let body = result::report(app, job, "html", None, Frame::default()).await?;
            (&SEARCH_POLICY, body)
        }
        JobKind::Classify => (&TAXA_POLICY, result::file(app, &job, "html").await?),
        JobKind::Kmers => return Ok(see(&format!("/jobs/{}", job.id))),
    };
    let policy = HeaderValue::from_str(policy).expect("letters and marks");
    let media = HeaderValue::from_static(HTML);
    Ok((
        [(CONTENT_TYPE, media), (CONTENT_SECURITY_POLICY, policy)],
        body,
    )
        .into_response())
}

async fn delete(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    match result::delete(&app, id).await {
        Ok(()) => page(StatusCode::OK, views::deleted()),
        Err(refusal) => problem(&refusal),
    }
}

fn asset(media: &'static str, text: &'static str) -> Response {
    (
        [(CONTENT_TYPE, media), (CACHE_CONTROL, "max-age=3600")],
        text,
    )
        .into_response()
}

async fn style() -> Response {
    asset(
        "text/css; charset=utf-8",
        include_str!("../../assets/style.css"),
    )
}

async fn script() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("../../assets/script.js"),
    )
}

/// Nothing is there.
pub async fn not_found() -> Response {
    let message = "there is no such page";
    problem(&Refusal::new(StatusCode::NOT_FOUND, message))
}
