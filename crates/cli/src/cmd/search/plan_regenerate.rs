//! `gyrase plan regenerate`: whether to send a report, or its metadata.

use std::time::{Duration, Instant};

use clap::Args;
use gyrase_picture::words::{self, bytes};
use gyrase_search::{RegenerationSample, sample_regeneration};
use gyrase_transfer::{Link, PublicKey, probe};
use serde_json::json;

use super::regenerate::{Regenerate, Understood};
use crate::cmd::key::OwnKey;
use crate::cmd::rows::Table;
use crate::cmd::send::sending;
use crate::failure::{Code, Failure, Result};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase plan regenerate hits.gym proteins.faa --db refs.faa --bandwidth 10M
  gyrase plan regenerate hits.gym proteins.faa --db refs.gysd --format 0 \\
      --bandwidth 100M --round-trip 40 --speed 2

Where the search was, before anything is sent. A part of the report is made for
about two seconds, with the database that was searched. --to measures the way
to a machine where `gyrase receive` waits.";

/// How long a part of the report is made.
const TRIED: Duration = Duration::from_secs(2);

/// Say whether the report of a search is sooner there as such, or as metadata that are made a
/// report there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanRegenerate {
    #[command(flatten)]
    regenerate: Regenerate,

    #[command(flatten)]
    way: Way,

    /// How fast the machine there is: 2 where it takes half of the time that this one takes
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = speed)]
    #[arg(help_heading = "The other machine")]
    speed: f64,
}

/// The way to the other machine.
#[derive(Debug, Args)]
#[command(next_help_heading = "The other machine")]
struct Way {
    /// Bits that pass on the way there in a second: 10M, 1G
    #[arg(long, value_name = "BITS", value_parser = bits)]
    #[arg(required_unless_present = "to", conflicts_with = "to")]
    bandwidth: Option<f64>,

    /// Milliseconds there and back
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = milliseconds)]
    round_trip: f64,

    /// Measure both, to where `gyrase receive` waits
    #[arg(long, value_name = "HOST[:PORT]", requires = "key")]
    to: Option<String>,

    /// Their key: what `gyrase key` prints there
    #[arg(long, value_name = "64DIGITS", requires = "to")]
    key: Option<PublicKey>,

    #[command(flatten)]
    own: OwnKey,
}

fn speed(text: &str) -> std::result::Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed: &f64| *speed > 0.0 && speed.is_finite());
    speed.ok_or_else(|| "it is a number above 0, such as 2 or 0.5".into())
}

fn milliseconds(text: &str) -> std::result::Result<f64, String> {
    let time = text
        .parse()
        .ok()
        .filter(|time: &f64| (0.0..=1e6).contains(time));
    time.ok_or_else(|| "it is a number of milliseconds, such as 40".into())
}

/// Bits, with a unit of thousands.
fn bits(text: &str) -> std::result::Result<f64, String> {
    let number = text.trim_end_matches("bit/s").trim_end();
    let units = [('k', 1e3), ('K', 1e3), ('M', 1e6), ('G', 1e9)];
    let unit = units.into_iter().find(|(unit, _)| number.ends_with(*unit));
    let (number, times) = match unit {
        Some((unit, times)) => (number.trim_end_matches(unit), times),
        None => (number, 1.0),
    };
    let bits = number.trim().parse::<f64>().map(|number| number * times);
    let enough = bits.ok().filter(|bits| *bits >= 1000.0 && bits.is_finite());
    enough.ok_or_else(|| "write 10M for 10 Mbit/s, or 1G".into())
}

fn shown_bits(bits: f64) -> String {
    match bits {
        1e9.. => format!("{:.1} Gbit/s", bits / 1e9),
        1e7.. => format!("{:.0} Mbit/s", bits / 1e6),
        1e6.. => format!("{:.1} Mbit/s", bits / 1e6),
        _ => format!("{:.0} kbit/s", bits / 1e3),
    }
}

/// Seconds from the end of the search to a report there: the terms of equations 4.1 and 4.2 of the
/// thesis that ParaMEDIC is from, without the search.
struct Ways {
    /// The report is sent.
    report: f64,
    /// Metadata are made, sent, and made a report.
    metadata: f64,
    /// Bits in a second at which both take as long (4.3).
    turn: f64,
}

impl Ways {
    fn new(sample: &RegenerationSample, sent: u64, link: Link, speed: f64) -> Ways {
        let work = sample.making + sample.regenerating / speed;
        let saved = sample.report_bytes.saturating_sub(sent);
        Ways {
            report: link.seconds(sample.report_bytes),
            metadata: work + link.seconds(sent),
            turn: 8.0 * saved as f64 / work.max(1e-9),
        }
    }

