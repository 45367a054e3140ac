//! What a modelled cluster is made of, and how long a query takes on it.

use std::path::Path;

use gyrase_schedule::{PartitionSizes, power_below};
use serde::{Deserialize, Serialize};

use super::error::{ScheduleError, check};

/// A cluster that serves searches in a few databases.
///
/// A query of weight z on p processors takes `z (w / p + w p / p*^2)` seconds, and as long as the
/// node that lacks most of its parts reads them from its disk; w are the processor-seconds of
/// the database, and `p*` is [`saturation`](Cluster::saturation) times its largest partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Nodes.
    pub nodes: usize,
    /// Processors of each. A node works for one query at a time.
    pub processors: usize,
    /// Memory of a node that keeps parts of databases, in GB (10^9 bytes).
    pub cache_gb: f64,
    /// What a node reads from its disk, in GB a second.
    pub disk_gb_per_second: f64,
    /// Parts of every database; processors of a partition take them in turn.
    pub fragments: usize,
    /// Page faults for each GB that a node reads.
    pub faults_per_gb: f64,
    /// Where more processors gain nothing, in units of the largest partition.
    pub saturation: f64,
    /// The highest throughput that a run reaches, as a part of what is computed for it.
    pub reached: f64,
    /// Standard deviation of the logarithm of weights of queries, whose mean is 1.
    pub sigma: f64,
    /// Distinct queries that workloads are drawn from.
    pub distinct: usize,
    /// The databases.
    pub databases: Vec<ServedDatabase>,
}

/// A database of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServedDatabase {
    /// Its name.
    pub name: String,
    /// GB of its files; queries come in proportion to it.
    pub formatted_gb: f64,
    /// GB that a search reads.
    pub scanned_gb: f64,
    /// Seconds that a query takes on one processor which has all in memory.
    pub processor_seconds: f64,
    /// Sizes of its partitions.
    pub partitions: PartitionSizes,
}

impl Cluster {
    /// The cluster of the thesis: 20 nodes of two processors and 2 GB, five databases of NCBI.
    ///
    /// Sizes and partitions are of its Table 5.1. What it does not tell (times, what is read, the
    /// cache, the medium sizes) was chosen so that its Table 5.2 comes out.
    pub fn orbitty() -> Cluster {
        let database = |name: &str, gb: [f64; 2], processor_seconds, sizes: [usize; 3]| {
            let [least, medium, most] = sizes;
            ServedDatabase {
                name: name.to_owned(),
                formatted_gb: gb[0],
                scanned_gb: gb[1],
                processor_seconds,
                partitions: PartitionSizes {
                    least,
                    medium,
                    most,
                },
            }
        };
        Cluster {
            nodes: 20,
            processors: 2,
            cache_gb: 1.7,
            disk_gb_per_second: 0.08,
            fragments: 32,
            faults_per_gb: 700.0,
            saturation: 1.2,
            reached: 0.75,
            sigma: 0.4,
            distinct: 1000,
            databases: vec![
                database("env_nr", [2.5, 1.2], 73.8, [2, 8, 32]),
                database("nr", [3.0, 1.7], 90.2, [4, 16, 32]),
                database("est_mouse", [2.0, 0.7], 49.2, [2, 4, 16]),
                database("nt", [6.5, 5.2], 82.0, [8, 16, 32]),
                database("gss", [9.1, 4.0], 86.1, [8, 16, 32]),
            ],
        }
    }

    /// Reads the description in a file of this name.
    ///
    /// # Errors
    /// It is no JSON, has other fields, or describes what cannot be.
    pub fn parse(path: &Path, text: &str) -> Result<Cluster, ScheduleError> {
        let read: Result<Cluster, serde_json::Error> = serde_json::from_str(text);
        let path = path.to_path_buf();
        let cluster = read.map_err(|source| ScheduleError::Json { path, source })?;
        cluster.check()?;
        Ok(cluster)
    }

