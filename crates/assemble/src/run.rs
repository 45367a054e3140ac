//! The stages of an assembly.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_count::histogram::Histogram;
use gyrase_count::{CountedBins, count_reads_in};
use gyrase_fabric::{Alone, ExchangeFabric, FabricError, Peer, Place, SpillFolder, World};
use gyrase_kmer::with_words;
use gyrase_tabulate::{same_files, spill_path};
use gyrase_work::{Progress, give_back_pieces};

use crate::Error;
use crate::among::Among;
use crate::checkpoint::{Checkpoints, Resumed, State};
use crate::clean::{Errors, clean};
use crate::config::{AssemblyError, Config, Library, Sample};
use crate::contig::HeaderStyle;
use crate::foreign::{AdapterReads, phix};
use crate::graph::{Outlines, Pieces, SharedGraph, Way, compact_among, shape_of};
use crate::longer::longer;
use crate::mercy::{Mercy, merciful};
use crate::pairs::{PairJoins, resolve};
use crate::plan::{count_config, fits, graph_bytes, plan, room_for_graph};
use crate::reads::{Reads, folder as reads_folder};
use crate::records::take_number;
use crate::scaffold::{self, Scaffold, scaffolds};
use crate::solid::{KmerDepth, first_k, lengths};
use crate::stage::GraphStage;
use crate::statistics::Statistics;
use crate::strains::{self, Alike, collapsed};
use crate::supported::{AROUND, supported};
use crate::together::summed;
use crate::unitigs::{Means, SharedUnitigs, SolidKmers, build};
use crate::write;

/// What came out.
#[derive(Debug)]
pub struct Assembled {
    /// The contigs, longest first, without their bases, and how they overlap; in the first process
    /// alone.
    pub contigs: Outlines,
    /// How many bases of each are G or C.
    pub gc: Vec<u64>,
    /// The contigs, each in one process.
    pub graph: SharedGraph,
    /// Reads.
    pub reads: u64,
    /// Their letters.
    pub bases: u64,
    /// What the counts of the k-mers say.
    pub depth: KmerDepth,
    /// What the reads were taken for: where they are of an isolate and do not show one depth, for
    /// those of a metagenome.
    pub sample: Sample,
    /// What was done for genomes of different depths.
    pub mixed: Mixed,
    /// Each k, and what was done with its graph.
    pub stages: Vec<GraphStage>,
    /// What mates made of the last.
    pub resolved: PairJoins,
    /// Reads that hold each of [`ADAPTERS`](crate::ADAPTERS).
    pub adapters: AdapterReads,
    /// Contigs that are the control PhiX174, in the first process.
    pub phix: Vec<Way>,
    /// What an earlier run had done.
    pub resumed: Resumed,
}

impl Assembled {
    /// The numbers of contigs of at least so many bases.
    pub fn statistics(&self, least: usize) -> Statistics {
        let contigs = self.contigs.nodes().zip(&self.gc);
        let sizes = contigs.map(|(way, &gc)| (self.contigs.length(way) as u64, gc));
        Statistics::of(sizes.filter(|&(length, _)| length >= least as u64))
    }

    /// The contigs as far as pairs put them behind each other, in the first process.
    pub fn scaffolds(&self) -> Vec<Scaffold> {
        scaffolds(&self.contigs, &self.resolved.open)
    }
}

/// Reads of many genomes, of which the best covered strains are wanted.
const WITHOUT_STRAINS: Sample = Sample::Metagenome {
    keep_strains: false,
};

/// What was done for a metagenome alone.
#[derive(Debug, Default)]
pub struct Mixed {
    /// k-mers that were seen once and are there between dead ends of the graph, and behind them.
    pub spared: [u64; 2],
    /// Places of the first graph that no read led over, and that were cut.
    pub cut: u64,
    /// Nodes of strains that are not in the contigs.
    pub strains: u64,
    /// The last graph, with the strains that are left out of contigs: each of these is a path
    /// through it.
    pub graph: Option<SharedGraph>,
}

/// Assembles, in this process alone.
///
/// # Errors
/// See [`AssemblyError`].
pub fn run(config: &Config, progress: &Progress) -> Result<Assembled, AssemblyError> {
    run_in(config, &Alone, progress)
}

