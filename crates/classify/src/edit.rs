//! Changes databases: merges them, adds references, removes targets.
//!
//! What comes out is the database that [`build`](crate::build()) makes of the same references in
//! the same order: the locations of a database are sorted into lists as the records of references
//! are, and the cap of those lists does not depend on what else was there. The one exception is a
//! feature that had reached its cap and loses locations: those that the cap had left out do not
//! come back.

mod error;
mod plan;

use std::collections::HashSet;
use std::path::Path;
use std::slice;

use gyrase_fabric::{Alone, Drain, Each, FabricError, Place, World};
use gyrase_table::gydb::{Location, PARTITIONS};
use gyrase_work::Progress;

pub use self::error::EditError;
pub use self::plan::{ChangePlan, plan_merge, plan_remove};
use crate::build::{self, BuildError, Config, Outline, Summary};
use crate::catalogue::Catalogue;
use crate::index::{Index, Parameters};
use crate::mismatch;
use crate::parts::{Moves, Part};
use crate::targets::{Target, Targets};
use gyrase_taxonomy::{Taxon, Taxonomy};

/// What a change made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The new database.
    pub database: Summary,
    /// Names of targets that came though a target of that name was there.
    pub repeated: Vec<String>,
    /// Features that had as many locations as a feature may have, and lost some: a build would
    /// perhaps have found others.
    pub incomplete: u64,
}

/// Which targets to remove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unwanted {
    /// Taxids: all targets of their clades. 0: those without a taxon.
    pub taxids: Vec<u32>,
    /// Names: all targets that are called so.
    pub names: Vec<String>,
}

/// What a change may take of the machine, in each process of a job.
#[derive(Clone, Debug)]
pub struct Limits<'a> {
    /// Threads, at least 1.
    pub threads: usize,
    /// Where finished partitions wait that have no room in memory; not used by a process alone.
    pub tmp: &'a Path,
    /// Bytes that may wait there.
    pub max_tmp: Option<u64>,
}

/// Bytes of finished partitions that wait to be written.
const WAITING: usize = 64 << 20;

/// Bytes that a change takes, about, whatever the databases: mostly what waits to be written.
const FIXED: u64 = 80 << 20;

/// Bytes for each location of the partition that a thread is at: records, what sorts them, lists,
/// the bytes of the file.
const PER_LOCATION: u64 = 40;

/// Partitions differ: no other is larger than so many of the average.
const LARGEST: u64 = 2;

/// Bytes of memory that merging databases with so many locations in all, or changing one, takes at
/// least.
pub fn least_memory(locations: u64, threads: usize) -> u64 {
    FIXED + threads as u64 * LARGEST * PER_LOCATION * locations / PARTITIONS as u64
}

/// Writes the database `output` of all targets of `parts`, in their order. It may take the place of
/// one of them.
///
/// # Errors
/// When they are of other parameters or of contradicting taxonomies, have too many windows, are
/// damaged, or `output` cannot be written: no file appears then.
///
/// # Panics
/// Without any parts.
pub fn merge(
    parts: &[Index],
    output: &Path,
    threads: usize,
    progress: &Progress,
) -> Result<Changed, EditError> {
    merge_in(parts, output, &Limits::alone(threads), &Alone, progress)
}

/// As [`merge`], in all processes of a job: each calls it with the same databases. Every process
/// merges the partitions that it owns.
///
/// # Errors
/// As those of [`merge`]; where another process failed this one's is
/// [`FabricError::Elsewhere`].
pub fn merge_in(
    parts: &[Index],
    output: &Path,
    limits: &Limits<'_>,
    world: &dyn World,
    progress: &Progress,
) -> Result<Changed, EditError> {
    let Catalogue {
        targets,
        taxonomy,
        parameters,
        ..
    } = &unite(parts)?;
    let (mut moved, mut first) = (Vec::new(), Location(0));
    let (mut repeated, mut names) = (Vec::new(), HashSet::new());
    for part in parts {
        moved.push(Part::new(&part.features, Moves::behind(first)));
        first = first.behind(part.targets.all_windows());
        repeated.extend(known(&names, part.targets.iter()));
        names.extend(part.targets.iter().map(|target| target.name.as_str()));
    }
    let outline = Outline {
        taxonomy,
        targets,
        parts: &moved,
    };
    let config = of_parts(*parameters, output, limits);
    let database = write(&config, parts, &outline, world, progress)?;
    Ok(Changed {
        database,
        repeated,
        incomplete: 0,
    })
}

/// Finds out that databases can be merged.
///
/// # Errors
/// When they are of other parameters or of contradicting taxonomies, or have too many windows.
pub fn check(parts: &[Index]) -> Result<(), EditError> {
    unite(parts).map(|_| ())
}

