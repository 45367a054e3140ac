//! The interface for programs: JSON, described by `/api/v1/openapi.json`.

use std::ops::Range;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::app::App;
use super::events::{Status, events};
use super::fields::Fields;
use super::refusal::Refusal;
use super::result::{self, FORMATS, Frame};
use super::submit::submit_from;
use crate::job::{Job, State as JobState};

const OPENAPI: &str = include_str!("../../assets/openapi.json");

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/databases", get(databases))
        .route("/api/v1/formats", get(formats))
        .route("/api/v1/openapi.json", get(openapi))
        .route("/api/v1/jobs", post(create))
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
            "description": served.named.description,
            "molecule": served.molecule(),
            "sequences": size.sequences,
            "letters": size.letters,
        })
    });
    answer(StatusCode::OK, &all.collect())
}

async fn formats() -> Response {
    let all = FORMATS.iter().map(|format| {
        json!({"name": format.name, "description": format.told, "media_type": format.media})
    });
    answer(StatusCode::OK, &all.collect())
}

async fn create(State(app): State<Arc<App>>, request: Request<Body>) -> Result<Response, Refusal> {
    let id = submit_from(&app, request).await?;
    let place = format!("/api/v1/jobs/{id}");
    let mut response = told(StatusCode::ACCEPTED, &Status::read(&app, &id).await?)?;
    response
        .headers_mut()
        .insert(LOCATION, place.parse().expect("letters and slashes"));
    Ok(response)
}

async fn status(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    told(StatusCode::OK, &Status::read(&app, &id).await?)
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
    let job = result::job(&app, &id).await?;
    Ok(events(app, job.id).into_response())
}

async fn download(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let job = result::job(&app, &id).await?;
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
            let mut response = told(StatusCode::ACCEPTED, &Status::now(&app, job).await?)?;
            response.headers_mut().insert(RETRY_AFTER, 1.into());
            return Ok(response);
        }
    }
    let fields = Fields::read(&app, request, 0, "").await?;
    let format = result::named(fields.text("format")?.unwrap_or("tsv"))?;
    let queries = queries(&fields, &job)?;
    let name = format!("attachment; filename=\"{}.{}\"", job.id, format.ending);
    let body = result::report(&app, job, format.format, queries, Frame::default()).await?;
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
