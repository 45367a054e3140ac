//! The plans that Gossip reads and writes (github.com/Funatiq/gossip), as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use serde::Deserialize;

use super::{Hop, Route, TransferPlan};
use crate::collective::Collective;
use crate::error::GossipError;

/// The fields of a file. Each path has a device for the beginning and for each step; equal
/// neighbours wait. `chunks` says how many chunks take each path; of a broadcast, which one does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "type")]
    kind: String,
    num_gpus: usize,
    #[serde(default)]
    main_gpu: usize,
    num_steps: usize,
    #[serde(default = "one")]
    num_chunks: usize,
    plan: Vec<Vec<usize>>,
    #[serde(default)]
    chunks: Option<Vec<usize>>,
    #[serde(default)]
    sync_steps: Option<Vec<usize>>,
}

fn one() -> usize {
    1
}

impl TransferPlan {
    /// Reads a plan of Gossip; `name` is that of the file, for messages.
    ///
    /// # Errors
    /// The text is no such JSON, or the plan does not do what its collective asks for.
    pub fn from_json(name: &str, text: &str) -> Result<TransferPlan, GossipError> {
        let wrong = |what: String| GossipError::Plan {
            name: name.to_owned(),
            what,
        };
        let file: File = serde_json::from_str(text).map_err(|source| GossipError::Json {
            name: name.to_owned(),
            source,
        })?;
        let collective = Collective::named(&file.kind, file.main_gpu).ok_or_else(|| {
            let expected = "all2all, scatter, gather and broadcast are known";
            wrong(format!("its type is {:?}; {expected}", file.kind))
        })?;
        let carried = file.carried(collective).map_err(wrong)?;
        let mut routes = Vec::new();
        for (number, (path, chunks)) in file.plan.iter().zip(carried).enumerate() {
            if path.len() != file.num_steps + 1 {
                let (found, steps) = (path.len(), file.num_steps);
                return Err(wrong(format!(
                    "path {number} has {found} devices; {steps} steps have {} each",
                    steps + 1
                )));
            }
            routes.push(Route {
                source: path[0],
                hops: hops(path),
                chunks,
            });
        }
        let plan = TransferPlan {
            collective,
            devices: file.num_gpus,
            chunks: file.num_chunks,
            steps: file.num_steps,
            routes,
            sync_steps: file.sync_steps,
        };
        match plan.fault() {
            Some(what) => Err(wrong(what)),
            None => Ok(plan),
        }
    }

    /// The plan as Gossip reads it, a path a line.
    pub fn to_json(&self) -> String {
        let mut text = format!("{{\n  \"type\": \"{}\",\n", self.collective.name());
        let mut field = |name: &str, value: usize| {
            writeln!(text, "  \"{name}\": {value},").expect("a String takes every text");
        };
        field("num_gpus", self.devices);
        if let Some(main) = self.collective.main() {
            field("main_gpu", main);
        }
        field("num_steps", self.steps);
        field("num_chunks", self.chunks);
        let paths = self
            .routes
            .iter()
            .map(|route| format!("    {:?}", self.devices_of(route)));
        let paths: Vec<String> = paths.collect();
        let chunks = self.routes.iter().map(|route| match self.collective {
            Collective::Broadcast { .. } => route.chunks.start,
            _ => route.chunks.len(),
        });
        let chunks: Vec<usize> = chunks.collect();
        let sync = match &self.sync_steps {
            Some(steps) => format!(",\n  \"sync_steps\": {steps:?}"),
            None => String::new(),
        };
        text + &format!(
            "  \"plan\": [\n{}\n  ],\n  \"chunks\": {chunks:?}{sync}\n}}\n",
            paths.join(",\n")
        )
    }

    /// Where the chunks of a route are at the beginning and after each step.
    fn devices_of(&self, route: &Route) -> Vec<usize> {
        let mut devices = vec![route.source; self.steps + 1];
        for hop in &route.hops {
            devices[hop.step + 1..].fill(hop.to);
        }
        devices
    }
}

