//! Topologies as JSON.

use serde::{Deserialize, Serialize};

use super::{NVLINK2, Topology};
use crate::error::GossipError;

/// The fields of a description.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    links: Vec<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ports: Option<Vec<u32>>,
    #[serde(default = "rate_of_nvlink2")]
    rate: f64,
}

fn rate_of_nvlink2() -> f64 {
    NVLINK2
}

/// A description, or nothing but its rows of links.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Either {
    Rows(Vec<Vec<u32>>),
    Whole(Description),
}

impl Topology {
    /// Reads `{"name": .., "links": [[0, 1], [1, 0]], "ports": [..], "rate": 25}`, of which all but
    /// the links may be missing, or nothing but the rows of links.
    ///
    /// # Errors
    /// The text is no such JSON, or describes what [`Topology::new`] refuses.
    pub fn from_json(name: &str, text: &str) -> Result<Topology, GossipError> {
        let json = |source| GossipError::Json {
            name: name.to_owned(),
            source,
        };
        let whole = match serde_json::from_str(text).map_err(json)? {
            Either::Whole(whole) => whole,
            Either::Rows(links) => Description {
                name: None,
                links,
                ports: None,
                rate: NVLINK2,
            },
        };
        let named = whole.name.unwrap_or_else(|| name.to_owned());
        let topology = Topology::new(named, whole.links, whole.rate)?;
        match whole.ports {
            Some(ports) => topology.with_ports(ports),
            None => Ok(topology),
        }
    }

    /// The description, a row of links a line.
    pub fn to_json(&self) -> String {
        let quoted = |name: &str| serde_json::Value::from(name).to_string();
        let rows: Vec<String> = self
            .links
            .iter()
            .map(|row| format!("    {row:?}"))
            .collect();
        let ports = match &self.ports {
            Some(ports) => format!("  \"ports\": {ports:?},\n"),
            None => String::new(),
        };
        format!(
            "{{\n  \"name\": {},\n  \"links\": [\n{}\n  ],\n{ports}  \"rate\": {}\n}}\n",
            quoted(&self.name),
            rows.join(",\n"),
            self.rate
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for name in ["dgx-1", "dgx-1-p100", "h100", "ring-3"] {
            let topology: Topology = name.parse().unwrap();
            let read = Topology::from_json("file", &topology.to_json()).unwrap();
            assert_eq!(read.edges(), topology.edges());
            assert_eq!((read.name(), read.rate()), (name, topology.rate()));
            assert_eq!(read.ports(), topology.ports());
        }
    }

    #[test]
    fn rows_alone_suffice() {
        let rows = Topology::from_json("two", "[[0, 2], [1, 0]]").unwrap();
        assert_eq!(
            (rows.name(), rows.links(0, 1), rows.rate()),
            ("two", 2, 25.0)
        );
        for wrong in ["", "[[0, -1], [1, 0]]", "[[0, 1]]", "{\"link\": []}", "{}"] {
            assert!(Topology::from_json("t", wrong).is_err(), "{wrong}");
        }
    }
}
