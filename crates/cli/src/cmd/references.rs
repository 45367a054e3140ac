//! References and their taxa, as `gyrase db build`, `gyrase db add` and `gyrase classify --refs`
//! take them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gyrase_classify::edit::{self, Changed, EditError};
use gyrase_classify::{
    BuildConfig, BuildError, BuildPlan, BuildSummary, Index, Parameters, build_in, build_on,
    plan_build,
};
use gyrase_fabric::{Alone, World};
use gyrase_fastx::{Options, Reader};
use gyrase_picture::words::{bytes, grouped, things};
use gyrase_seq::Batch;
use gyrase_table::gydb::{Database, Summary};
use gyrase_taxonomy::{Assigned, TaxonMap, Taxonomy};
use gyrase_work::machine;

use crate::cmd::db::gpu;
use crate::errors::GIVE_TAXIDS;
use crate::failure::{Code, Failure, Result};
use crate::gpu::{Found, GpuArgs};
use crate::session::Session;

/// Tables of taxids up to this size, in bytes, are kept whole in memory.
const SMALL: u64 = 16 << 20;

/// What is added to a database is read into buffers that have one share of the memory; the lists
/// that are made of them and of it have another.
pub const SHARES: u64 = 2;

/// References that a warning names.
pub const NAMED: usize = 3;

/// A taxonomy, and what says which taxid a reference has.
pub struct Taxa {
    taxonomy: Taxonomy,
    /// What the source of the taxonomy itself says.
    table: TaxonMap,
    /// What the other tables say.
    maps: TaxonMap,
}

impl Taxa {
    /// Reads a taxonomy, and of the tables `maps` what they say of the references.
    pub fn read(
        taxonomy: &Path,
        maps: &[PathBuf],
        references: &[PathBuf],
        session: &Session,
    ) -> Result<Taxa> {
        let source = gyrase_taxonomy::read(taxonomy)?;
        Ok(Taxa {
            taxonomy: source.taxonomy,
            table: source.map,
            maps: Taxa::tables(maps, references, session)?,
        })
    }

    /// Reads a taxonomy and of the tables `maps` the small ones, which are kept whole: what takes
    /// memory before a build begins.
    pub fn read_small(taxonomy: &Path, maps: &[PathBuf], session: &Session) -> Result<Taxa> {
        let small = |path: &&PathBuf| path.metadata().is_ok_and(|there| there.len() <= SMALL);
        let maps: Vec<PathBuf> = maps.iter().filter(small).cloned().collect();
        Taxa::read(taxonomy, &maps, &[], session)
    }

    /// Takes the taxonomy of a database, and of the tables `maps` what they say of the references.
    pub fn of_database(
        base: &Index,
        maps: &[PathBuf],
        references: &[PathBuf],
        session: &Session,
    ) -> Result<Taxa> {
        let maps = Taxa::tables(maps, references, session)?;
        Ok(Taxa {
            taxonomy: base.taxonomy.clone(),
            table: TaxonMap::default(),
            maps,
        })
    }

    fn tables(maps: &[PathBuf], references: &[PathBuf], session: &Session) -> Result<TaxonMap> {
        let size: u64 = maps
            .iter()
            .map(|path| path.metadata().map_or(0, |there| there.len()))
            .sum();
        let mut wanted = TaxonMap::keeping_all();
        if size > SMALL {
            wanted = TaxonMap::default();
            references
                .iter()
                .try_for_each(|file| want(&mut wanted, file))?;
        }
        read_tables(&mut wanted, maps, session)?;
        Ok(wanted)
    }

    fn assign(&self, header: &str, file: &Path) -> Assigned {
        let id = header.split_whitespace().next().unwrap_or_default();
        match self.table.assign(&self.taxonomy, id, file) {
            Assigned::Unmapped => self.maps.assign(&self.taxonomy, id, file),
            known => known,
        }
    }

