//! What is to be moved: who has a message for whom.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A pattern of messages among all devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Device `main` has a message for each device.
    Scatter {
        /// The device that sends.
        main: usize,
    },
    /// Each device has a message for device `main`.
    Gather {
        /// The device that receives.
        main: usize,
    },
    /// Device `main` has one message for all devices.
    Broadcast {
        /// The device that sends.
        main: usize,
    },
    /// Each device has a message for each device.
    AllToAll,
}

impl Collective {
    /// The collective of a name of Gossip, with its main device if it has one.
    pub fn named(name: &str, main: usize) -> Option<Collective> {
        match name {
            "scatter" => Some(Collective::Scatter { main }),
            "gather" => Some(Collective::Gather { main }),
            "broadcast" => Some(Collective::Broadcast { main }),
            "all2all" => Some(Collective::AllToAll),
            _ => None,
        }
    }

    /// Its name in Gossip's files.
    pub fn name(self) -> &'static str {
        match self {
            Collective::Scatter { .. } => "scatter",
            Collective::Gather { .. } => "gather",
            Collective::Broadcast { .. } => "broadcast",
            Collective::AllToAll => "all2all",
        }
    }

    /// The device that all messages come from or go to.
    pub fn main(self) -> Option<usize> {
        match self {
            Collective::Scatter { main }
            | Collective::Gather { main }
            | Collective::Broadcast { main } => Some(main),
            Collective::AllToAll => None,
        }
    }

    /// True if device `source` has a message for device `target`; a device may have one for itself.
    pub fn sends(self, source: usize, target: usize) -> bool {
        match self {
            Collective::Scatter { main } | Collective::Broadcast { main } => source == main,
            Collective::Gather { main } => target == main,
            Collective::AllToAll => true,
        }
    }

    /// All messages among so many devices, as source and target, those to oneself included.
    pub fn messages(self, devices: usize) -> impl Iterator<Item = (usize, usize)> {
        let all = (0..devices).flat_map(move |source| (0..devices).map(move |to| (source, to)));
        all.filter(move |&(source, target)| self.sends(source, target))
    }

    /// The message in which a device has at first what it has for another: that of a broadcast is
    /// the one for itself.
    pub(crate) fn held(self, source: usize, target: usize) -> (usize, usize) {
        match self {
            Collective::Broadcast { main } => (main, main),
            _ => (source, target),
        }
    }

    /// How many different messages there are at the beginning: a broadcast has one.
    pub fn inputs(self, devices: usize) -> usize {
        match self {
            Collective::Broadcast { .. } => 1,
            other => other.messages(devices).count(),
        }
    }

    /// The collective that comes about where time runs backwards; nothing for a broadcast.
    pub fn reversed(self) -> Option<Collective> {
        match self {
            Collective::Scatter { main } => Some(Collective::Gather { main }),
            Collective::Gather { main } => Some(Collective::Scatter { main }),
            Collective::AllToAll => Some(Collective::AllToAll),
            Collective::Broadcast { .. } => None,
        }
    }
}

impl Display for Collective {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Collective::Scatter { main } => write!(out, "scatter from device {main}"),
            Collective::Gather { main } => write!(out, "gather to device {main}"),
            Collective::Broadcast { main } => write!(out, "broadcast from device {main}"),
            Collective::AllToAll => out.write_str("all-to-all"),
        }
    }
}

impl FromStr for Collective {
    type Err = String;

    /// `all2all` or `all-to-all`, `scatter`, `gather`, `broadcast`; the main device is 0, or stands
    /// behind a colon.
    fn from_str(text: &str) -> Result<Collective, String> {
        let (name, main) = text.split_once(':').unwrap_or((text, "0"));
        let name = if name == "all-to-all" {
            "all2all"
        } else {
            name
        };
        let main = main.parse().map_err(|_| format!("{main:?} is no device"))?;
        Collective::named(name, main)
            .filter(|found| found.main().is_some() || !text.contains(':'))
            .ok_or_else(|| "write all2all, scatter:0, gather:0 or broadcast:0".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_printed() {
        for text in ["all2all", "scatter:2", "gather:0", "broadcast:7"] {
            let collective: Collective = text.parse().unwrap();
            assert_eq!(text.split(':').next(), Some(collective.name()));
        }
        assert_eq!("all-to-all".parse(), Ok(Collective::AllToAll));
        assert_eq!("gather".parse(), Ok(Collective::Gather { main: 0 }));
        for wrong in ["", "reduce", "scatter:x", "all2all:1", "scatter:"] {
            assert!(wrong.parse::<Collective>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn messages_are_those_of_the_definition() {
        let count = |collective: Collective| collective.messages(5).count();
        assert_eq!(count(Collective::AllToAll), 25);
        let main = 3;
        let rooted = [
            Collective::Scatter { main },
            Collective::Gather { main },
            Collective::Broadcast { main },
        ];
        assert_eq!(rooted.map(count), [5; 3]);
        assert_eq!(rooted.map(|collective| collective.inputs(5)), [5, 5, 1]);
        assert_eq!(rooted[0].reversed(), Some(rooted[1]));
    }
}
