//! Which queries come, and when.

use std::fmt::{self, Display, Formatter, Write};
use std::path::Path;
use std::str::FromStr;

use gyrase_simulate::Random;

use super::cluster::Cluster;
use super::error::ScheduleError;

/// Streams of random numbers.
const WEIGHTS: u64 = 48;
const ARRIVALS: u64 = 49;

/// A query that arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When, in seconds from the start.
    pub seconds: f64,
    /// The number of its database.
    pub database: usize,
    /// How much longer it takes than the mean query.
    pub weight: f64,
}

/// Queries in the order in which they arrive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// The queries.
    pub arrivals: Vec<Arrival>,
}

/// How many queries come how fast.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Loads of equal numbers of queries, one after the other; at load 1 queries come as fast as
    /// the cluster can answer them.
    pub loads: Vec<f64>,
    /// Queries in all.
    pub queries: usize,
}

/// The first line of a file of a workload.
const HEADER: &str = "arrival_s\tdatabase\tweight";

impl Demand {
    /// So many queries at one load.
    pub fn constant(load: f64, queries: usize) -> Demand {
        Demand {
            loads: vec![load],
            queries,
        }
    }

    fn load(&self, query: usize) -> f64 {
        let part = query * self.loads.len() / self.queries.max(1);
        self.loads[part.min(self.loads.len() - 1)]
    }
}

impl Display for Demand {
    /// The loads, as `0.6` or `0.2:0.4`.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (i, load) in self.loads.iter().enumerate() {
            write!(out, "{}{load}", if i > 0 { ":" } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Demand {
    type Err = String;

    /// Reads loads as [`Display`] writes them; the number of queries is yet to be told.
    fn from_str(text: &str) -> Result<Demand, String> {
        let load = |part: &str| {
            part.parse()
                .ok()
                .filter(|load| (0.001..=1000.0).contains(load))
        };
        let loads: Option<Vec<f64>> = text.split(':').map(load).collect();
        let loads = loads.ok_or("a load is a number from 0.001 to 1000; a:b has both in turn")?;
        Ok(Demand { loads, queries: 0 })
    }
}

impl Workload {
    /// Draws queries: from the cluster's distinct ones, of which databases have as many as their
    /// sizes say, at intervals that are exponential, as of a Poisson process.
    ///
    /// Queries of a seed are the same for every load, and come the faster.
    pub fn draw(cluster: &Cluster, demand: &Demand, seed: u64) -> Workload {
        let ends = shares(cluster);
        let (throughput, mut random) = (cluster.throughput(), Random::stream(seed, ARRIVALS, 0));
        let mu = -cluster.sigma * cluster.sigma / 2.0;
        let mut seconds = 0.0;
        let arrivals = (0..demand.queries).map(|query| {
            seconds += random.exponential() / (demand.load(query) * throughput);
            let chosen = random.below(cluster.distinct as u64);
            let place = (chosen as f64 + 0.5) / cluster.distinct as f64;
            let database = ends
                .partition_point(|&end| end <= place)
                .min(ends.len() - 1);
            let weight = Random::stream(seed, WEIGHTS, chosen).log_normal(mu, cluster.sigma);
            Arrival {
                seconds,
                database,
                weight,
            }
        });
        Workload {
            arrivals: arrivals.collect(),
        }
    }

    /// The file: a table with a header, a line a query.
    pub fn text(&self, cluster: &Cluster) -> String {
        let mut text = format!("{HEADER}\n");
        for Arrival {
            seconds,
            database,
            weight,
        } in &self.arrivals
        {
            let name = &cluster.databases[*database].name;
            writeln!(text, "{seconds}\t{name}\t{weight}").expect("a String takes every text");
        }
        text
    }

    /// Reads the text of a file of this name. Weights may be left out, and lines in any order.
    ///
    /// # Errors
    /// A line has other columns, or names a database that the cluster lacks.
    pub fn parse(path: &Path, text: &str, cluster: &Cluster) -> Result<Workload, ScheduleError> {
        let wrong = |line: usize, expected: &str, found: &str| ScheduleError::Line {
            path: path.to_path_buf(),
            line: line + 1,
            expected: expected.to_owned(),
            found: found.to_owned(),
        };
        let mut arrivals = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if number == 0 && line.starts_with("arrival_s") || line.trim().is_empty() {
                continue;
            }
            let fields: Vec<&str> = line.split('\t').collect();
            if !(2..=3).contains(&fields.len()) {
                return Err(wrong(
                    number,
                    "arrival_s, database and weight between tabs",
                    line,
                ));
            }
            let named = |database: &super::ServedDatabase| database.name == fields[1];
            let names = || {
                cluster
                    .databases
                    .iter()
                    .map(|database| database.name.as_str())
            };
            let database = cluster.databases.iter().position(named).ok_or_else(|| {
                let expected = format!("one of {}", names().collect::<Vec<_>>().join(", "));
                wrong(number, &expected, fields[1])
            })?;
            let seconds = amount(fields[0], 0.0)
                .ok_or_else(|| wrong(number, "seconds from the start, 0 or more", fields[0]))?;
            let weight = fields.get(2).copied().unwrap_or("1");
            let weight = amount(weight, f64::MIN_POSITIVE)
                .ok_or_else(|| wrong(number, "a weight above 0", weight))?;
            arrivals.push(Arrival {
                seconds,
                database,
                weight,
            });
        }
        arrivals.sort_by(|one: &Arrival, other| one.seconds.total_cmp(&other.seconds));
        Ok(Workload { arrivals })
    }
}

/// A number that is not below `least`, nor beyond all measure.
fn amount(text: &str, least: f64) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|number| (least..=1e12).contains(number))
}

