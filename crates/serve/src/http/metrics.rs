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
    if let Some(webhooks) = &app.webhooks {
        let sent = ["taken", "not_taken"].into_iter().zip(&webhooks.sent);
        let sent: Vec<(String, f64)> = sent
            .map(|(result, times)| {
                (
                    format!("{{result=\"{result}\"}}"),
                    times.load(Relaxed) as f64,
                )
            })
            .collect();
        let help = "Times that the end of a job was told.";
        metric("webhooks_total", "counter", help, &sent);
    }
    let one = |value: f64| [(String::new(), value)];
    for (name, kind, help, value) in single(app) {
        metric(name, kind, help, &one(value));
    }
    text
}

/// Metrics of one number: name, kind, meaning, value.
fn single(app: &App) -> [(&'static str, &'static str, &'static str, f64); 7] {
    let engine = &app.engine;
    let [ended, time] = [0, 1].map(|at| engine.totals[at].load(Relaxed) as f64);
    let [workers, read] = [&engine.workers, &engine.fragment_bytes];
    let [workers, read] = [workers, read].map(|number| number.load(Relaxed) as f64);
    let databases = engine.databases().bytes() as f64;
    let up = app.since.elapsed().as_secs_f64();
    let [counter, gauge] = ["counter", "gauge"];
    [
        (
            "jobs_ended_total",
            counter,
            "Jobs that ended since the start.",
            ended,
        ),
        (
            "search_seconds_total",
            counter,
            "Time of all searches.",
            time / 1000.0,
        ),
        (
            "database_bytes",
            gauge,
            "Memory of open databases.",
            databases,
        ),
        ("workers", gauge, "Workers that are ready.", workers),
        (
            "fragment_bytes_read_total",
            counter,
            "Fragments of databases that workers had to read.",
            read,
        ),
        (
            "peak_memory_bytes",
            gauge,
            "The most memory so far.",
            peak_memory() as f64,
        ),
        ("uptime_seconds", gauge, "Time since the start.", up),
    ]
}
