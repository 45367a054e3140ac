//! Costs of gaps.

use std::fmt;

/// What a gap of n residues costs: `open + n * extend`, in units of score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Costs {
    /// For having a gap at all; 0 or more.
    pub open: i32,
    /// For each residue in it.
    pub extend: i32,
}

impl Costs {
    /// Costs of a gap.
    pub const fn new(open: i32, extend: i32) -> Costs {
        Costs { open, extend }
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.open, self.extend)
    }
}

/// There are no statistics for such scores and gap costs; those that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCosts {
    scores: String,
    costs: Costs,
    known: Vec<Costs>,
    from: Option<Costs>,
}

impl UnknownCosts {
    /// For scores of that name: `known` are the costs there are, and all that are at least `from`.
    pub(super) fn new(
        scores: String,
        costs: Costs,
        known: Vec<Costs>,
        from: Option<Costs>,
    ) -> UnknownCosts {
        UnknownCosts {
            scores,
            costs,
            known,
            from,
        }
    }

    /// The costs that there are statistics for.
    pub fn known(&self) -> &[Costs] {
        &self.known
    }
}

impl fmt::Display for UnknownCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownCosts { scores, costs, .. } = self;
        write!(
            f,
            "gaps of {costs} (open/extend) have no statistics with {scores}"
        )?;
        if self.known.is_empty() {
            return write!(f, ": those scores are known without gaps only");
        }
        f.write_str("; known are")?;
        for (at, costs) in self.known.iter().enumerate() {
            write!(f, "{} {costs}", if at == 0 { "" } else { "," })?;
        }
        match self.from {
            Some(from) => write!(f, ", and all of at least {from}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownCosts {}
