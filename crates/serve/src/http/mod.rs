//! The service over HTTP.

mod api;
mod app;
mod blast;
mod client;
mod events;
mod fields;
mod metrics;
mod pages;
mod refusal;
mod result;
mod server;
mod submit;
mod views;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axum::Router;
use axum::body::Body;
use axum::http::header::{HeaderName, HeaderValue};
use axum::http::{Request, Response};
use axum::middleware::{Next, from_fn, from_fn_with_state};

pub use app::App;
pub use server::serve;

/// All that the service answers to people and programs.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(blast::routes())
        .merge(api::routes())
        .merge(pages::routes())
        .fallback(pages::not_found)
        .layer(from_fn(with_headers))
        .layer(from_fn_with_state(Arc::clone(&app), counted))
        .with_state(app)
}

/// What only who runs the service asks.
pub fn own_router(app: Arc<App>) -> Router {
    metrics::routes()
        .layer(from_fn(with_headers))
        .with_state(app)
}

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' \
                      data:; connect-src 'self'; frame-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; \
                      base-uri 'none'";

/// Headers of every answer, which keep what people sent from being anything but text.
async fn with_headers(request: Request<Body>, next: Next) -> Response<Body> {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
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

async fn counted(
    axum::extract::State(app): axum::extract::State<Arc<App>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let response = next.run(request).await;
    let kind = usize::from(response.status().as_u16() / 100).min(5);
    app.requests[kind].fetch_add(1, Relaxed);
    response
}
