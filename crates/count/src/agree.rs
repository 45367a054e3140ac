//! What the processes of a job must have in common.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use gyrase_fabric::{Bounds, FabricError, World};
use gyrase_fastx::Inputs;
use gyrase_table::gyk;
use gyrase_tabulate::{Estimate, InputContents, input_contents, same_files};

use crate::plan::{Budget, Expected};
use crate::{Config, Error, Scattered};

/// Refuses a job whose processes are to count different things, see different inputs, or inputs
/// that they cannot share.
pub(crate) fn on_question(
    world: &dyn World,
    config: &Config,
    inputs: &Inputs,
) -> Result<(), Error> {
    if world.ranks() == 1 {
        return Ok(());
    }
    let mut asked = DefaultHasher::new();
    (config.question(), config.resume).hash(&mut asked);
    if !world.all_equal(&[asked.finish()])? {
        return Err(Error::DifferentQuestions);
    }
    let inputs = inputs.inputs();
    if let Some(pipe) = inputs.iter().find(|input| input.size.is_none()) {
        return Err(Error::Pipe {
            path: pipe.path.clone(),
        });
    }
    let Bounds { least, most } = world.bounds(&[inputs.len() as u64])?[0];
    if least < most {
        return Err(Error::DifferentInputs { least, most });
    }
    let sizes: Vec<u64> = inputs.iter().map(|input| input.size.unwrap_or(0)).collect();
    match inputs
        .iter()
        .zip(world.bounds(&sizes)?)
        .find(|(_, Bounds { least, most })| least < most)
    {
        Some((input, Bounds { least, most })) => Err(Error::Different {
            path: input.path.clone(),
            least,
            most,
        }),
        None => {
            let paths: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
            Ok(same_files(world, &paths)?)
        }
    }
}

/// Gives the fabric no more memory than that of any other process has, and tells what the inputs
/// hold where they are to be `read`. One process looks: a thousand at once would keep a file system
/// busy for nothing.
pub(crate) fn on_means(
    world: &dyn World,
    budget: Budget,
    inputs: &Inputs,
    read: bool,
) -> Result<(Budget, Option<Expected>), FabricError> {
    let look = || {
        let InputContents { bases, records, .. } = input_contents(inputs.inputs());
        let most = |estimate: Estimate| estimate.most.unwrap_or(u64::MAX);
        [bases.least, most(bases), records.least, most(records)]
    };
    let seen = if read && world.rank() == 0 {
        look()
    } else {
        [0; 4]
    };
    let [least, most, least_records, most_records] = world.broadcast_of(0, &seen)?;
    let estimate = |least, most| Estimate {
        least,
        most: Some(most).filter(|&most| most < u64::MAX),
    };
    let contents = Expected {
        bases: estimate(least, most),
        records: estimate(least_records, most_records),
    };
    let fabric = world.min(&[budget.fabric])?[0];
    Ok((budget.with_fabric(fabric), read.then_some(contents)))
}

/// How many threads all processes have together, and what rank 0 tells: the others give 0.
pub(crate) fn on_workers(
    world: &dyn World,
    threads: usize,
    token: u64,
) -> Result<(usize, u64), FabricError> {
    let all = world.sum(&[threads as u64, token])?;
    Ok((all[0] as usize, all[1]))
}

/// What all processes read, and sums of other numbers.
pub(crate) fn on_sums<const N: usize>(
    world: &dyn World,
    read: Scattered,
    others: [u64; N],
) -> Result<(Scattered, [u64; N]), FabricError> {
    world.sum_of(&(read, others))
}

/// Refuses a database that does not count all k-mers that were read. Where only some counts are
/// kept nobody knows how many it should be; and only rank 0 knows the `shares`.
pub(crate) fn on_counted(
    config: &Config,
    read: Scattered,
    shares: &[Vec<u8>],
) -> Result<(), Error> {
    let all = config.min_count <= 1 && config.max_count == u32::MAX;
    match gyk::total_of(shares) {
        Some(counted) if all && counted != read.kmers => Err(Error::Miscounted {
            read: read.kmers,
            counted,
        }),
        _ => Ok(()),
    }
}

/// What rank 0 made; it comes when the database has its name.
pub(crate) fn on_database(
    world: &dyn World,
    made: Option<gyk::Summary>,
) -> Result<gyk::Summary, FabricError> {
    world.broadcast_of(0, &made.unwrap_or_default())
}