/// Where the share of each database of the queries ends.
fn shares(cluster: &Cluster) -> Vec<f64> {
    let shares = (0..cluster.databases.len()).map(|database| cluster.share(database));
    let ends = shares.scan(0.0, |end, share| {
        *end += share;
        Some(*end)
    });
    ends.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_come_as_fast_as_the_load_says() {
        let cluster = Cluster::orbitty();
        let demand = Demand {
            loads: vec![0.5, 1.0],
            queries: 40_000,
        };
        let drawn = Workload::draw(&cluster, &demand, 3).arrivals;
        let (half, all) = (drawn[19_999].seconds, drawn[39_999].seconds);
        for (seconds, load) in [(half, 0.5), (all - half, 1.0)] {
            let expected = 20_000.0 / (load * cluster.throughput());
            assert!(
                (seconds / expected - 1.0).abs() < 0.03,
                "{seconds} {expected}"
            );
        }
        for (number, database) in cluster.databases.iter().enumerate() {
            let queries = drawn
                .iter()
                .filter(|query| query.database == number)
                .count();
            let share = database.formatted_gb / 23.1;
            assert!(
                (queries as f64 / 40_000.0 - share).abs() < 0.01,
                "{}",
                database.name
            );
        }
        let mean = drawn.iter().map(|query| query.weight).sum::<f64>() / 40_000.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn the_queries_of_a_seed_are_the_same_for_every_load() {
        let cluster = Cluster::orbitty();
        let draw = |load| Workload::draw(&cluster, &Demand::constant(load, 50), 7).arrivals;
        for (slow, fast) in draw(0.25).iter().zip(draw(1.0)) {
            assert_eq!((slow.database, slow.weight), (fast.database, fast.weight));
            assert!((slow.seconds / fast.seconds - 4.0).abs() < 1e-9);
        }
    }

    #[test]
    fn files_are_read_back() {
        let (cluster, path) = (Cluster::orbitty(), Path::new("w.tsv"));
        let drawn = Workload::draw(&cluster, &Demand::constant(0.6, 50), 1);
        let text = drawn.text(&cluster);
        assert_eq!(Workload::parse(path, &text, &cluster).unwrap(), drawn);
        let bare = Workload::parse(path, "5\tnt\n\n1.5\tnr\t2\n", &cluster)
            .unwrap()
            .arrivals;
        assert_eq!(
            [bare[0].seconds, bare[0].weight, bare[1].weight],
            [1.5, 2.0, 1.0]
        );
        for (text, words) in [
            (
                "1\tnt\t1\n1\tntt\t1\n",
                "w.tsv, line 2: expected one of env_nr, nr",
            ),
            (
                "1 nt 1\n",
                "line 1: expected arrival_s, database and weight",
            ),
            ("-1\tnt\t1\n", "0 or more, but found \"-1\""),
            ("1\tnt\t0\n", "a weight above 0"),
            ("NaN\tnt\t1\n", "seconds from the start"),
        ] {
            let said = Workload::parse(path, text, &cluster)
                .unwrap_err()
                .to_string();
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn loads_are_read_back() {
        for text in ["0.6", "0.2:0.4:0.6:0.8"] {
            assert_eq!(text.parse::<Demand>().unwrap().to_string(), text);
        }
        for text in ["", "0", "-1", "0.2:", "inf", "x"] {
            assert!(text.parse::<Demand>().is_err(), "{text}");
        }
    }
}
