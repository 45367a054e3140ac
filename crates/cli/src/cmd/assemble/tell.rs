//! What is said of an assembly.

use std::path::Path;

use gyrase_assemble::{Assembled, Config, GraphStage, Library, Statistics};
use gyrase_picture::words::{self, bytes, grouped, things};
use gyrase_work::machine;
use serde_json::{Value, json};

use crate::session::Session;

/// Bases of a contig that statistics are about, where nothing else is said: as QUAST has it.
pub const QUOTED: usize = 500;

/// What is known.
pub struct Told<'a> {
    pub config: &'a Config,
    pub assembly: &'a Assembled,
    /// Bases of the shortest contig that is written.
    pub min_length: usize,
}

impl Told<'_> {
    /// Of contigs of at least so many bases.
    pub fn statistics(&self, least: usize) -> Statistics {
        let graph = &self.assembly.graph;
        let long = graph.nodes().filter(|&way| graph.length(way) >= least);
        Statistics::of(long.map(|way| graph.codes(way)))
    }

    /// Says it to whoever waits.
    pub fn say(&self, session: &Session, output: &Path) {
        let Assembled { reads, bases, .. } = *self.assembly;
        tracing::info!(
            reads,
            bases,
            "{}, {}",
            things(reads, "read"),
            things(bases, "base")
        );
        if self.assembly.graph.is_empty() {
            tracing::warn!("no stretch of the reads was seen often enough: there is no contig");
        }
        let contigs = self.statistics(QUOTED);
        let ((n50, _), total) = (contigs.n(50), contigs.total(0));
        let (count, largest) = (contigs.count(0) as u64, contigs.largest());
        tracing::info!(
            contigs = count,
            total,
            n50,
            largest,
            "{} of {QUOTED} bases or more in {}: {} bases, N50 {}, largest {}",
            things(count, "contig"),
            output.display(),
            grouped(total),
            grouped(n50),
            grouped(largest)
        );
        let peak = machine::peak_memory();
        tracing::info!(
            seconds = session.elapsed().as_secs_f64(),
            peak_memory_bytes = peak,
            "{}, peak memory {}",
            words::time(session.elapsed()),
            bytes(peak)
        );
    }

    /// Notes it for the report.
    pub fn note(&self, session: &Session, output: &Path) {
        let inputs: Vec<Value> = self.config.libraries.iter().map(library).collect();
        session.note("inputs", inputs);
        session.note("output", output.display().to_string());
        session.note(
            "parameters",
            json!({
                "threads": self.config.threads,
                "memory_bytes": self.config.memory,
                "tmp": self.config.tmp.display().to_string(),
                "min_length": self.min_length,
            }),
        );
        session.note("counts", self.counts());
        session.note("joins", self.joins());
        let stages = self.assembly.stages.iter().map(stage);
        session.note("graphs", stages.collect::<Vec<_>>());
    }

    /// Which k-mers follow each other by the graph alone, and which nodes by pairs.
    fn joins(&self) -> Value {
        let (graph, resolved) = (&self.assembly.graph, &self.assembly.resolved);
        let kmers: u64 = graph.nodes().map(|way| graph.kmers(way)).sum();
        let pairs = &resolved.pairs;
        let inserts = resolved.inserts.as_ref();
        json!({
            "kmers_without_choice": kmers - graph.len() as u64,
            "by_pairs": pairs.len(),
            "pairs_least": pairs.first(),
            "pairs_median": pairs.get(pairs.len() / 2),
            "then_without_choice": resolved.freed,
            "left_open": resolved.ambiguous,
            "insert_median": inserts.map(|inserts| inserts.median),
            "insert_deviation": inserts.map(|inserts| inserts.deviation),
        })
    }

    fn counts(&self) -> Value {
        let Assembled { reads, bases, .. } = *self.assembly;
        let contigs = self.statistics(QUOTED);
        let ((n50, l50), (n90, l90)) = (contigs.n(50), contigs.n(90));
        let [gc, aun] = [contigs.gc_hundredths(), contigs.aun_tenths()];
        json!({
            "reads": reads,
            "bases": bases,
            "least_count": self.assembly.depth.least,
            "depth": self.assembly.depth.peak,
            "contigs": self.statistics(self.min_length).count(0),
            "contigs_500": contigs.count(0),
            "total": contigs.total(0),
            "largest": contigs.largest(),
            "n50": n50, "l50": l50, "n90": n90, "l90": l90,
            "aun": aun as f64 / 10.0,
            "gc_percent": gc as f64 / 100.0,
        })
    }
}

fn library(library: &Library) -> Value {
    let files: Vec<String> = library
        .files()
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let kind = match library {
        Library::Single(_) => "single",
        Library::Paired(..) => "paired",
        Library::Interleaved(_) => "interleaved",
    };
    json!({"files": files, "kind": kind})
}

fn stage(stage: &GraphStage) -> Value {
    let cleaned = &stage.cleaned;
    json!({
        "k": stage.k,
        "nodes": stage.nodes,
        "tips": cleaned.tips,
        "bubbles": cleaned.bubbles,
        "links": cleaned.links,
        "isolated": cleaned.isolated,
        "left": stage.left,
    })
}