/// What the databases say of the references, together.
fn unite(parts: &[Index]) -> Result<Catalogue, EditError> {
    let united: Vec<_> = parts
        .iter()
        .map(|part| (part.features.path(), part.catalogue()))
        .collect();
    Ok(Catalogue::unite(&united)?)
}

/// Builds references and writes `config.output`, the database of the targets of `base` and of them.
/// It may take the place of `base`, and has its parameters, whatever those of `config`. The taxa
/// that `taxon_of` names are of `taxonomy`, as in [`build`](crate::build()).
///
/// # Errors
/// As those of [`build`](crate::build()), and when `taxonomy` contradicts that of `base` in what
/// leads to the references.
pub fn add(
    base: &Index,
    config: &Config,
    taxonomy: &Taxonomy,
    taxon_of: &mut (dyn FnMut(&str, &Path) -> Option<Taxon> + Send),
    progress: &Progress,
) -> Result<Changed, EditError> {
    add_in(base, config, &Alone, taxonomy, taxon_of, progress)
}

/// As [`add`], in all processes of a job: each calls it with the same database and an equal
/// `config`, but for threads and memory. Every process reads some of the files.
///
/// # Errors
/// As those of [`add`]; where another process failed this one's is [`FabricError::Elsewhere`].
pub fn add_in(
    base: &Index,
    config: &Config,
    world: &dyn World,
    taxonomy: &Taxonomy,
    taxon_of: &mut (dyn FnMut(&str, &Path) -> Option<Taxon> + Send),
    progress: &Progress,
) -> Result<Changed, EditError> {
    let config = Config {
        parameters: base.parameters,
        ..config.clone()
    };
    let begun = build::Begun::new(&config, world)?;
    still_there(slice::from_ref(base))?;
    let names = (taxonomy, taxon_of);
    let targets = base.targets.clone();
    let (partitions, targets) = build::scatter(&config, world, &begun, targets, names, progress)?;
    let new = || targets.iter().skip(base.targets.len());
    let (whole, all) = united(base, taxonomy, &targets)?;
    let names = base
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    let repeated = known(&names, new()).collect();
    let parts = [Part::new(&base.features, Moves::behind(Location(0)))];
    let outline = Outline {
        taxonomy: &whole,
        targets: &all,
        parts: &parts,
    };
    let writer = begun.writer;
    let (database, _) = build::complete(&config, world, writer, &outline, partitions, progress)?;
    Ok(Changed {
        database,
        repeated,
        incomplete: 0,
    })
}

/// The taxonomy of a database and of the targets behind its own, whose taxa are of `taxonomy`; and
/// all of them with their taxa in it.
fn united(
    base: &Index,
    taxonomy: &Taxonomy,
    targets: &Targets,
) -> Result<(Taxonomy, Targets), EditError> {
    let new = targets.iter().skip(base.targets.len());
    let wanted = taxonomy.subset(new.filter_map(|target| target.taxon));
    let whole = Taxonomy::unite([&base.taxonomy, &wanted]);
    let whole = whole.map_err(|disunity| mismatch::of_addition(base.features.path(), disunity))?;
    let mut all = Targets::default();
    for (place, target) in targets.iter().enumerate() {
        let own = match place < base.targets.len() {
            true => &base.taxonomy,
            false => taxonomy,
        };
        all.push(target.moved(own, &whole, 0))
            .expect("there are as many windows as before");
    }
    Ok((whole, all))
}

/// Writes the database `output` of all targets of `base` but the unwanted. It may take the place of
/// `base`.
///
/// # Errors
/// When nothing is called as one of the unwanted, when no target would stay, when `base` is damaged
/// or `output` cannot be written: no file appears then.
pub fn remove(
    base: &Index,
    unwanted: &Unwanted,
    output: &Path,
    threads: usize,
    progress: &Progress,
) -> Result<Changed, EditError> {
    remove_in(
        base,
        unwanted,
        output,
        &Limits::alone(threads),
        &Alone,
        progress,
    )
}