/// As [`run`], in all processes of a job: each calls it with an equal `config`, but for threads and
/// memory. Each has its share of the reads, of the k-mers and of the graph.
///
/// Collective.
///
/// # Errors
/// See [`AssemblyError`]; where another process failed this one's is
/// [`gyrase_fabric::FabricError::Elsewhere`].
pub fn run_in(
    config: &Config,
    world: &dyn World,
    progress: &Progress,
) -> Result<Assembled, AssemblyError> {
    agree(config, world)?;
    let config = &admitted(config, world.ranks())?;
    progress.start("read", 0);
    let reads = Reads::load(config, world, progress)?;
    refuse_long(&reads)?;
    let checkpoints = Checkpoints::open(config, world)?;
    let of_reads = [reads.held(), reads.bases()];
    let among = &among(config, world, reads.folder(), of_reads, progress)?;
    let (kept, resumed) = checkpoints.last(among)?;
    let mut state = match kept {
        Some(state) => state,
        None => begun(config, &reads, among)?,
    };
    // Thin reads of one genome have no strains.
    let strains = (config.sample == WITHOUT_STRAINS).then_some(strains::BETWEEN);
    let config = match state.depth {
        KmerDepth::MIXED => &mixed(config),
        _ => config,
    };
    grow(&mut state, config, strains, &reads, &checkpoints, among)?;
    let (graph, of_many) = contigs_of(&mut state, config.sample, among)?;
    let (graph, resolved) = match config.libraries.iter().any(Library::is_paired) {
        true => resolve(graph, &reads, config.sample, among)?,
        false => (graph, PairJoins::default()),
    };
    let State { depth, stages, .. } = state;
    Ok(Assembled {
        contigs: graph.outlines_at_first(world)?,
        gc: gc_at_first(&graph, world)?,
        phix: phix_at_first(&graph, world)?,
        adapters: reads.adapters(),
        graph,
        resolved,
        sample: config.sample,
        mixed: of_many,
        reads: reads.len(),
        bases: reads.bases(),
        depth,
        stages,
        resumed,
    })
}

/// How many bases of each contig are G or C.
///
/// Collective.
fn gc_at_first(graph: &SharedGraph, world: &dyn World) -> Result<Vec<u64>, FabricError> {
    let own = graph.own();
    let is_gc = |code: &&u8| (1..=2).contains(*code);
    let gc = |way| own.codes(way).iter().filter(is_gc).count() as u64;
    let say = |way, bytes: &mut Vec<u8>| bytes.extend(gc(way).to_le_bytes());
    let mut all = Vec::new();
    graph.tell_first(world, say, |from| all.push(take_number(from)))?;
    Ok(all)
}

/// The contigs that are PhiX174.
///
/// Collective.
fn phix_at_first(graph: &SharedGraph, world: &dyn World) -> Result<Vec<Way>, FabricError> {
    let own = phix(graph.own()).into_iter();
    let numbers = own.flat_map(|way| graph.number(way).to_bytes());
    let all = world.gather(numbers.collect())?.concat();
    let all = all.as_chunks().0.iter();
    let mut all: Vec<Way> = all.map(|&way| Way::of_bytes(way)).collect();
    all.sort_unstable();
    Ok(all)
}

/// Where the files of an assembly go, and what is in them.
#[derive(Clone, Copy, Debug)]
pub struct Outputs<'a> {
    /// FASTA of contigs.
    pub contigs: &'a Path,
    /// FASTA of scaffolds.
    pub scaffolds: &'a Path,
    /// GFA 1.
    pub graph: &'a Path,
    /// How contigs are named.
    pub style: HeaderStyle,
    /// Bases of the shortest contig and scaffold in FASTA.
    pub least: usize,
}

impl Assembled {
    /// Writes contigs, the `scaffolds` that the first process has, and the graph: all processes
    /// write each file, each its part.
    ///
    /// Collective.
    ///
    /// # Errors
    /// A file cannot be written, or another process failed.
    pub fn write(
        &self,
        scaffolds: &[Scaffold],
        outputs: &Outputs,
        config: &Config,
        world: &dyn World,
        progress: &Progress,
    ) -> Result<(), AssemblyError> {
        let root = spill_path(&config.tmp, "gyrase", &config.output);
        let folder = SpillFolder::of_process(&root, world.peer(), None, false);
        let folder = Arc::new(folder);
        let among = &among(config, world, Arc::clone(&folder), [0; 2], progress)?;
        let Outputs { style, least, .. } = *outputs;
        let graph = &self.graph;
        let with_strains = self.mixed.graph.as_ref();
        write::fasta(graph, style, least, outputs.contigs, among)?;
        scaffold::fasta(graph, scaffolds, style, least, outputs.scaffolds, among)?;
        write::gfa(graph, with_strains, style, outputs.graph, among)?;
        folder.remove();
        Ok(())
    }
}

/// The last graph, without strains where these are to be left out, and what was done for a
/// metagenome.
///
/// Collective.
fn contigs_of(
    state: &mut State,
    sample: Sample,
    among: &Among,
) -> Result<(SharedGraph, Mixed), AssemblyError> {
    let graph = std::mem::take(&mut state.graph);
    let of_many = Mixed {
        spared: state.spared,
        cut: state.cut,
        strains: state.strains,
        graph: None,
    };
    if sample != WITHOUT_STRAINS {
        return Ok((graph, of_many));
    }
    let (without, strains) = collapsed(graph.clone(), strains::AT_THE_END, among)?;
    let of_many = Mixed {
        strains: of_many.strains + strains,
        graph: Some(graph),
        ..of_many
    };
    Ok((without, of_many))
}

