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
mod answers;
mod config;
mod databases;
mod engine;
mod error;
mod http;
mod intake;
mod job;
mod plan;
mod reads;
mod store;
mod workers;

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use gyrase_files::Confinement;
use gyrase_work::Progress;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

pub use config::{
    ClassifyOptions, Config, NamedDatabase, ReadOptions, SearchOptions, ServiceLimits, Workers,
};
pub use error::ServeError;
pub use job::JobKind;
pub use plan::{DatabasePlan, ReadDatabasePlan, ServePlan, plan};
pub use workers::{WorkerConfig, work};

use access::Access;
use databases::Databases;
use engine::{Engine, Lane, scratch_folder};
use http::{App, Webhooks};
use reads::ReadFolder;
use store::Store;
use workers::{Dispatcher, Event, Sharing};

/// How often the service looks whether it is asked to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Threads that answer requests.
const ANSWERING: usize = 2;
/// What the system looks the names of machines up in: settings, and libraries that they name.
const NAMES: [&str; 6] = [
    "/etc",
    "/run/systemd/resolve",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
];
/// The port of TCP where long answers of DNS come from.
const DNS: u16 = 53;

/// Serves until `progress` is cancelled. Once it answers requests `ready` is told where.
///
/// # Errors
/// See [`ServeError`].
pub fn run(
    config: Config,
    progress: &Progress,
    ready: impl FnOnce(SocketAddr, Option<SocketAddr>) + Send,
) -> Result<(), ServeError> {
    let access = config.tokens.as_deref().map(Access::read).transpose()?;
    let tls = config.tls.as_ref().map(http::tls).transpose()?;
    let webhooks = Webhooks::of(&config)?;
    let databases = Databases::open(&config, progress)?;
    let workers = config.workers.as_ref();
    let sharing = workers.map(|workers| databases.sharing(workers));
    let sharing = sharing.transpose()?;
    let listener = listen(config.listen)?;
    let own = config.metrics.map(listen).transpose()?;
    let store = Arc::new(Store::open(&config.jobs)?);
    let scratch = emptied(scratch_folder(&config.jobs))?;
    // A store that fails knows nothing: then nothing is removed.
    ReadFolder::remove_unknown(&config.jobs, |id| !matches!(store.job(id), Ok(None)));
    progress.start("serve", 0);
    ready(
        listener.local_addr()?,
        own.as_ref().map(TcpListener::local_addr).transpose()?,
    );
    let engine = Arc::new(Engine::new(config, databases, store));
    let app = Arc::new(App::new(Arc::clone(&engine), access, webhooks));
    let served = thread::scope(|scope| {
        // What this thread is kept from, whoever called is not.
        let service = thread::Builder::new().name("service".into());
        let serving = || {
            confine(&app);
            serve(app, sharing, ((listener, tls), own), progress)
        };
        let serving = service.spawn_scoped(scope, serving)?;
        serving.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    let _ = fs::remove_dir_all(&scratch);
    served
}

/// Keeps this thread, and those that it starts, from all files but databases and jobs, and, where
/// it sends webhooks, what the names of machines are looked up in.
fn confine(app: &App) {
    let config = app.engine.config();
    let databases = || config.databases.iter().flat_map(|named| &named.files);
    // Any program may start a worker, and an alias of BLAST may name any file.
    if config.workers.is_some() || databases().any(|path| is_alias(path)) {
        return;
    }
    let mut system = ["/proc", "/sys"].map(PathBuf::from).to_vec();
    let mut reach = Vec::new();
    if let Some(webhooks) = &app.webhooks {
        system.extend(NAMES.map(PathBuf::from));
        reach.push(DNS);
        let origins = webhooks.client.origins.iter();
        reach.extend(origins.map(|origin| origin.port));
    }
    let confinement = Confinement {
        read: databases()
            .flat_map(|path| beside(path))
            .chain(system)
            .collect(),
        write: vec![config.jobs.clone()],
        reach,
    };
    match confinement.enforce() {
        Ok(true) => tracing::info!("no files but databases and jobs can be opened (Landlock)"),
        Ok(false) => tracing::info!("this system cannot keep the service from other files"),
        Err(error) => tracing::warn!("the service is not kept from other files: {error}"),
    }
}

fn is_alias(database: &Path) -> bool {
    let with = |ending: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        Path::new(&name).exists()
    };
    with(".nal") || with(".pal")
}

/// A database, its folder, and what links there lead to.
fn beside(database: &Path) -> Vec<PathBuf> {
    let folder = match database.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let targets = links.filter_map(|entry| entry.path().canonicalize().ok());
    [database.to_path_buf(), folder.to_path_buf()]
        .into_iter()
        .chain(targets)
        .collect()
}

type Listeners = ((TcpListener, Option<TlsAcceptor>), Option<TcpListener>);

/// Answers requests and does jobs until `progress` is cancelled.
fn serve(
    app: Arc<App>,
    sharing: Option<Sharing>,
    ((listener, tls), own): Listeners,
    progress: &Progress,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ANSWERING)
        .thread_name("http")
        .enable_all()
        .build()?;
    let entered = runtime.enter();
    let listener = (tokio::net::TcpListener::from_std(listener)?, tls);
    let own = own.map(tokio::net::TcpListener::from_std).transpose()?;
    drop(entered);
    let engine = Arc::clone(&app.engine);
    let workers = engine.config().workers.as_ref().zip(sharing);
    let dispatcher = workers.map(|(workers, sharing)| Dispatcher::new(&engine, workers, sharing));
    let (end, ended) = watch::channel(false);
    let connections = engine.config().limits.connections;
    let router = http::router(Arc::clone(&app));
    let serving = runtime.spawn(http::serve(listener, router, connections, ended.clone()));
    runtime.spawn(http::tell_ends(Arc::clone(&app)));
    if let Some(own) = own {
        let router = http::own_router(app);
        runtime.spawn(http::serve((own, None), router, connections, ended));
    }
    do_jobs(&engine, dispatcher, runtime.handle(), progress)?;
    end.send_replace(true);
    let _ = runtime.block_on(serving);
    runtime.shutdown_timeout(Duration::from_secs(1));
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
                named("lane-of-reads").spawn_scoped(scope, || engine.lane(Lane::Reads, runtime))?;
            }
            None => {
                for (name, lane) in [("lane", Lane::Any), ("lane-of-short", Lane::Short)] {
                    named(name).spawn_scoped(scope, move || engine.lane(lane, runtime))?;
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

fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|source| ServeError::Listen { address, source })
}
