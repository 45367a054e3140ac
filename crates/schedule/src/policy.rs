//! Which policies there are, and their names.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// How many processors a query gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    /// The least of its database.
    Small,
    /// Its medium size.
    Medium,
    /// The most.
    Large,
    /// What the state of the system recommends.
    Rmap,
}

/// Which processors a query gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The first idle ones by rank.
    FirstAvailable,
    /// Those of its database's pool.
    Plard,
}

/// A sizing and a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How many processors.
    pub sizing: Sizing,
    /// Which ones.
    pub placement: Placement,
}

const SIZINGS: [Sizing; 4] = [Sizing::Small, Sizing::Medium, Sizing::Large, Sizing::Rmap];
const PLACEMENTS: [Placement; 2] = [Placement::FirstAvailable, Placement::Plard];

impl Policy {
    /// All of them, each sizing with both placements.
    pub fn all() -> impl Iterator<Item = Policy> {
        let both = |sizing| PLACEMENTS.map(|placement| Policy { sizing, placement });
        SIZINGS.into_iter().flat_map(both)
    }

    /// The policy with PLARD.
    pub fn plard(sizing: Sizing) -> Policy {
        Policy {
            sizing,
            placement: Placement::Plard,
        }
    }

    /// The policy with First Available.
    pub fn first_available(sizing: Sizing) -> Policy {
        Policy {
            sizing,
            placement: Placement::FirstAvailable,
        }
    }

    /// Its name: `FIX-S`, `FIX-S-PLARD`, `RMAP`.
    pub fn name(self) -> &'static str {
        match (self.sizing, self.placement) {
            (Sizing::Small, Placement::FirstAvailable) => "FIX-S",
            (Sizing::Small, Placement::Plard) => "FIX-S-PLARD",
            (Sizing::Medium, Placement::FirstAvailable) => "FIX-M",
            (Sizing::Medium, Placement::Plard) => "FIX-M-PLARD",
            (Sizing::Large, Placement::FirstAvailable) => "FIX-L",
            (Sizing::Large, Placement::Plard) => "FIX-L-PLARD",
            (Sizing::Rmap, Placement::FirstAvailable) => "RMAP",
            (Sizing::Rmap, Placement::Plard) => "RMAP-PLARD",
        }
    }
}

impl Display for Policy {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for Policy {
    type Err = String;

    /// Reads a name in letters of either case.
    fn from_str(name: &str) -> Result<Policy, String> {
        let found = Policy::all().find(|policy| policy.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names: Vec<&str> = Policy::all().map(Policy::name).collect();
            format!("the policies are {}", names.join(", ").to_lowercase())
        })
    }
}

/// What policies can be tuned by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// How much a query that runs counts for RMAP beside one that waits (f), 0 to 1.
    pub factor: f64,
    /// By how many queries queues may differ before PLARD balances them (T).
    pub threshold: usize,
    /// No pool loses nodes that the queries in its queue need, and RMAP gives no more processors
    /// than a pool has. Without it the policies are as they were printed, and may stop for ever.
    pub guarded: bool,
}

impl Default for Tuning {
    /// As published, with guards.
    fn default() -> Tuning {
        Tuning {
            factor: 0.75,
            threshold: 10,
            guarded: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        assert_eq!(Policy::all().count(), 8);
        for policy in Policy::all() {
            assert_eq!(policy.name().to_lowercase().parse(), Ok(policy));
        }
        assert!(
            "fix"
                .parse::<Policy>()
                .unwrap_err()
                .contains("fix-s, fix-s-plard")
        );
    }
}