/// As [`remove`], in all processes of a job: each calls it with the same database.
///
/// # Errors
/// As those of [`remove`]; where another process failed this one's is
/// [`FabricError::Elsewhere`].
pub fn remove_in(
    base: &Index,
    unwanted: &Unwanted,
    output: &Path,
    limits: &Limits<'_>,
    world: &dyn World,
    progress: &Progress,
) -> Result<Changed, EditError> {
    let kept = unwanted.kept(base)?;
    let (mut targets, mut source) = (Targets::default(), None);
    for (target, _) in base.targets.iter().zip(&kept).filter(|(_, kept)| **kept) {
        let (number, of) = source.map_or((0, target.source), |(number, of)| {
            (number + u32::from(of != target.source), target.source)
        });
        source = Some((number, of));
        let target = Target {
            source: number,
            ..target.clone()
        };
        targets
            .push(target)
            .expect("there are no more windows than before");
    }
    let parts = [Part::new(
        &base.features,
        Moves::of_kept(&base.targets, &kept),
    )];
    let outline = Outline {
        taxonomy: &base.taxonomy,
        targets: &targets,
        parts: &parts,
    };
    let config = of_parts(base.parameters, output, limits);
    let database = write(&config, slice::from_ref(base), &outline, world, progress)?;
    let incomplete = world.sum(&[parts[0].incomplete()]);
    Ok(Changed {
        database,
        repeated: Vec::new(),
        incomplete: incomplete.map_err(BuildError::from)?[0],
    })
}

/// Refuses databases that were replaced since they were opened. It is asked when nobody else can
/// write any more: what others did would be undone.
fn still_there(parts: &[Index]) -> Result<(), EditError> {
    let gone = parts.iter().find(|part| !part.features.is_current());
    gone.map_or(Ok(()), |part| {
        Err(EditError::Replaced {
            path: error::path(part),
        })
    })
}

impl Limits<'_> {
    /// That of a process alone.
    fn alone(threads: usize) -> Limits<'static> {
        Limits {
            threads,
            tmp: Path::new(""),
            max_tmp: None,
        }
    }
}

/// What to build of parts alone.
fn of_parts(parameters: Parameters, output: &Path, limits: &Limits<'_>) -> Config {
    Config {
        references: Vec::new(),
        output: Some(output.to_path_buf()),
        parameters,
        threads: limits.threads,
        memory: 0,
        tmp: limits.tmp.to_path_buf(),
        max_tmp: limits.max_tmp,
        resume: None,
    }
}

/// Writes a database of parts alone.
fn write(
    config: &Config,
    parts: &[Index],
    outline: &Outline,
    world: &dyn World,
    progress: &Progress,
) -> Result<Summary, EditError> {
    let begun = build::Begun::with_waiting(config, WAITING, world)?;
    still_there(parts)?;
    let place = Place::among(PARTITIONS, world.peer());
    let none = build::Records::none(Nothing(place));
    Ok(build::complete(config, world, begun.writer, outline, none, progress)?.0)
}

/// Partitions without records, those of a process.
struct Nothing(Place);

impl Drain for Nothing {
    fn owned(&self) -> Vec<usize> {
        self.0.owned().collect()
    }

    fn bytes(&self, _: usize) -> u64 {
        0
    }

    fn drain<E: From<FabricError>>(&self, _: usize, _: &mut Each<E>) -> Result<(), E> {
        Ok(())
    }
}

/// The names of those targets that have one of `names`.
fn known<'t>(
    names: &HashSet<&str>,
    targets: impl Iterator<Item = &'t Target>,
) -> impl Iterator<Item = String> {
    targets
        .filter(|target| names.contains(target.name.as_str()))
        .map(|target| target.name.clone())
}

impl Unwanted {
    /// For every target whether it stays.
    fn kept(&self, base: &Index) -> Result<Vec<bool>, EditError> {
        let (targets, taxonomy) = (&base.targets, &base.taxonomy);
        let mut kept = vec![true; targets.len()];
        let mut drop_all = |unwanted: &dyn Fn(&Target) -> bool| {
            let found = (0..)
                .zip(targets.iter())
                .filter(|(_, target)| unwanted(target));
            let places: Vec<usize> = found.map(|(place, _)| place).collect();
            places.iter().for_each(|&place| kept[place] = false);
            !places.is_empty()
        };
        let mut unknown = Vec::new();
        for &taxid in &self.taxids {
            let found = match taxonomy.taxon_of(taxid) {
                Some(taxon) => drop_all(&|target| {
                    target
                        .taxon
                        .is_some_and(|own| taxonomy.is_above(taxon, own))
                }),
                None => taxid == 0 && drop_all(&|target| target.taxon.is_none()),
            };
            unknown.extend((!found).then(|| format!("taxid {taxid}")));
        }
        let names: HashSet<&str> = self.names.iter().map(String::as_str).collect();
        drop_all(&|target| names.contains(target.name.as_str()));
        let there: HashSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        unknown.extend(
            self.names
                .iter()
                .filter(|name| !there.contains(name.as_str()))
                .cloned(),
        );
        match () {
            () if !unknown.is_empty() => Err(error::unknown(base, unknown)),
            () if !kept.contains(&true) => Err(EditError::NothingLeft {
                path: error::path(base),
            }),
            () => Ok(kept),
        }
    }
}
