//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use axum::http::{Request, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client::{Holder, Peer, address};
use super::refusal::Refusal;
use super::webhooks::Webhooks;
use crate::access::Access;
use crate::engine::{Engine, REPORT_TURNS};
use crate::job::Job;

/// Times that the bytes of a body are in memory: as they came, as fields, as sequences.
const COPIES: u64 = 3;
/// Submissions that are taken at a time.
const SUBMISSIONS: usize = 8;
/// Requests whose reads are taken at a time.
const UPLOADS: usize = 8;
/// How long a request that takes memory waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// What all requests share.
pub struct App {
    /// What does the jobs.
    pub engine: Arc<Engine>,
    /// Who may ask; anybody if none.
    pub access: Option<Access>,
    /// What tells of jobs that ended; nobody if none.
    pub webhooks: Option<Webhooks>,
    reports: Arc<Semaphore>,
    submissions: Arc<Semaphore>,
    uploads: Arc<Semaphore>,
    /// Memory for bodies of requests, in KiB.
    bodies: Arc<Semaphore>,
    /// When the service began.
    pub since: Instant,
    /// Requests by the first digit of the status of their answer.
    pub requests: [AtomicU64; 6],
}

impl App {
    /// What all requests of a service share.
    pub fn new(engine: Arc<Engine>, access: Option<Access>, webhooks: Option<Webhooks>) -> App {
        App {
            bodies: Arc::new(Semaphore::new(in_kib(engine.share()) as usize)),
            access,
            webhooks,
            submissions: Arc::new(Semaphore::new(SUBMISSIONS)),
            uploads: Arc::new(Semaphore::new(UPLOADS)),
            reports: Arc::new(Semaphore::new(REPORT_TURNS as usize)),
            since: Instant::now(),
            engine,
            requests: Default::default(),
        }
    }

    /// The client of a request: the name of its token, or its address.
    pub fn client<B>(&self, request: &Request<B>) -> String {
        if let Some(Holder(name)) = request.extensions().get() {
            return name.clone();
        }
        let peer = request.extensions().get::<Peer>();
        let peer = *peer.expect("each connection has one");
        let trusted = &self.engine.config().trusted_proxies;
        address(peer, request.headers(), trusted).to_string()
    }

    /// Waits until a report of a job may be made.
    ///
    /// # Errors
    /// Others are too many.
    pub async fn may_report(&self, job: &Job) -> Result<OwnedSemaphorePermit, Refusal> {
        turn(&self.reports, self.engine.report_turns(job)).await
    }

    /// Waits until a body of so many bytes may be read.
    ///
    /// # Errors
    /// Others are too many.
    pub async fn may_send(&self, bytes: u64) -> Result<OwnedSemaphorePermit, Refusal> {
        let most = in_kib(self.engine.share());
        turn(&self.bodies, in_kib(COPIES * bytes).clamp(1, most)).await
    }

    /// Waits until a submission may be taken.
    ///
    /// # Errors
    /// Others are too many.
    pub async fn may_submit(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        turn(&self.submissions, 1).await
    }

    /// Waits until reads may be sent.
    ///
    /// # Errors
    /// Others are too many.
    pub async fn may_upload(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        turn(&self.uploads, 1).await
    }

    /// Refuses jobs of a service that is about to end.
    ///
    /// # Errors
    /// It is.
    pub fn refuse_at_the_end(&self) -> Result<(), Refusal> {
        let message = "the service is about to end: try again later";
        match self.engine.is_draining() {
            true => Err(Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, message)),
            false => Ok(()),
        }
    }

    /// The URL of a webhook that may be sent.
    ///
    /// # Errors
    /// The service sends nothing to it.
    pub fn webhook(&self, url: Option<String>) -> Result<Option<String>, Refusal> {
        let Some(url) = url else {
            return Ok(None);
        };
        let none = || Refusal::bad("this service sends no webhooks");
        let webhooks = self.webhooks.as_ref().ok_or_else(none)?;
        let checked = webhooks.client.target(&url);
        checked.map_err(|why| Refusal::bad(format!("webhook: {why}")))?;
        Ok(Some(url))
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

fn in_kib(bytes: u64) -> u32 {
    u32::try_from(bytes >> 10).unwrap_or(u32::MAX >> 3)
}

async fn turn(turns: &Arc<Semaphore>, many: u32) -> Result<OwnedSemaphorePermit, Refusal> {
    let busy = || {
        let message = "the service has too much to do: try again later";
        Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, message)
    };
    let turn = Arc::clone(turns).acquire_many_owned(many);
    let turn = tokio::time::timeout(PATIENCE, turn)
        .await
        .map_err(|_| busy())?;
    turn.map_err(|_| busy())
}
