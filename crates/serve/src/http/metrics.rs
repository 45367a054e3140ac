//! Health and metrics, for who runs the service.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use gyrase_work::machine::peak_memory;

use super::app::App;
use crate::job::State as JobState;

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/healthz", get(health))
        .route("/metrics", get(metrics))
}

async fn health(State(app): State<Arc<App>>) -> Response {
    match app.engine.is_draining() {
        true => (StatusCode::SERVICE_UNAVAILABLE, "draining\n").into_response(),
        false => "ok\n".into_response(),
    }
}

/// In the text format of Prometheus.
async fn metrics(State(app): State<Arc<App>>) -> Response {
    let engine = Arc::clone(&app.engine);
    let counts = app.blocking(move || Ok(engine.store().counts()?)).await;
    let Ok(counts) = counts else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let text = text(&app, counts);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

fn text(app: &App, counts: [(JobState, u64); 4]) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
        let _ = writeln!(
            text,
            "# HELP gyrase_{name} {help}\n# TYPE gyrase_{name} {kind}"
        );
        for (labels, value) in values {
            let _ = writeln!(text, "gyrase_{name}{labels} {value}");
        }
    };
    let jobs = counts.map(|(state, jobs)| (format!("{{state=\"{}\"}}", state.name()), jobs as f64));
    metric("jobs", "gauge", "Jobs in the store, by their state.", &jobs);
    let requests: Vec<(String, f64)> = (1..=5)
        .map(|kind| {
            (
                format!("{{status=\"{kind}xx\"}}"),
                app.requests[kind].load(Relaxed) as f64,
            )
        })
        .collect();
    metric(
        "http_requests_total",
        "counter",
        "Requests, by the status of the answer.",
        &requests,
    );
    let [ended, time] = [0, 1].map(|at| app.engine.totals[at].load(Relaxed) as f64);
    let one = |value: f64| [(String::new(), value)];
    metric(
        "jobs_ended_total",
        "counter",
        "Jobs that ended since the start.",
        &one(ended),
    );
    metric(
        "search_seconds_total",
        "counter",
        "Time of all searches.",
        &one(time / 1000.0),
    );
    let databases = app.engine.databases().bytes() as f64;
    metric(
        "database_bytes",
        "gauge",
        "Memory of open databases.",
        &one(databases),
    );
    let peak = peak_memory() as f64;
    metric(
        "peak_memory_bytes",
        "gauge",
        "The most memory so far.",
        &one(peak),
    );
    let up = app.since.elapsed().as_secs_f64();
    metric("uptime_seconds", "gauge", "Time since the start.", &one(up));
    text
}