/// The same with threads that its memory is enough for.
fn admitted(config: &Config, ranks: usize) -> Result<Config, AssemblyError> {
    let plan = plan(config, ranks)?;
    plan.admit(config)?;
    Ok(Config {
        threads: plan.threads,
        ..config.clone()
    })
}

/// The same, of many genomes.
fn mixed(config: &Config) -> Config {
    let sample = match config.sample {
        Sample::Isolate => WITHOUT_STRAINS,
        mixed => mixed,
    };
    Config {
        sample,
        ..config.clone()
    }
}

/// Makes the graph of each larger k, of one without the strains that are to be left out before.
fn grow(
    state: &mut State,
    config: &Config,
    strains: Option<Alike>,
    reads: &Reads,
    checkpoints: &Checkpoints,
    among: &Among,
) -> Result<(), AssemblyError> {
    let depth = state.depth;
    let ks = config.ks.clone();
    let ks = ks.unwrap_or_else(|| lengths(reads, depth, config.sample));
    let done = state.graph.k();
    for k in ks.into_iter().filter(|&k| k > done) {
        checkpoints.put(state)?;
        if let Some(alike) = strains {
            let (without, went) = collapsed(std::mem::take(&mut state.graph), alike, among)?;
            (state.graph, state.strains) = (without, state.strains + went);
        }
        give_back_pieces();
        state.graph = longer(&state.graph, reads, k, config.sample, among)?;
        let depth = depth.at(k, reads.typical_length(), config.sample);
        cleaned(state, depth, config.sample, among)?;
    }
    give_back_pieces();
    checkpoints.put(state)
}

/// Reads that are longer come of other machines, and have other errors.
const LONGEST: u32 = 1000;

fn refuse_long(reads: &Reads) -> Result<(), AssemblyError> {
    match reads.typical_length() {
        length @ (LONGEST..) => Err(AssemblyError::LongReads { length }),
        _ => Ok(()),
    }
}

fn cleaned(
    state: &mut State,
    depth: u64,
    sample: Sample,
    among: &Among,
) -> Result<(), AssemblyError> {
    let graph = std::mem::take(&mut state.graph);
    let (k, nodes) = (graph.k(), graph.len());
    let errors = match state.stages.is_empty() {
        true => Errors::Kmers,
        false => Errors::Walks,
    };
    let (graph, cleaned) = clean(graph, depth, (sample, errors), among)?;
    state.stages.push(GraphStage {
        k,
        nodes,
        cleaned,
        left: graph.len(),
    });
    state.graph = graph;
    Ok(())
}

/// The processes that make graphs together, with a part of the memory for what travels. Of the
/// reads is given what bytes this process holds of them, and how many bases all of them have.
///
/// Collective.
fn among<'a>(
    config: &Config,
    world: &'a dyn World,
    folder: Arc<SpillFolder>,
    [held, bases]: [u64; 2],
    progress: &'a Progress,
) -> Result<Among<'a>, AssemblyError> {
    let place = Place::among(PARTS.max(world.ranks()).next_power_of_two(), world.peer());
    let least = ExchangeFabric::least_memory(place.partitions, world.ranks(), config.threads);
    let room = room_for_graph(config.memory, held);
    let least_of_all = world.min(&[least.max(config.memory / 16), room])?;
    let [memory, room] = [0, 1].map(|number| least_of_all[number]);
    Ok(Among {
        world,
        bins: place.owned().collect(),
        place,
        threads: config.threads,
        memory,
        room,
        folder,
        bases: bases / world.ranks() as u64,
        progress,
    })
}

/// Parts that what travels is divided into, where there are not more processes.
const PARTS: usize = 256;

/// Refuses processes that are to assemble different reads.
fn agree(config: &Config, world: &dyn World) -> Result<(), AssemblyError> {
    if world.ranks() == 1 {
        return Ok(());
    }
    let mut asked = DefaultHasher::new();
    config.question().hash(&mut asked);
    if !world.all_equal(&[asked.finish()])? {
        return Err(gyrase_count::Error::DifferentQuestions.into());
    }
    let files: Vec<PathBuf> = config.libraries.iter().flat_map(Library::files).collect();
    Ok(same_files(world, &files)?)
}

