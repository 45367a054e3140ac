//! `gyrase serve`.

mod words;
mod worker;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use gyrase_picture::words::{bytes, grouped, things};
use gyrase_serve::{Config, NamedDatabase, ServeError, ServiceLimits, run};
use serde_json::json;

use crate::cmd::rows::Table;
use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::size::Size;
use words::{classify_options, named, origin, pair, search_options};
use worker::WorkerOptions;

pub use worker::ServeWorker;

const EXAMPLES: &str = "\
Examples:
  gyrase serve --db refs=refs.gysd
  gyrase serve --db prot=refs.faa --db genomes=a.gysd,b.gysd --memory 8G
  gyrase serve --db nt=genomes.gysd --describe 'nt=Nucleotides of 2026'
  gyrase serve --db nt=genomes.gysd --jobs /var/lib/gyrase
  gyrase serve --db nt=genomes.gysd --metrics 127.0.0.1:9090
  gyrase serve --db refs=refs.gysd --tokens tokens.txt
  gyrase serve --db refs=refs.gysd --webhook-origin https://hooks.example.org
  gyrase serve --db refs=refs.gysd --workers 4 --worker-memory 200M
  gyrase serve --db refs=refs.gysd --workers 4 --worker-on 'ssh node2'
  gyrase serve --db taxa=refs.gydb --db counts=s.gyk

Then open http://127.0.0.1:8080, or send jobs by a program:
  curl -F file=@queries.fa -F database=refs 127.0.0.1:8080/api/v1/jobs
  curl -F reads=@reads.fq -F database=taxa 127.0.0.1:8080/api/v1/reads

Programs that know NCBI's interface, such as Biopython, find it at /Blast.cgi.
Jobs are in the folder --jobs, and survive the end of the service: what was
accepted is answered. docs/serve.md tells how to run it for others.";

/// Serve searches, classification and counts of k-mers over HTTP: a page for people, JSON and
/// NCBI's interface for programs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// A database and its name for people. Searched: FASTA files, `.gysd` of `gyrase index`, BLAST
    /// databases; for reads that are classified: `.gydb`; for k-mers that are looked up: a `.gyk`
    #[arg(long, value_name = "NAME=FILE,...", required = true, value_parser = named)]
    db: Vec<NamedDatabase>,

    /// What a database holds, for people
    #[arg(long, value_name = "NAME=TEXT", value_parser = pair)]
    describe: Vec<(String, String)>,

    /// Address and port to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// Address and port of /healthz and /metrics, for who runs the service
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,

    /// Folder of the jobs, made where it is missing
    #[arg(long, value_name = "DIR", default_value = "gyrase-jobs")]
    jobs: PathBuf,

    /// File of those who may ask, a line `NAME TOKEN` for each; anybody may without it
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,

    /// Certificate chain for TLS, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Proxies whose X-Forwarded-For is believed
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    trusted_proxy: Vec<IpAddr>,

    /// An origin, such as https://genomes.example.org, whose pages may ask in browsers: a genome
    /// browser there; may be given again
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,

    /// An origin, such as https://hooks.example.org, to which the end of a job may be told, where
    /// the job says so (`webhook`); may be given again
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    webhook_origin: Vec<String>,

    /// File of the secret by which webhooks are signed: `whsec_` and base64
    #[arg(long, value_name = "FILE", requires = "webhook_origin")]
    webhook_secret: Option<PathBuf>,

    /// How long jobs may go on once the service is asked to stop, in seconds; then they wait for
    /// its next start
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u64,

    #[command(flatten)]
    workers: WorkerOptions,

    #[command(flatten)]
    limits: ServeLimits,
}

/// How much is taken of whom.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct ServeLimits {
    /// Size of a request
    #[arg(long, value_name = "SIZE", default_value = "32M")]
    max_body: Size,

    /// Size of the files of reads of a job, as they are sent
    #[arg(long, value_name = "SIZE", default_value = "4G")]
    max_reads: Size,

    /// Letters of the queries of a job
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    max_letters: u64,

    /// Queries of a job
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_queries: u64,

    /// Jobs that wait
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max_waiting: u64,

    /// Jobs that wait of one client
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_waiting_of_client: u64,

    /// Seconds that a job may run
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    max_time: u64,

    /// Days that a job is kept once it has ended
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    keep_days: u64,
}

impl Serve {
    /// Serves until a signal ends it.
    pub fn run(self, session: &Session) -> Result<()> {
        let config = self.config(session)?;
        let scheme = if config.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let ready = |address: SocketAddr, own: Option<SocketAddr>| {
            tracing::info!("serving at {scheme}://{address}");
            if let Some(own) = own {
                tracing::info!("health and metrics at http://{own}");
            }
        };
        run(config, &session.progress, ready)?;
        tracing::info!("the service has ended; jobs that wait go on when it starts again");
        Ok(())
    }

