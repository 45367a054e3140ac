//! A search service: jobs that survive the end of the service, results that are made again from
//! their metadata in any format, interfaces for people and programs.
//!
//! ```text
//!  page, JSON, Blast.cgi ─▶ intake ─▶ store (SQLite) ─▶ engine ─▶ store ─▶ report in any format
//!        (http)           limits    accepted jobs    searches in      metadata of
//!                                   are on the disk  open databases   what was found
//! ```
//!
//! 1. What somebody sends becomes a [`job`](store): queries, a database, words of the command line.
//!    It has an identifier that nobody guesses, and is on the disk before anybody is told of it.
//! 2. The engine takes jobs from the store, those of one question together, and searches in
//!    databases that are open. What it keeps of an answer is its metadata: which subjects each
//!    query has, and the alignments with them.
//! 3. Whoever asks for a result gets it in his format, made again from the metadata: the bytes that
//!    `gyrase search` writes (ParaMEDIC: Balaji, Feng, Archuleta, Lin, SC 2007).

mod access;
mod config;
mod databases;
mod engine;
mod error;
mod http;
mod intake;
mod job;
mod plan;
mod store;
mod workers;

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use gyrase_work::Progress;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;

pub use config::{Config, NamedDatabase, SearchOptions, ServiceLimits, Workers};
pub use error::ServeError;
pub use plan::{DatabasePlan, ServePlan, plan};
pub use workers::{WorkerConfig, work};

use access::Access;
use databases::Databases;
use engine::{Engine, scratch_folder};
use http::App;
use store::Store;
use workers::{Dispatcher, Event};

/// How often the service looks whether it is asked to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Threads that answer requests.
const ANSWERING: usize = 2;

/// Serves until `progress` is cancelled. Once it answers requests `ready` is told where.
///
/// # Errors
/// See [`ServeError`].
pub fn run(
    config: Config,
    progress: &Progress,
    ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> Result<(), ServeError> {
    let access = config.tokens.as_deref().map(Access::read).transpose()?;
    let tls = config.tls.as_ref().map(http::tls).transpose()?;
    let databases = Databases::open(&config, progress)?;
    let sizes = config
        .workers
        .as_ref()
        .map(|workers| databases.partition_sizes(workers))
        .transpose()?;
    let store = Arc::new(Store::open(&config.jobs)?);
    let scratch = emptied(scratch_folder(&config.jobs))?;
    progress.start("serve", 0);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ANSWERING)
        .thread_name("http")
        .enable_all()
        .build()?;
    let listener = runtime.block_on(listen(config.listen))?;
    let own = config
        .metrics
        .map(|address| runtime.block_on(listen(address)));
    let own = own.transpose()?;
    let engine = Arc::new(Engine::new(config, databases, store));
    let workers = engine.config().workers.as_ref().zip(sizes);
    let dispatcher = workers.map(|(workers, sizes)| Dispatcher::new(&engine, workers, sizes));
    let app = Arc::new(App::new(Arc::clone(&engine), access));
    ready(
        listener.local_addr()?,
        own.as_ref().map(TcpListener::local_addr).transpose()?,
    );
    let (end, ended) = watch::channel(false);
    let connections = engine.config().limits.connections;
    let router = http::router(Arc::clone(&app));
    let listener = (listener, tls);
    let serving = runtime.spawn(http::serve(listener, router, connections, ended.clone()));
    if let Some(own) = own {
        let router = http::own_router(app);
        runtime.spawn(http::serve((own, None), router, connections, ended));
    }
    do_jobs(&engine, dispatcher, runtime.handle(), progress)?;
    end.send_replace(true);
    let _ = runtime.block_on(serving);
    runtime.shutdown_timeout(Duration::from_secs(1));
    let _ = fs::remove_dir_all(&scratch);
    Ok(())
}

/// Lets jobs be done until `progress` is cancelled.
fn do_jobs(
    engine: &Engine,
    dispatcher: Option<Dispatcher>,
    runtime: &Handle,
    progress: &Progress,
) -> Result<(), ServeError> {
    thread::scope(|scope| -> Result<(), ServeError> {
        let named = |name: &str| thread::Builder::new().name(name.into());
        match dispatcher {
            Some(dispatcher) => {
                runtime.spawn(tell(engine.store().changes(), dispatcher.events()));
                named("dispatcher").spawn_scoped(scope, || dispatcher.run())?;
            }
            None => {
                for (name, is_short) in [("lane", false), ("lane-of-short", true)] {
                    named(name).spawn_scoped(scope, move || engine.lane(is_short, runtime))?;
                }
            }
        }
        named("watch").spawn_scoped(scope, || engine.watch())?;
        while !progress.is_cancelled() {
            thread::sleep(LOOK);
        }
        engine.drain();
        Ok(())
    })
}

/// Tells a dispatcher of changes of the store.
async fn tell(mut changes: watch::Receiver<u64>, events: Sender<Event>) {
    while changes.changed().await.is_ok() && events.send(Event::Changed).is_ok() {}
}

/// A folder without what an earlier service left in it.
fn emptied(path: PathBuf) -> Result<PathBuf, ServeError> {
    let _ = fs::remove_dir_all(&path);
    match fs::create_dir_all(&path) {
        Ok(()) => Ok(path),
        Err(source) => Err(ServeError::Folder { path, source }),
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|source| ServeError::Listen { address, source })
}
