//! A build by a GPU: in each pass over the references it keeps the features of as many partitions
//! as it has room for and sorts them, and threads make their lists.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_fabric::{Alone, SpillFolder};
use gyrase_table::gydb::{Database, PARTITIONS};
use gyrase_work::Progress;

use super::budget::Budget;
use super::config::Config;
use super::error::BuildError;
use super::on_gpu::{BuildOnGpu, OnDevice};
use super::records::Records;
use super::{Begun, Earlier, Listed, Outline, Summary, build, fabric, read, some_taxon};
use crate::cap::Cap;
use crate::references::TaxonOf;
use crate::targets::Targets;
use gyrase_taxonomy::{Taxon, Taxonomy};

/// As [`build`], with a GPU that sketches in place of the threads and sorts. The database is the
/// same. Where the GPU fails or has too little memory, the processor builds it instead.
///
/// # Errors
/// See [`BuildError`].
pub fn build_on(
    gpu: &BuildOnGpu<'_>,
    config: &Config,
    taxonomy: &Taxonomy,
    taxon_of: &mut (dyn FnMut(&str, &Path) -> Option<Taxon> + Send),
    progress: &Progress,
) -> Result<(Summary, Option<Database>), BuildError> {
    let built = in_passes(gpu, &config.beside_gpu(), (taxonomy, taxon_of), progress);
    match (built, gpu.failure()) {
        (Err(_), Some(why)) => {
            again(&config.references, why)?;
            build(config, taxonomy, taxon_of, progress)
        }
        (built, _) => built,
    }
}

/// Refuses to read references again of which one can be read only once.
fn again(references: &[PathBuf], why: impl Display) -> Result<(), BuildError> {
    let once = references.iter().find(|path| !path.is_file());
    once.map_or(Ok(()), |path| {
        let (path, why) = (path.clone(), why.to_string());
        Err(BuildError::ReadOnce { path, why })
    })
}

/// Builds a database.
fn in_passes(
    gpu: &BuildOnGpu<'_>,
    config: &Config,
    (taxonomy, taxon_of): (&Taxonomy, &mut TaxonOf<'_>),
    progress: &Progress,
) -> Result<(Summary, Option<Database>), BuildError> {
    let begun = Begun::new(config, &Alone)?;
    let folder = begun.spill_folder(config.max_tmp, false);
    let pass = |first, taxon_of: &mut TaxonOf<'_>| {
        let means = (gpu, first, &folder);
        pass(config, means, taxon_of, progress)
    };
    let (mut records, targets) = pass(0, taxon_of)?;
    some_taxon(&targets)?;
    let outline = Outline {
        taxonomy,
        targets: &targets,
        parts: &[],
    };
    let mut listed = Listed::new(config, &Alone, begun.writer, &outline);
    loop {
        let cap = Cap::new(&listed.targets, config.parameters.locations);
        let taxa = listed.taxonomy.len();
        records.partitions.bring(&listed.targets, taxa, &cap)?;
        listed.add(&records, Some(&records.partitions), outline.parts, progress)?;
        let end = records.partitions.end();
        // One pass after the other has the memory of the GPU.
        drop(records);
        if end == PARTITIONS {
            return listed.finish(Earlier::Nothing, progress);
        }
        again(
            &config.references,
            "the GPU has no room for all of their features at once",
        )?;
        let (others, now) = pass(end, &mut |_, _| None)?;
        let letters = |targets: &Targets| -> Vec<u64> {
            targets.iter().map(|target| target.letters).collect()
        };
        if letters(&now) != letters(&targets) {
            return Err(BuildError::Changed);
        }
        records = others;
    }
}

/// Reads the references, of whose features the GPU keeps those of a partition on.
fn pass<'g>(
    config: &Config,
    (gpu, first_partition, folder): (&'g BuildOnGpu<'_>, usize, &Arc<SpillFolder>),
    taxon_of: &mut TaxonOf<'_>,
    progress: &Progress,
) -> Result<(Records<OnDevice<'g>>, Targets), BuildError> {
    let budget = Budget::of(config.memory, config.threads, 1)?;
    let pass = gpu.pass(first_partition)?;
    let fabric = fabric(&Alone, budget.fabric, folder)?;
    let means = (&Alone as _, Some(&pass), config.threads);
    let (_, read) = read(
        config,
        means,
        Targets::default(),
        taxon_of,
        fabric,
        progress,
    )?;
    progress.start("sort on the GPU", 0);
    let records = Records {
        budget: Some(budget),
        // None of them are in the memory of this machine.
        spilled: true,
        ..Records::none(pass.sort(read.came)?)
    };
    Ok((records, read.targets))
}
