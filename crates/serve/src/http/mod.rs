//! The service over HTTP.

mod api;
mod app;
mod blast;
mod client;
mod ends;
mod events;
mod fields;
mod forms;
mod metrics;
mod outgoing;
mod pages;
mod prefer;
mod refusal;
mod result;
mod server;
mod submit;
mod tls;
mod upload;
mod views;
mod webhooks;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{Method, Request, Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;

use client::Holder;

pub use app::App;
pub use ends::tell_ends;
pub use server::serve;
pub use tls::tls;
pub use webhooks::Webhooks;

/// All that the service answers to people and programs.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(blast::routes())
        .merge(api::routes())
        .merge(pages::routes())
        .fallback(pages::not_found)
        .layer(from_fn_with_state(Arc::clone(&app), allowed))
        .layer(from_fn_with_state(Arc::clone(&app), with_headers))
        .layer(from_fn_with_state(Arc::clone(&app), counted))
        .with_state(app)
}

/// What only who runs the service asks.
pub fn own_router(app: Arc<App>) -> Router {
    metrics::routes()
        .layer(from_fn_with_state(Arc::clone(&app), with_headers))
        .with_state(app)
}

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; frame-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; \
                      base-uri 'none'";

/// What makes browsers ask by TLS alone, for a year.
const TLS_ALONE: (&str, &str) = ("strict-transport-security", "max-age=31536000");

/// Headers of every answer, which keep what people sent from being anything but text.
async fn with_headers(
    State(app): State<Arc<App>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let origin = allowed_origin(&app, &request);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if let Some(origin) = origin {
        headers.insert("access-control-allow-origin", origin);
        headers.insert("vary", HeaderValue::from_static("origin"));
        let anybody = HeaderValue::from_static("cross-origin");
        headers.insert("cross-origin-resource-policy", anybody);
    }
    if app.engine.config().tls.is_some() {
        let (name, value) = TLS_ALONE;
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        let name = HeaderName::from_static(name);
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The origin of the page that asks, if it is one whose pages may.
fn allowed_origin(app: &App, request: &Request<Body>) -> Option<HeaderValue> {
    let origin = request.headers().get(ORIGIN)?;
    let known = &app.engine.config().origins;
    known
        .iter()
        .any(|known| origin == known)
        .then(|| origin.clone())
}

/// What a browser is told that asks whether a page may ask.
fn may_ask() -> Response<Body> {
    let told = [
        ("access-control-allow-methods", "GET, POST, DELETE"),
        (
            "access-control-allow-headers",
            "authorization, content-type, prefer",
        ),
        ("access-control-max-age", "3600"),
    ];
    (StatusCode::NO_CONTENT, told).into_response()
}

/// Lets pass who may ask, and nothing that a page of another site makes a browser send.
async fn allowed(
    State(app): State<Arc<App>>,
    mut request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let is_known = allowed_origin(&app, &request).is_some();
    if is_known && request.method() == Method::OPTIONS {
        return may_ask();
    }
    let access = app.access.as_ref();
    match access.map(|access| access.name_of(request.headers())) {
        None => {}
        Some(Some(name)) => drop(request.extensions_mut().insert(Holder(name.into()))),
        Some(None) => {
            tracing::warn!(client = app.client(&request), "no token, or an unknown one");
            let message = "a token is wanted: as Bearer, or as the password of Basic\n";
            let asked = [(
                WWW_AUTHENTICATE,
                "Basic realm=\"gyrase\", charset=\"UTF-8\"",
            )];
            return (StatusCode::UNAUTHORIZED, asked, message).into_response();
        }
    }
    let is_foreign = request
        .headers()
        .get("sec-fetch-site")
        .is_some_and(|site| site == "cross-site" || site == "same-site");
    // NCBI's interface takes jobs by GET, too: a browser adds what it knows of a password.
    let is_told = request.method() == Method::POST
        || (access.is_some() && request.uri().path().ends_with("/Blast.cgi"));
    if is_foreign && is_told && !is_known {
        tracing::warn!(
            client = app.client(&request),
            "a page of another site asked"
        );
        let message = "a page of another site sent this\n";
        return (StatusCode::FORBIDDEN, message).into_response();
    }
    next.run(request).await
}

async fn counted(
    State(app): State<Arc<App>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let response = next.run(request).await;
    let kind = usize::from(response.status().as_u16() / 100).min(5);
    app.requests[kind].fetch_add(1, Relaxed);
    response
}