    /// Builds a database, in memory when there is no `output`, and on a GPU where one was found;
    /// names some of the references without a taxon.
    pub fn build(
        &self,
        references: Vec<PathBuf>,
        output: Option<PathBuf>,
        parameters: Parameters,
        resume: Option<String>,
        gpu: Option<(&GpuArgs, &Found)>,
        session: &Session,
    ) -> Result<(BuildSummary, Option<Database>)> {
        let mut without = Without::among(&references);
        let mut taxon_of = |header: &str, file: &Path| {
            let assigned = self.assign(header, file);
            without.note(header, file, assigned);
            assigned.taxon()
        };
        let taken = admit(session)?;
        let config = BuildConfig {
            resume,
            ..config(references, output, parameters, session, taken)
        };
        let on_gpu = gpu.map_or(Ok(None), |(args, found)| gpu::open(args, found, &config))?;
        let taxonomy = &self.taxonomy;
        // Each process makes a database in memory by itself.
        let world = match config.output {
            Some(_) => session.world(),
            None => &Alone,
        };
        let built = session.shown(|progress| match &on_gpu {
            Some(gpu) => build_on(gpu, &config, taxonomy, &mut taxon_of, progress),
            None => build_in(&config, world, taxonomy, &mut taxon_of, progress),
        });
        let built = built.map_err(|error| {
            if let (&BuildError::NoTaxon { references }, true) = (&error, session.is_first()) {
                without.warn(references, references);
            }
            of_whole(error, taken)
        })?;
        if session.is_first() {
            without.warn(built.0.without_taxon, built.0.targets);
        }
        if let Some(on_gpu) = &on_gpu {
            // Who asks a database in memory has more to say of the GPU.
            let name = if config.output.is_some() {
                "gpu"
            } else {
                "gpu_build"
            };
            gpu::tell(on_gpu, name, session);
        }
        Ok(built)
    }

    /// Predicts a build, or what is added to the database `before`; with the bytes that this
    /// process has taken so far, and those without which it is refused.
    pub fn plan(
        &self,
        references: Vec<PathBuf>,
        parameters: Parameters,
        before: Option<Summary>,
        session: &Session,
    ) -> Result<(BuildPlan, u64, u64)> {
        let taken = admit(session)?;
        let config = config(references, None, parameters, session, taken);
        let plan = plan_build(&config, before).map_err(|error| of_whole(error, taken))?;
        let least = taken + BuildConfig::least_memory(session.threads);
        Ok((plan, taken, least))
    }

    /// Adds references to a database; names some of those without a taxon. `closed`: a taxid that
    /// the taxonomy lacks ends it.
    pub fn add(
        &self,
        base: &Index,
        references: Vec<PathBuf>,
        output: PathBuf,
        closed: bool,
        session: &Session,
    ) -> Result<Changed> {
        let (mut without, mut foreign, progress) =
            (Without::among(&references), None, &session.progress);
        let mut taxon_of = |header: &str, file: &Path| {
            let assigned = self.assign(header, file);
            without.note(header, file, assigned);
            if let (true, Assigned::Unknown(taxid) | Assigned::Deleted(taxid)) = (closed, assigned)
            {
                foreign.get_or_insert_with(|| format!("{} has taxid {taxid}", shown(header, file)));
                progress.cancel();
            }
            assigned.taxon()
        };
        let taken = admit(session)?;
        let config = config(references, Some(output), base.parameters, session, taken);
        let (taxonomy, names) = (&self.taxonomy, &mut taxon_of);
        let added = session.shown(|progress| {
            edit::add_in(base, &config, session.world(), taxonomy, names, progress)
        });
        if let Some(foreign) = foreign {
            let base = base.features.path().display();
            return Err(Failure::usage(format!(
                "{foreign}, which {base} does not have; name a dump that has it with --taxonomy"
            )));
        }
        let added = added.map_err(|error| match error {
            EditError::Build(error) => EditError::Build(of_whole(error, taken)),
            error => error,
        })?;
        let before = base
            .targets
            .iter()
            .filter(|target| target.taxon.is_none())
            .count();
        let (new, all) = (
            added.database.without_taxon - before,
            added.database.targets - base.targets.len(),
        );
        if session.is_first() {
            without.warn(new, all);
        }
        Ok(added)
    }
}

