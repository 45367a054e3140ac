//! The interface for programs: JSON, described by `/api/v1/openapi.json`.

use std::ops::Range;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::app::App;
use super::events::{Status, events};
use super::fields::Fields;
use super::prefer;
use super::refusal::Refusal;
use super::result::{self, Frame};
use super::submit::submit_from;
use super::upload::{self, submit_reads};
use crate::job::{Job, JobKind, State as JobState};

const OPENAPI: &str = include_str!("../../assets/openapi.json");

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/databases", get(databases))
        .route("/api/v1/formats", get(formats))
        .route("/api/v1/openapi.json", get(openapi))
        .route("/api/v1/databases/{name}/kmers/{kmer}", get(kmer))
        .route("/api/v1/jobs", post(create))
        .route("/api/v1/reads", post(create_of_reads))
        .route("/api/v1/jobs/{id}", get(status).delete(delete))
        .route("/api/v1/jobs/{id}/events", get(stream))
        .route("/api/v1/jobs/{id}/result", get(download))
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.answer(answer(self.status, &json!({"error": self.message})))
    }
}

fn answer(code: StatusCode, value: &Value) -> Response {
    (
        code,
        [(CONTENT_TYPE, "application/json")],
        format!("{value}\n"),
    )
        .into_response()
}

async fn openapi() -> Response {
    ([(CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

async fn databases(State(app): State<Arc<App>>) -> Response {
    let all = app.engine.databases().all().iter().map(|served| {
        let size = served.searched.size();
        json!({
            "name": served.named.name,
            "kind": JobKind::Search,
            "description": served.named.description,
            "molecule": served.molecule(),
            "sequences": size.sequences,
            "letters": size.letters,
        })
    });
    let of_reads = app.engine.databases().of_reads().iter().map(|database| {
        let (number, what) = database.size();
        json!({
            "name": database.named.name,
            "kind": database.kind(),
            "description": database.named.description,
            format!("{}s", what.replace('-', "")): number,
        })
    });
    answer(StatusCode::OK, &all.chain(of_reads).collect())
}

async fn formats() -> Response {
    let of = |kind| {
        result::formats(kind).iter().map(move |format| {
            json!({
                "name": format.name, "kind": kind, "description": format.told,
                "media_type": format.media,
            })
        })
    };
    answer(
        StatusCode::OK,
        &JobKind::ALL.into_iter().flat_map(of).collect(),
    )
}

async fn kmer(
    State(app): State<Arc<App>>,
    Path((name, kmer)): Path<(String, String)>,
) -> Result<Response, Refusal> {
    let own = Arc::clone(&app);
    let counted = app.blocking(move || {
        let count = upload::database(&own, &name)?.look_up(&kmer);
        Ok(json!({"kmer": kmer, "count": count.map_err(Refusal::bad)?}))
    });
    Ok(answer(StatusCode::OK, &counted.await?))
}

async fn create(State(app): State<Arc<App>>, request: Request<Body>) -> Result<Response, Refusal> {
    let id = submit_from(&app, request).await?;
    accepted(&app, &id).await
}

async fn create_of_reads(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let id = submit_reads(&app, request).await?;
    accepted(&app, &id).await
}

async fn accepted(app: &Arc<App>, id: &str) -> Result<Response, Refusal> {
    let place = format!("/api/v1/jobs/{id}");
    let mut response = told(StatusCode::ACCEPTED, &Status::read(app, id)?)?;
    response
        .headers_mut()
        .insert(LOCATION, place.parse().expect("letters and slashes"));
    Ok(response)
}

async fn status(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let job = prefer::job(&app, &id, &headers).await?;
    told(StatusCode::OK, &Status::of(job, &app.engine)?)
}

fn told(code: StatusCode, status: &Status) -> Result<Response, Refusal> {
    let job = serde_json::to_value(status).map_err(|error| Refusal::internal(&error))?;
    Ok(answer(code, &job))
}

async fn delete(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    result::delete(&app, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn stream(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let job = result::job(&app, &id)?;
    Ok(events(app, job.id).into_response())
}

async fn download(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let job = prefer::job(&app, &id, request.headers()).await?;
    match job.state {
        JobState::Done => {}
        JobState::Failed => {
            let why = job.problem.unwrap_or_default();
            return Err(Refusal::new(
                StatusCode::CONFLICT,
                format!("the job failed: {why}"),
            ));
        }
        JobState::Queued | JobState::Running => {
            let mut response = told(StatusCode::ACCEPTED, &Status::of(job, &app.engine)?)?;
            response.headers_mut().insert(RETRY_AFTER, 1.into());
            return Ok(response);
        }
    }
    let fields = Fields::read(&app, request, 0, "").await?;
    let format = result::named(job.kind, fields.text("format")?)?;
    let name = format!("attachment; filename=\"{}.{}\"", job.id, format.ending);
    let body = match job.kind {
        JobKind::Search => {
            let queries = queries(&fields, &job)?;
            result::report(&app, job, format.format, queries, Frame::default()).await?
        }
        JobKind::Classify | JobKind::Kmers => result::file(&app, &job, format.format).await?,
    };
    Ok((
        [(CONTENT_TYPE, format.media), (CONTENT_DISPOSITION, &name)],
        body,
    )
        .into_response())
}

/// Queries from a number to another, both counted from 1; all if neither is there.
fn queries(fields: &Fields, job: &Job) -> Result<Option<Range<usize>>, Refusal> {
    let all = job.queries as usize;
    let number = |name: &str| -> Result<Option<usize>, Refusal> {
        let Some(text) = fields.text(name)? else {
            return Ok(None);
        };
        let number = text
            .parse()
            .ok()
            .filter(|number| (1..=all).contains(number));
        let wrong = || Refusal::bad(format!("{name}={text}: choose a query from 1 to {all}"));
        number.map(Some).ok_or_else(wrong)
    };
    let (from, to) = (number("from")?, number("to")?);
    if from.is_none() && to.is_none() {
        return Ok(None);
    }
    let (from, to) = (from.unwrap_or(1), to.unwrap_or(all));
    match from <= to {
        true => Ok(Some(from - 1..to)),
        false => Err(Refusal::bad(format!("from={from} is behind to={to}"))),
    }
}
