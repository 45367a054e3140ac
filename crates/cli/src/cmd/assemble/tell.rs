//! What is said of an assembly.

use std::path::{Path, PathBuf};

use gyrase_assemble::{
    ADAPTERS, Assembled, AssemblyPage, Config, GraphStage, HeaderStyle, Library, Resumed, Sample,
    Scaffold,
};
use gyrase_picture::words::{self, grouped, things};
use serde_json::{Value, json};

use crate::session::Session;

/// Bases of a contig that statistics are about, where nothing else is said: as QUAST has it.
pub const QUOTED: usize = 500;

/// One in so many reads with an adapter is worth a word.
const MANY: u64 = 1000;

/// What is known.
pub struct Told<'a> {
    pub config: &'a Config,
    pub assembly: &'a Assembled,
    pub scaffolds: Vec<Scaffold>,
    /// Bases of the shortest contig that is written.
    pub min_length: usize,
}

impl Told<'_> {
    /// The page.
    pub fn page(&self, style: HeaderStyle) -> AssemblyPage<'_> {
        let files = self.config.libraries.iter().flat_map(Library::files);
        let name = |file: PathBuf| file.file_name().unwrap_or_default().display().to_string();
        AssemblyPage {
            assembly: self.assembly,
            style,
            quoted: QUOTED,
            files: files.map(name).collect(),
            warnings: self.warnings(style),
        }
    }

    /// What is unlike reads of one genome alone, and what to do about it.
    pub fn warnings(&self, style: HeaderStyle) -> Vec<String> {
        let Assembled { contigs, reads, .. } = self.assembly;
        let adapters = ADAPTERS.iter().zip(self.assembly.adapters);
        let many = adapters.filter(|(_, found)| found * MANY >= *reads && *found > 0);
        let adapters = many.map(|(adapter, found)| {
            let (share, letters) = (words::percent(found, *reads), adapter.letters);
            format!(
                "{share} of the reads hold the adapter {} ({letters}): trim it, as `cutadapt -a \
                 {letters} -A {letters}` does, and assemble again",
                adapter.name
            )
        });
        let all: u64 = contigs.nodes().map(|way| contigs.count(way)).sum();
        let phix = self.assembly.phix.iter().map(|&way| {
            let contig = contigs.contig(way);
            let (name, length) = (style.name(&contig), contig.length as u64);
            let share = words::percent(contig.count, all);
            format!(
                "{name} ({}, {share} of what was read) is PhiX174, the control of Illumina runs: \
                 leave it out of what follows",
                things(length, "base")
            )
        });
        let is_other = self.assembly.sample != self.config.sample;
        let other = is_other.then(|| {
            "the reads do not show the depth of one genome, since they are few or of several: they \
             were assembled as a metagenome; --meta also cuts thin places that no read bridges"
                .to_owned()
        });
        other.into_iter().chain(adapters).chain(phix).collect()
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
        if self.assembly.contigs.is_empty() {
            tracing::warn!("no stretch of the reads was seen often enough: there is no contig");
        }
        let contigs = self.assembly.statistics(QUOTED);
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
        session.say_end();
    }

    /// Notes it for the report, and warns.
    pub fn note(&self, session: &Session, output: &Path, style: HeaderStyle) {
        for warning in self.warnings(style) {
            tracing::warn!("{warning}");
        }
        self.say_resumed(session);
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
                "meta": self.assembly.sample.is_mixed(),
                "keep_strains": self.config.sample == Sample::Metagenome { keep_strains: true },
            }),
        );
        session.note("counts", self.counts());
        session.note("joins", self.joins());
        session.note("foreign", self.foreign(style));
        let stages = self.assembly.stages.iter().map(stage);
        session.note("graphs", stages.collect::<Vec<_>>());
    }

    /// What an earlier run had done.
    fn say_resumed(&self, session: &Session) {
        let Resumed { behind, had_other } = self.assembly.resumed;
        if let Some(k) = behind {
            tracing::info!("went on behind k = {k}, where an earlier run was cut short");
        } else if had_other {
            tracing::warn!(
                "what an earlier run kept in {} is of other reads or options: all was done anew",
                self.config.tmp.display()
            );
        }
        session.note("resumed_behind_k", behind);
    }

    /// Which k-mers follow each other by the graph alone, and which nodes by pairs.
    fn joins(&self) -> Value {
        let (contigs, resolved) = (&self.assembly.contigs, &self.assembly.resolved);
        let kmers: u64 = contigs.nodes().map(|way| contigs.kmers(way)).sum();
        let pairs = &resolved.pairs;
        let inserts = resolved.inserts.as_ref();
        let gaps: Vec<(i64, u64)> = self
            .scaffolds
            .iter()
            .flat_map(|one| one.gaps.clone())
            .collect();
        let unknown: usize = self.scaffolds.iter().map(Scaffold::unknown).sum();
        json!({
            "kmers_without_choice": kmers - contigs.len() as u64,
            "spared_kmers_between_ends": self.assembly.mixed.spared[0],
            "spared_kmers_behind_ends": self.assembly.mixed.spared[1],
            "cut_where_no_read_leads_on": self.assembly.mixed.cut,
            "strains_left_out": self.assembly.mixed.strains,
            "by_pairs": pairs.len(),
            "pairs_least": pairs.first(),
            "pairs_median": pairs.get(pairs.len() / 2),
            "by_pairs_where_ends_overlap": resolved.overlapping,
            "then_without_choice": resolved.freed,
            "left_open": resolved.open.len() - gaps.len(),
            "scaffolded": gaps.len(),
            "scaffold_pairs_least": gaps.iter().map(|gap| gap.1).min(),
            "unknown_bases": unknown,
            "insert_median": inserts.map(|inserts| inserts.median),
            "insert_deviation": inserts.map(|inserts| inserts.deviation),
        })
    }

    /// Adapters in the reads, and contigs that are PhiX174.
    fn foreign(&self, style: HeaderStyle) -> Value {
        let Assembled { contigs, reads, .. } = self.assembly;
        let of_reads = |found: u64| found as f64 / (*reads).max(1) as f64;
        let adapters = ADAPTERS.iter().zip(self.assembly.adapters);
        let adapters = adapters.map(|(adapter, found)| {
            let told =
                json!({"letters": adapter.letters, "reads": found, "share": of_reads(found)});
            (adapter.name.to_owned(), told)
        });
        let phix = self.assembly.phix.iter();
        json!({
            "adapters": adapters.collect::<serde_json::Map<_, _>>(),
            "phix174": phix.map(|&way| style.name(&contigs.contig(way))).collect::<Vec<_>>(),
        })
    }

    fn counts(&self) -> Value {
        let Assembled { reads, bases, .. } = *self.assembly;
        let contigs = self.assembly.statistics(QUOTED);
        let ((n50, l50), (n90, l90)) = (contigs.n(50), contigs.n(90));
        let [gc, aun] = [contigs.gc_hundredths(), contigs.aun_tenths()];
        json!({
            "reads": reads,
            "bases": bases,
            "least_count": self.assembly.depth.least,
            "depth": self.assembly.depth.peak,
            "contigs": self.assembly.statistics(self.min_length).count(0),
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
        "ends": cleaned.ends,
        "left": stage.left,
    })
}
