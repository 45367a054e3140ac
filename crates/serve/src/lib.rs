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
mod store;

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use gyrase_work::Progress;
use tokio::net::TcpListener;
use tokio::sync::watch;

pub use config::{Config, NamedDatabase, SearchOptions, ServiceLimits};
pub use error::ServeError;

use access::Access;
use databases::Databases;
use engine::{Engine, scratch_folder};
use http::App;
use store::Store;

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
    thread::scope(|scope| -> Result<(), ServeError> {
        for (name, is_short) in [("lane", false), ("lane-of-short", true)] {
            let (engine, runtime) = (&engine, runtime.handle());
            let lane = move || engine.lane(is_short, runtime);
            thread::Builder::new()
                .name(name.into())
                .spawn_scoped(scope, lane)?;
        }
        thread::Builder::new()
            .name("watch".into())
            .spawn_scoped(scope, || engine.watch())?;
        while !progress.is_cancelled() {
            thread::sleep(LOOK);
        }
        engine.drain();
        Ok(())
    })?;
    end.send_replace(true);
    let _ = runtime.block_on(serving);
    runtime.shutdown_timeout(Duration::from_secs(1));
    let _ = fs::remove_dir_all(&scratch);
    Ok(())
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