    /// The description, as [`Cluster::parse`] reads it.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a cluster has finite numbers");
        text + "\n"
    }

    /// Refuses a cluster that cannot be.
    ///
    /// # Errors
    /// It names what the cluster has, and what it must have.
    pub fn check(&self) -> Result<(), ScheduleError> {
        for (name, number) in [
            ("node", self.nodes),
            ("processor a node", self.processors),
            ("fragment a database", self.fragments),
            ("distinct query", self.distinct),
            ("database", self.databases.len()),
        ] {
            let found = || format!("{number} as the number of this: {name}");
            check((1..=1 << 20).contains(&number), found, || {
                "1 to 1,048,576".into()
            })?;
        }
        for (name, number) in [
            ("disk_gb_per_second", self.disk_gb_per_second),
            ("saturation", self.saturation),
            ("reached", self.reached),
        ] {
            let holds = number > 0.0 && number.is_finite();
            check(
                holds,
                || format!("{name} {number}"),
                || "a number above 0".into(),
            )?;
        }
        for (name, number) in [
            ("cache_gb", self.cache_gb),
            ("faults_per_gb", self.faults_per_gb),
            ("sigma", self.sigma),
        ] {
            let holds = (0.0..=1e6).contains(&number);
            check(holds, || format!("{name} {number}"), || "0 or more".into())?;
        }
        self.databases
            .iter()
            .try_for_each(|database| self.check_database(database))
    }

    fn check_database(&self, database: &ServedDatabase) -> Result<(), ScheduleError> {
        let ServedDatabase {
            name, partitions, ..
        } = database;
        let named = !name.is_empty() && !name.contains(char::is_control);
        let once = self
            .databases
            .iter()
            .filter(|other| other.name == *name)
            .count()
            == 1;
        check(
            named && once,
            || format!("a database {name:?}"),
            || "names, each once".into(),
        )?;
        for (what, number) in [
            ("formatted_gb", database.formatted_gb),
            ("processor_seconds", database.processor_seconds),
        ] {
            let holds = number > 0.0 && number.is_finite();
            let found = || format!("{what} {number} for {name}");
            check(holds, found, || "a number above 0".into())?;
        }
        let holds = (0.0..=1e6).contains(&database.scanned_gb);
        let found = || format!("scanned_gb {} for {name}", database.scanned_gb);
        check(holds, found, || "0 or more".into())?;
        let PartitionSizes {
            least,
            medium,
            most,
        } = *partitions;
        for size in [least, medium, most] {
            let nodes = size / self.processors;
            let whole = size == nodes * self.processors && nodes.is_power_of_two();
            check(
                whole && size <= self.fragments,
                || format!("a partition of {size} processors for {name}"),
                || {
                    let (of, most) = (self.processors, self.fragments);
                    format!("those of 1, 2, 4, ... nodes of {of}, at most {most} processors")
                },
            )?;
        }
        let all = self.nodes * self.processors;
        check(
            least <= all,
            || format!("{all} processors"),
            || format!("the {least} that the smallest partition for {name} has"),
        )?;
        let ordered = least <= medium && medium <= most;
        check(
            ordered,
            || format!("partitions of {least}, {medium}, {most} processors for {name}"),
            || "the least before the most".into(),
        )
    }

    /// The sizes of partitions by database, none larger than the cluster.
    pub(super) fn partitions(&self) -> Vec<PartitionSizes> {
        let limit = self.processors * power_below(self.nodes);
        let within = |sizes: PartitionSizes| PartitionSizes {
            least: sizes.least.min(limit),
            medium: sizes.medium.min(limit),
            most: sizes.most.min(limit),
        };
        let databases = self.databases.iter();
        databases
            .map(|database| within(database.partitions))
            .collect()
    }

    /// Seconds that a query of a weight takes on so many processors that have all in memory.
    pub(super) fn search_seconds(&self, database: usize, weight: f64, processors: usize) -> f64 {
        let ServedDatabase {
            processor_seconds,
            partitions,
            ..
        } = &self.databases[database];
        let (processors, most) = (processors as f64, partitions.most as f64);
        let saturated = self.saturation * most;
        let shared = processor_seconds / processors;
        weight * (shared + processor_seconds * processors / (saturated * saturated))
    }

    /// The part of queries that are for a database.
    pub(super) fn share(&self, database: usize) -> f64 {
        let sum: f64 = self.databases.iter().map(|other| other.formatted_gb).sum();
        self.databases[database].formatted_gb / sum
    }

    /// Queries a second at load 1: what the whole cluster answers of one database with the smallest
    /// partitions, a mean over the databases by their shares of queries.
    pub fn throughput(&self) -> f64 {
        let alone = |database: usize| {
            let least = self.databases[database].partitions.least;
            let partitions = (self.nodes * self.processors / least) as f64;
            self.share(database) * partitions / self.search_seconds(database, 1.0, least)
        };
        self.reached * (0..self.databases.len()).map(alone).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_read_back() {
        let cluster = Cluster::orbitty();
        assert_eq!(
            Cluster::parse(Path::new("c.json"), &cluster.text()).unwrap(),
            cluster
        );
        let refused = |from: &str, to: &str| {
            let text = cluster.text().replacen(from, to, 1);
            assert_ne!(text, cluster.text());
            let error = Cluster::parse(Path::new("c.json"), &text).unwrap_err();
            match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            }
        };
        for (from, to, words) in [
            (
                "\"nodes\"",
                "\"node\"",
                "c.json describes no cluster: unknown field `node`",
            ),
            ("\"nodes\": 20", "\"nodes\": 0", "1 to 1,048,576"),
            (
                "\"least\": 8",
                "\"least\": 6",
                "6 processors for nt, but it must have those of 1",
            ),
            (
                "\"least\": 8",
                "\"least\": 32",
                "32, 16, 32 processors for nt",
            ),
            ("\"most\": 32", "\"most\": 64", "64 processors for env_nr"),
            (
                "\"nodes\": 20",
                "\"nodes\": 2",
                "4 processors, but it must have the 8",
            ),
            ("\"nr\"", "\"nt\"", "each once"),
            ("0.08", "0", "above 0"),
        ] {
            let said = refused(from, to);
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn efficiency_falls_with_the_partition() {
        let cluster = Cluster::orbitty();
        let efficiency = |processors: usize| {
            cluster.search_seconds(3, 1.0, 1)
                / (processors as f64 * cluster.search_seconds(3, 1.0, processors))
        };
        assert!((efficiency(16) - 0.853).abs() < 0.001, "{}", efficiency(16));
        assert!((efficiency(32) - 0.590).abs() < 0.001, "{}", efficiency(32));
        assert!(
            (cluster.throughput() - 0.370).abs() < 0.001,
            "{}",
            cluster.throughput()
        );
    }
}
