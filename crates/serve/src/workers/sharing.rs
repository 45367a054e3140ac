//! How many workers share a job, and which, by what their memory holds.

use std::iter::successors;

use gyrase_schedule::{PartitionSizes, Policy, Sizing, power_below};
use gyrase_search::{DividedDatabase, FragmentShare};

use crate::ServeError;
use crate::config::Workers;

/// How jobs are given to workers.
pub struct Sharing {
    /// How many workers a job gets, and which.
    pub policy: Policy,
    /// How many may share a job in each database: so many at least that they hold it.
    pub sizes: Vec<PartitionSizes>,
}

impl Sharing {
    /// That of some databases, each with its name, by the policy that was asked for. RMAP without
    /// PLARD gives a job to any workers: so many at least that they hold **all** databases
    /// together, if workers do, and nothing is read twice. Where none was asked for it is that
    /// one, or RMAP with PLARD if workers do not.
    ///
    /// # Errors
    /// All workers do not hold a database.
    pub fn of(
        workers: &Workers,
        databases: &[(&str, &DividedDatabase)],
    ) -> Result<Sharing, ServeError> {
        let all: Vec<&DividedDatabase> = databases.iter().map(|(_, divided)| *divided).collect();
        // With what makes jobs fast, or else without.
        let mut of_all = [1, 0].iter().map(|&words| sizes(workers, &all, words));
        let rmap = Policy::first_available(Sizing::Rmap);
        if workers.policy.is_none_or(|policy| policy == rmap)
            && let Some(sizes) = of_all.find_map(|sizes| sizes)
        {
            return Ok(Sharing {
                policy: rmap,
                sizes: vec![sizes; databases.len()],
            });
        }
        let policy = workers.policy.unwrap_or(Policy::plard(Sizing::Rmap));
        let of = |&(name, divided): &(&str, &DividedDatabase)| {
            let most = power_below(workers.commands.len());
            sizes(workers, &[divided], 0).ok_or_else(|| ServeError::Workers {
                name: name.into(),
                bytes: divided.bytes()[0],
                workers: most,
                memory: workers.memory * most as u64,
            })
        };
        let sizes = databases.iter().map(of).collect::<Result<_, _>>()?;
        Ok(Sharing { policy, sizes })
    }
}

/// How many workers may share a job where those that do hold some databases, without (0) or with
/// (1) indexes of words.
fn sizes(
    workers: &Workers,
    databases: &[&DividedDatabase],
    words: usize,
) -> Option<PartitionSizes> {
    let most = power_below(workers.commands.len());
    let taken = |share| {
        databases
            .iter()
            .map(|divided| divided.bytes_of_share(share)[words])
            .sum::<u64>()
    };
    let fit = |&of: &usize| {
        let mut shares = (0..of).map(|number| FragmentShare { number, of });
        shares.all(|share| taken(share) <= workers.memory)
    };
    let mut powers =
        successors(Some(1), |power| Some(2 * power)).take_while(|&power| power <= most);
    let least = powers.find(fit)?;
    Some(PartitionSizes {
        least,
        medium: 1 << ((least.ilog2() + most.ilog2()) / 2),
        most,
    })
}
