//! Messages on standard error: plain lines for people, JSON lines for machines.

use std::fmt::{Debug, Result};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gyrase_trace::{TARGET, Tracer};
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{self, FmtContext};
use tracing_subscriber::layer::Context;
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

use crate::args::{Common, LogFormat};

/// Installs the logger, and the tracer if there is one; returns the warnings to come. Without flags
/// our own messages and the libraries' warnings are shown.
///
/// Where a launcher started several processes, those behind rank 0 only warn.
pub fn install(common: &Common, tracer: Option<&Tracer>, rank: Option<usize>) -> Warnings {
    let own = env!("CARGO_CRATE_NAME");
    let levels = match (common.quiet, common.verbose) {
        (true, _) => Targets::new().with_default(Level::ERROR),
        (_, 0 | 1) if rank > Some(0) => Targets::new().with_default(Level::WARN),
        (_, 0) => Targets::new()
            .with_default(Level::WARN)
            .with_target(own, Level::INFO),
        (_, 1) => Targets::new()
            .with_default(Level::INFO)
            .with_target(own, Level::DEBUG),
        (_, 2) => Targets::new().with_default(Level::DEBUG),
        _ => Targets::new().with_default(Level::TRACE),
    };
    // Spans of traces are no messages.
    let levels = levels.with_target(TARGET, LevelFilter::OFF);
    let lines = fmt::layer().with_writer(std::io::stderr);
    let plain = Plain {
        terminal: std::io::stderr().is_terminal(),
        rank,
    };
    let layer: Box<dyn Layer<_> + Send + Sync> = match common.log {
        LogFormat::Json => lines.event_format(Objects { rank }).boxed(),
        LogFormat::Plain => lines.event_format(plain).boxed(),
    };
    let spans = Targets::new().with_target(TARGET, Level::INFO);
    let tracer = tracer.cloned().map(|tracer| tracer.with_filter(spans));
    let warnings = Warnings::default();
    tracing_subscriber::registry()
        .with(layer.with_filter(levels))
        .with(tracer)
        .with(warnings.clone().with_filter(LevelFilter::WARN))
        .init();
    warnings
}

/// Installs a logger of JSON lines alone, for arguments that cannot be understood.
pub fn install_objects(rank: Option<usize>) {
    let lines = fmt::layer().with_writer(std::io::stderr);
    let layer = lines.event_format(Objects { rank });
    tracing_subscriber::registry()
        .with(layer.with_filter(LevelFilter::ERROR))
        .init();
}

/// Keeps warnings and says nothing: for runs within a program that has its own ways to say them.
/// They are those of all runs of the process; see [`Warnings::forget`].
pub fn keep() -> Warnings {
    static KEPT: OnceLock<Warnings> = OnceLock::new();
    let install = || {
        let warnings = Warnings::default();
        let layer = warnings.clone().with_filter(LevelFilter::WARN);
        // Who has a logger of his own hears the warnings there.
        let _ = tracing_subscriber::registry().with(layer).try_init();
        warnings
    };
    KEPT.get_or_init(install).clone()
}

/// The warnings of a run, for its report. What was said is not said again: inputs may be read
/// several times.
#[derive(Clone, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Begins a new run.
    pub fn forget(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// All so far, in the order in which they came.
    pub fn so_far(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl<S: Subscriber> Layer<S> for Warnings {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        if *event.metadata().level() != Level::WARN {
            return true;
        }
        let mut message = Message::default();
        event.record(&mut message);
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = !said.contains(&message.0);
        if new {
            said.push(message.0);
        }
        new
    }
}

/// The words of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

/// `gyrase: warning: ...`; on a terminal the line first wipes a progress bar away.
struct Plain {
    terminal: bool,
    rank: Option<usize>,
}

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> Result {
        if self.terminal {
            out.write_str("\r\x1b[K")?;
        }
        out.write_str("gyrase: ")?;
        out.write_str(match *event.metadata().level() {
            Level::ERROR => "error: ",
            Level::WARN => "warning: ",
            Level::INFO => "",
            Level::DEBUG => "debug: ",
            Level::TRACE => "trace: ",
        })?;
        match self.rank {
            // Whoever tells of an error of the job says whose it is.
            Some(rank) if *event.metadata().level() != Level::ERROR && rank > 0 => {
                write!(out, "rank {rank}: ")?
            }
            _ => {}
        }
        // The words have every number that the other fields have.
        let mut message = Message::default();
        event.record(&mut message);
        writeln!(out, "{}", message.0)
    }
}

/// One JSON object a line: the words, and the numbers in them as fields of their own.
struct Objects {
    rank: Option<usize>,
}

impl<S, N> FormatEvent<S, N> for Objects
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> Result {
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = json!({
            "timestamp": time,
            "level": event.metadata().level().as_str(),
            "target": event.metadata().target(),
            "fields": fields.0,
        });
        if let Some(rank) = self.rank {
            line["rank"] = rank.into();
        }
        writeln!(out, "{line}")
    }
}

/// What an event says, by name.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().into(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().into(), value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().into(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().into(), value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().into(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0
            .insert(field.name().into(), format!("{value:?}").into());
    }
}