    /// Which is sooner, and how much.
    fn sooner(&self) -> String {
        let times = |slow: f64, fast: f64| match slow / fast {
            times @ 10.0.. => format!("{times:.0} times"),
            times => format!("{times:.1} times"),
        };
        match self.metadata < self.report {
            true => format!("metadata, {}", times(self.report, self.metadata)),
            false => format!("the report, {}", times(self.metadata, self.report)),
        }
    }
}

impl PlanRegenerate {
    /// Measures and says it.
    pub fn run(self, session: &Session) -> Result<()> {
        let link = self.way.link(session)?;
        let start = Instant::now();
        let Understood {
            metadata,
            config,
            report,
            ..
        } = self.regenerate.understood(session)?;
        let sample = session.shown(|progress| {
            sample_regeneration(&config, &metadata, &report, (start, TRIED), progress)
        })?;
        let [metadata, queries] = [
            size_of([&self.regenerate.metadata])?,
            size_of(&self.regenerate.queries)?,
        ];
        let ways = Ways::new(&sample, metadata + queries, link, self.speed);
        session.note(
            "bytes",
            json!({"report": sample.report_bytes, "metadata": metadata, "queries": queries}),
        );
        session.note(
            "predicted_seconds",
            json!({
                "making_metadata": sample.making, "regenerating": sample.regenerating,
                "as_report": ways.report, "as_metadata": ways.metadata,
            }),
        );
        session.note(
            "link",
            json!({"bytes_per_second": link.bandwidth, "round_trip_seconds": link.round_trip}),
        );
        table(&sample, [metadata, queries], link, &ways).print()
    }
}

fn table(sample: &RegenerationSample, sent: [u64; 2], link: Link, ways: &Ways) -> Table {
    let time = |seconds: f64| words::time(Duration::from_secs_f64(seconds.max(0.0)));
    let [metadata, queries] = sent.map(bytes);
    let mut table = Table::default();
    let tried = format!("by {:.0} % of the hits", 100.0 * sample.share);
    table.row(
        "report",
        format!("about {}, {tried}", bytes(sample.report_bytes)),
    );
    table.row("metadata", format!("{metadata}, and {queries} of queries"));
    let [made, again] = [sample.making, sample.regenerating].map(time);
    table.row(
        "regenerating",
        format!("{again}, and {made} to make metadata"),
    );
    let way = shown_bits(8.0 * link.bandwidth);
    table.row(
        "way",
        format!("{way}, {} there and back", time(link.round_trip)),
    );
    table.row("as a report", time(ways.report));
    table.row("as metadata", time(ways.metadata));
    table.row("sooner", ways.sooner());
    table.row("turns at", shown_bits(ways.turn));
    table
}

impl Way {
    fn link(&self, session: &Session) -> Result<Link> {
        let given = Link {
            bandwidth: self.bandwidth.unwrap_or_default() / 8.0,
            round_trip: self.round_trip / 1000.0,
        };
        let (Some(to), Some(key)) = (&self.to, self.key) else {
            return Ok(given);
        };
        let sending = sending(to, key, &self.own, 0)?;
        Ok(session.shown(|progress| probe(&sending, progress))?)
    }
}

/// Bytes of files.
fn size_of<'p>(paths: impl IntoIterator<Item = &'p std::path::PathBuf>) -> Result<u64> {
    let sizes = paths.into_iter().map(|path| match path.metadata() {
        Ok(there) => Ok(there.len()),
        Err(error) => {
            let what = format!("cannot read {}: {error}", path.display());
            Err(Failure::new(Code::Usage, what))
        }
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_in_thousands() {
        for (text, expected) in [("10M", 1e7), ("1.5 Gbit/s", 1.5e9), ("64k", 64e3)] {
            assert_eq!(bits(text).unwrap(), expected, "{text}");
        }
        assert!(bits("10").is_err() && bits("fast").is_err() && bits("-1M").is_err());
        assert_eq!(shown_bits(2.5e6), "2.5 Mbit/s");
    }

    #[test]
    fn both_ways_take_as_long_where_they_turn() {
        let sample = RegenerationSample {
            report_bytes: 50_000_000,
            making: 0.5,
            regenerating: 3.0,
            share: 1.0,
        };
        let at = |bits: f64| {
            let link = Link {
                bandwidth: bits / 8.0,
                round_trip: 0.0,
            };
            Ways::new(&sample, 100_000, link, 2.0)
        };
        let turn = at(1e6).turn;
        assert_eq!(turn, 8.0 * 49_900_000.0 / 2.0);
        let ways = at(turn);
        assert!((ways.report - ways.metadata).abs() < 1e-9);
        assert!(at(turn / 2.0).sooner().starts_with("metadata"));
        assert!(at(turn * 2.0).sooner().starts_with("the report"));
    }
}