/// The first state, of one genome where this was asked for and the reads show its depth.
fn begun(config: &Config, reads: &Reads, among: &Among) -> Result<State, AssemblyError> {
    if let Some(state) = first(config, config.sample, reads, among)? {
        return Ok(state);
    }
    let of_mixture = first(&mixed(config), config.sample, reads, among)?;
    Ok(of_mixture.expect("a mixture has no one depth"))
}

/// The cleaned graph of the smallest k: of the k-mers that are seen often enough. Nothing where the
/// reads are to be of one genome, and do not show its depth. What was `asked` for at first may be
/// another sample than that of `config`.
fn first(
    config: &Config,
    asked: Sample,
    reads: &Reads,
    among: &Among,
) -> Result<Option<State>, AssemblyError> {
    let (world, progress) = (among.world, among.progress);
    let memory = config.memory.saturating_sub(reads.held());
    let (bins, _) = count_reads_in(&count_config(config, memory), world, progress)?;
    let Some((depth, kmers)) = depth_of(&bins, config, world, progress)? else {
        return Ok(None);
    };
    let graph = graph_bytes(kmers, world.ranks());
    fits(reads.least_memory(graph), config)?;
    let unitigs = unitigs_of(bins, depth.least, config, reads, progress)?;
    let mut pieces = Pieces::default();
    pieces.add(unitigs.own());
    drop(unitigs);
    let k = first_k(config.sample);
    let graph = with_words!(shape_of(k), W => compact_among::<W>(k, &pieces, among))?;
    drop(pieces);
    give_back_pieces();
    let mut state = State {
        graph,
        depth,
        stages: Vec::new(),
        spared: [0; 2],
        cut: 0,
        strains: 0,
    };
    spare(&mut state, config, reads, Mercy::Gaps, among)?;
    cleaned(&mut state, depth.peak, config.sample, among)?;
    spare(&mut state, config, reads, Mercy::Ends, among)?;
    if config.sample.is_mixed() {
        // Thin reads of one genome have nothing in common with another.
        let around = if asked.is_mixed() { AROUND } else { 0 };
        (state.graph, state.cut) = supported(&state.graph, reads, around, among)?;
    }
    Ok(Some(state))
}

/// Lets k-mers of a metagenome come back that were seen once.
fn spare(
    state: &mut State,
    config: &Config,
    reads: &Reads,
    mercy: Mercy,
    among: &Among,
) -> Result<(), AssemblyError> {
    if config.sample.is_mixed() {
        let kmers = state.graph.kmers(among)?;
        let graph = |added| graph_bytes(kmers + added, among.world.ranks());
        let admit = |added| fits(reads.least_memory(graph(added)), config);
        let (graph, spared) = merciful(&state.graph, reads, mercy, &admit, among)?;
        state.graph = graph;
        state.spared[mercy as usize] = spared;
    }
    Ok(())
}

/// What the counts say, and how many k-mers are seen often enough, of those of all processes.
///
/// Collective.
fn depth_of(
    bins: &CountedBins,
    config: &Config,
    world: &dyn World,
    progress: &Progress,
) -> Result<Option<(KmerDepth, u64)>, AssemblyError> {
    let own = bins.histogram(config.threads, progress)?;
    let row = |(count, kmers)| (u64::from(count), [u64::from(count)], [kmers]);
    let own: Vec<_> = own.rows().map(row).collect();
    let mut histogram = Histogram::default();
    for ([count], [kmers]) in summed(world, &own)? {
        histogram.add(count as u32, kmers);
    }
    let depth = match config.sample {
        Sample::Isolate => KmerDepth::of(&histogram),
        Sample::Metagenome { .. } => Some(KmerDepth::MIXED),
    };
    Ok(depth.map(|depth| {
        let often = histogram.rows().filter(|row| row.0 >= depth.least);
        (depth, often.map(|row| row.1).sum())
    }))
}

/// The unitigs of the k-mers that are seen often enough, made in the memory beside the reads.
fn unitigs_of(
    bins: CountedBins,
    least: u32,
    config: &Config,
    reads: &Reads,
    progress: &Progress,
) -> Result<SharedUnitigs, AssemblyError> {
    let means = Means {
        threads: config.threads,
        memory: config.memory.saturating_sub(reads.held()),
        folder: Arc::clone(bins.folder()),
    };
    let kmers = SolidKmers::Counted {
        bins,
        min_count: least,
    };
    build(kmers, &means, reads.world(), progress).map_err(|error| match error {
        Error::Memory { needed, .. } => AssemblyError::memory(reads.least_memory(needed), config),
        other => other.into(),
    })
}

/// What a process leaves when it is killed, beside the folder of the output.
pub fn leftovers(config: &Config, peer: Peer) -> Vec<PathBuf> {
    let counted = spill_path(&config.tmp, "gyrase", &config.output);
    [counted, reads_folder(config)]
        .iter()
        .map(|root| SpillFolder::path_of(root, peer))
        .collect()
}
