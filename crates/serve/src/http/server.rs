//! Connections.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use super::client::Peer;

/// How long the head of a request may take to arrive, and a connection wait for the next one.
const HEAD: Duration = Duration::from_secs(15);
/// How long answers may take to leave once the service ends.
const LEAVING: Duration = Duration::from_secs(5);

/// Answers requests until `end` says so.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
    mut end: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(connections));
    let leaving = GracefulShutdown::new();
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            break;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.wait_for(|end| *end) => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            // Too many open files, mostly: some will be closed.
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer));
            router.clone().oneshot(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(64 << 10)
            .serve_connection(TokioIo::new(stream), service);
        let connection = leaving.watch(connection);
        tokio::spawn(async move {
            // Who goes away while he is answered has no need to be told.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(LEAVING, leaving.shutdown()).await;
}
