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
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use super::client::Peer;

/// How long the head of a request may take to arrive, and a connection wait for the next one.
const HEAD: Duration = Duration::from_secs(15);
/// How long answers may take to leave once the service ends.
const LEAVING: Duration = Duration::from_secs(5);

/// Answers requests until `end` says so.
pub async fn serve(
    (listener, tls): (TcpListener, Option<TlsAcceptor>),
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
        let connection = Connection {
            router: router.clone(),
            peer: Peer(peer),
            leaving: leaving.watcher(),
            _place: place,
        };
        match tls.clone() {
            None => drop(tokio::spawn(connection.answer(stream))),
            Some(tls) => drop(tokio::spawn(async move {
                // Who speaks no TLS is not told so in plain text.
                if let Ok(Ok(stream)) = tokio::time::timeout(HEAD, tls.accept(stream)).await {
                    connection.answer(stream).await;
                }
            })),
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(LEAVING, leaving.shutdown()).await;
}

/// A connection, and what answers its requests.
struct Connection {
    router: Router,
    peer: Peer,
    leaving: Watcher,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    /// Answers requests until there are no more. Who goes away while he is answered has no need to
    /// be told.
    async fn answer(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let service = service_fn(|request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(self.peer);
            self.router.clone().oneshot(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(64 << 10)
            .serve_connection(TokioIo::new(stream), service);
        let _ = self.leaving.watch(connection).await;
    }
}