    /// Prints what the service will take.
    pub fn plan(self, session: &Session) -> Result<()> {
        let config = self.config(session)?;
        let plan = gyrase_serve::plan(&config)?;
        let databases = plan.databases.iter().map(|plan| {
            json!({
                "name": plan.name, "sequences": plan.size.sequences, "letters": plan.size.letters,
                "bytes": plan.bytes[0], "bytes_with_indexes": plan.bytes[1],
                "workers": plan.workers,
            })
        });
        let of_reads = plan
            .of_reads
            .iter()
            .map(|plan| json!({"name": plan.name, "holds": plan.holds.0, "bytes": plan.bytes}));
        session.note("databases", databases.chain(of_reads).collect::<Vec<_>>());
        session.note("bytes", json!({"least_memory": plan.least_memory}));
        let mut table = Table::default();
        for plan in &plan.databases {
            let (letters, sequences) = (grouped(plan.size.letters), grouped(plan.size.sequences));
            let [least, most] = plan.bytes.map(bytes);
            table.row("database", &plan.name);
            table.row(
                "  holds",
                format!("{sequences} sequences, {letters} letters"),
            );
            table.row(
                "  in memory",
                match least == most {
                    true => least,
                    false => format!("{least}, with its indexes {most}"),
                },
            );
            if let Some([least, most]) = plan.workers {
                table.row("  workers", format!("{least} to {most} share a job"));
            }
        }
        for plan in &plan.of_reads {
            let (many, what) = plan.holds;
            table.row("database", &plan.name);
            table.row("  holds", things(many, what));
            table.row("  in memory", bytes(plan.bytes));
        }
        table.row("memory", format!("{} allowed", bytes(config.memory)));
        table.row("least --memory", bytes(plan.least_memory));
        if let Some(workers) = &config.workers {
            let (all, each) = (workers.commands.len(), bytes(workers.memory));
            table.row("workers", format!("{all}, with {each} for fragments each"));
        }
        if let Some(policy) = plan.policy {
            let policy = policy.name().to_lowercase();
            session.note("policy", policy.clone());
            table.row("policy", policy);
        }
        table.print()
    }

    fn config(self, session: &Session) -> Result<Config> {
        let databases = self.databases()?;
        let limits = ServiceLimits {
            body: self.limits.max_body.of(session.memory),
            reads: self.limits.max_reads.of(session.memory),
            letters: self.limits.max_letters,
            queries: self.limits.max_queries,
            waiting: self.limits.max_waiting,
            waiting_of_client: self.limits.max_waiting_of_client,
            time: Duration::from_secs(self.limits.max_time),
            keep: Duration::from_secs(self.limits.keep_days * 24 * 3600),
            ..ServiceLimits::default()
        };
        let (workers, memory) = self.workers.workers(&databases, session)?;
        Ok(Config {
            databases,
            listen: self.listen,
            metrics: self.metrics,
            jobs: self.jobs,
            memory,
            threads: session.threads,
            workers,
            limits,
            drain: Duration::from_secs(self.drain),
            tokens: self.tokens,
            tls: self.tls_cert.zip(self.tls_key).map(Into::into),
            trusted_proxies: self.trusted_proxy,
            origins: self.allow_origin,
            webhook_origins: self.webhook_origin,
            webhook_secret: self.webhook_secret,
            search_options: Arc::new(search_options),
            classify_options: Arc::new(classify_options),
        })
    }

    fn databases(&self) -> Result<Vec<NamedDatabase>> {
        let mut databases = self.db.clone();
        for (number, database) in databases.iter().enumerate() {
            if databases[..number]
                .iter()
                .any(|other| other.name == database.name)
            {
                let name = &database.name;
                return Err(Failure::usage(format!(
                    "two databases have the name {name}"
                )));
            }
        }
        for (name, text) in &self.describe {
            let Some(database) = databases.iter_mut().find(|database| database.name == *name)
            else {
                return Err(Failure::usage(format!(
                    "--describe: there is no --db {name}=..."
                )));
            };
            database.description.clone_from(text);
        }
        Ok(databases)
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Failure {
        let code = match &error {
            ServeError::Database { .. } | ServeError::Store { .. } | ServeError::Version { .. } => {
                Code::Database
            }
            ServeError::Memory { .. } | ServeError::Workers { .. } => Code::Memory,
            ServeError::Folder { .. } => Code::Output,
            ServeError::Locked { .. }
            | ServeError::Tokens { .. }
            | ServeError::Tls { .. }
            | ServeError::Webhooks(_) => Code::Usage,
            ServeError::Listen { .. } => Code::Network,
            ServeError::System(_) => Code::Internal,
        };
        Failure::new(code, error.to_string())
    }
}
