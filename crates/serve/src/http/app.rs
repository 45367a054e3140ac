//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use axum::http::{Request, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client::{Peer, address};
use super::refusal::Refusal;
use crate::engine::Engine;

/// Requests that read or write much at a time.
const AT_ONCE: usize = 8;
/// How long such a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// What all requests share.
pub struct App {
    /// What does the jobs.
    pub engine: Arc<Engine>,
    turns: Arc<Semaphore>,
    /// When the service began.
    pub since: Instant,
    /// Requests by the first digit of the status of their answer.
    pub requests: [AtomicU64; 6],
}

impl App {
    /// What all requests of a service share.
    pub fn new(engine: Arc<Engine>) -> App {
        App {
            engine,
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            since: Instant::now(),
            requests: Default::default(),
        }
    }

    /// The address of the client of a request.
    pub fn client<B>(&self, request: &Request<B>) -> String {
        let peer = request.extensions().get::<Peer>();
        let peer = *peer.expect("each connection has one");
        let trusted = &self.engine.config().trusted_proxies;
        address(peer, request.headers(), trusted).to_string()
    }

    /// Waits for a turn to do what takes memory.
    ///
    /// # Errors
    /// Others are too many.
    pub async fn permit(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let turn = Arc::clone(&self.turns).acquire_owned();
        let busy = || {
            let message = "the service has too much to do: try again later";
            Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, message)
        };
        let turn = tokio::time::timeout(PATIENCE, turn)
            .await
            .map_err(|_| busy())?;
        turn.map_err(|_| busy())
    }

    /// Does what may wait for a disk.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(Refusal::internal(&error)))
    }
}