/// Reads tables of taxids; the first process tells the lines that were left out.
pub fn read_tables(map: &mut TaxonMap, tables: &[PathBuf], session: &Session) -> Result<()> {
    for path in tables {
        let short = map.read(path)?.filter(|_| session.is_first());
        short.iter().for_each(|short| tracing::warn!("{short}"));
    }
    Ok(())
}

/// A reference in a message: the first word of its header, and its file.
fn shown(header: &str, file: &Path) -> String {
    format!(
        "{} in {}",
        header.split_whitespace().next().unwrap_or_default(),
        file.display()
    )
}

/// The first references without a taxon, in order of files, whatever the order in which they are
/// read.
struct Without {
    files: HashMap<PathBuf, usize>,
    named: Vec<(usize, String)>,
}

impl Without {
    fn among(files: &[PathBuf]) -> Without {
        Without {
            files: files.iter().cloned().zip(0..).collect(),
            named: Vec::new(),
        }
    }

    /// Keeps a sentence on a reference that has no taxon, if it is among the first.
    fn note(&mut self, header: &str, file: &Path, assigned: Assigned) {
        if assigned.taxon().is_some() {
            return;
        }
        let help = match assigned {
            Assigned::Unmapped => format!("; {GIVE_TAXIDS}"),
            _ => String::new(),
        };
        let number = self.files.get(file).copied().unwrap_or(usize::MAX);
        let behind = self.named.partition_point(|&(other, _)| other <= number);
        if behind < NAMED {
            self.named.insert(
                behind,
                (number, format!("{} {assigned}{help}", shown(header, file))),
            );
            self.named.truncate(NAMED);
        }
    }

    /// Names them, where `some` of `all` references have no taxon.
    fn warn(&self, some: usize, all: usize) {
        if some == 0 {
            return;
        }
        let (some, all) = (grouped(some as u64), grouped(all as u64));
        tracing::warn!(
            "{some} of {all} references have no taxon, and no read will be classified by them; the \
             first:"
        );
        self.named
            .iter()
            .for_each(|(_, one)| tracing::warn!("  {one}"));
    }
}

/// Refuses a build that cannot keep within its memory; the bytes that this process has taken so
/// far.
fn admit(session: &Session) -> Result<u64> {
    let taken = machine::peak_memory();
    let ranks = session.job().map_or(1, World::ranks);
    let least = taken + BuildConfig::least_memory_in(session.threads, ranks);
    if session.memory < least {
        let (given, threads) = (
            bytes(session.memory),
            things(session.threads as u64, "thread"),
        );
        let what = format!(
            "a build with {threads} needs at least {}, not {given}",
            bytes(least)
        );
        return Err(Failure::new(
            Code::Memory,
            format!("{what}; raise --memory or lower --threads"),
        ));
    }
    Ok(taken)
}

/// The same error, in bytes of the whole process, which had `taken` some before.
fn of_whole(error: BuildError, taken: u64) -> BuildError {
    match error {
        BuildError::Memory {
            what,
            needed,
            given,
        } => BuildError::Memory {
            what,
            needed: needed + taken,
            given: given + taken,
        },
        error => error,
    }
}

fn config(
    references: Vec<PathBuf>,
    output: Option<PathBuf>,
    parameters: Parameters,
    session: &Session,
    taken: u64,
) -> BuildConfig {
    BuildConfig {
        references,
        output,
        parameters,
        threads: session.threads,
        memory: session.memory - taken,
        tmp: session.tmp.clone(),
        max_tmp: session.max_tmp,
        resume: None,
    }
}

/// Asks for the taxids of all sequences of a file.
fn want(map: &mut TaxonMap, file: &Path) -> Result<()> {
    if file == Path::new("-") {
        return Err(Failure::usage(
            "references from a pipe cannot be read twice, as large tables of --map need; write \
             them to a file first",
        ));
    }
    let mut reader = Reader::open(file, &Options::default())?;
    let (mut batch, mut goes_on) = (Batch::default(), false);
    while reader.next_batch(&mut batch)? {
        for record in &batch.records {
            if !goes_on {
                let header = String::from_utf8_lossy(batch.bytes(record.name));
                map.want(header.split_whitespace().next().unwrap_or_default(), file);
            }
            goes_on = record.continues;
        }
    }
    Ok(())
}