impl File {
    /// The chunks of each path: those of a message follow each other in the order of its paths.
    fn carried(&self, collective: Collective) -> Result<Vec<Range<usize>>, String> {
        let paths = self.plan.len();
        let counts = match &self.chunks {
            Some(counts) => counts.clone(),
            None if self.num_chunks == 1 => vec![self.default_count(collective); paths],
            None => return Err("the field chunks is missing".into()),
        };
        if counts.len() != paths {
            return Err(format!(
                "{} numbers of chunks for {paths} paths",
                counts.len()
            ));
        }
        let mut carried = BTreeMap::new();
        let ends = |path: &[usize]| (path.first().copied(), path.last().copied());
        let ranges = self
            .plan
            .iter()
            .zip(counts)
            .map(|(path, count)| match collective {
                Collective::Broadcast { .. } => count..count.saturating_add(1),
                _ => {
                    let start: &mut usize = carried.entry(ends(path)).or_default();
                    let chunks = *start..start.saturating_add(count).min(self.num_chunks + 1);
                    *start = chunks.end;
                    chunks
                }
            });
        Ok(ranges.collect())
    }

    fn default_count(&self, collective: Collective) -> usize {
        usize::from(!matches!(collective, Collective::Broadcast { .. }))
    }
}

fn hops(path: &[usize]) -> Vec<Hop> {
    let moves = path
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0] != pair[1]);
    moves
        .map(|(step, pair)| Hop { step, to: pair[1] })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two devices, of which the first scatters.
    const SMALL: &str = r#"{"type": "scatter", "num_gpus": 2, "main_gpu": 0, "num_steps": 2,
        "num_chunks": 3, "plan": [[0, 0, 0], [0, 1, 1], [0, 0, 1]], "chunks": [3, 1, 2]}"#;

    #[test]
    fn what_is_written_is_read() {
        let plan = TransferPlan::from_json("t", SMALL).unwrap();
        assert_eq!((plan.chunks(), plan.steps(), plan.transfers()), (3, 2, 2));
        let chunks: Vec<_> = plan
            .routes()
            .iter()
            .map(|route| route.chunks.clone())
            .collect();
        assert_eq!(chunks, [0..3, 0..1, 1..3]);
        let again = TransferPlan::from_json("t", &plan.to_json()).unwrap();
        assert_eq!(again, plan);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&plan.to_json()), value(SMALL));
    }

    #[test]
    fn fields_may_be_missing_where_one_chunk_is_all() {
        let text = r#"{"type": "gather", "num_gpus": 2, "num_steps": 1, "plan": [[0, 0], [1, 0]]}"#;
        assert_eq!(TransferPlan::from_json("t", text).unwrap().chunks(), 1);
        let text = r#"{"type": "broadcast", "num_gpus": 2, "num_steps": 1, "num_chunks": 2,
            "plan": [[0, 0], [0, 1], [0, 0], [0, 1]], "chunks": [0, 0, 1, 1],
            "sync_steps": [0]}"#;
        let plan = TransferPlan::from_json("t", text).unwrap();
        assert!(plan.to_json().contains("\"sync_steps\": [0]"));
        assert_eq!(TransferPlan::from_json("t", &plan.to_json()).unwrap(), plan);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("\"scatter\"", "\"reduce\"", "its type is \"reduce\""),
            (
                "\"num_chunks\": 3",
                "\"num_chunks\": 4",
                "carry 3 of 4 chunks",
            ),
            ("[3, 1, 2]", "[3, 1]", "2 numbers of chunks for 3 paths"),
            ("[3, 1, 2]", "[3, 1, 18446744073709551615]", "not each once"),
            (
                "[0, 1, 1]",
                "[0, 1]",
                "path 1 has 2 devices; 2 steps have 3 each",
            ),
            ("[0, 1, 1]", "[0, 1, 2]", "device 2 of 2"),
            ("[0, 1, 1]", "[1, 1, 1]", "no message for each other"),
            ("\"num_gpus\": 2", "\"num_gpus\": 0", "0 devices"),
            ("\"main_gpu\": 0", "\"main_gpu\": 2", "main device 2 of 2"),
        ];
        for (old, new, words) in cases {
            let error = TransferPlan::from_json("t", &SMALL.replace(old, new)).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        for text in ["", "{}", "[]", &SMALL.replace("plan\"", "plans\"")] {
            let error = TransferPlan::from_json("t", text).unwrap_err();
            assert!(matches!(error, GossipError::Json { .. }), "{error}");
        }
        let none = SMALL.replace(", \"chunks\": [3, 1, 2]", "");
        let error = TransferPlan::from_json("t", &none).unwrap_err();
        assert!(error.to_string().contains("chunks is missing"), "{error}");
    }
}
