//! How far down reads are classified.

use std::fmt;
use std::str::FromStr;

use gyrase_taxonomy::{ROOT, Rank, Taxon, Taxonomy};

/// The lowest taxon that a read may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowestRank {
    /// That of a reference, whatever its rank: strain, serotype, isolate.
    Strain,
    /// A subspecies, or the species where there is none.
    Subspecies,
    /// A taxon of this rank, or the next above that the lineage has.
    Rank(Rank),
}

impl Default for LowestRank {
    fn default() -> LowestRank {
        LowestRank::Rank(Rank::Species)
    }
}

impl LowestRank {
    /// The nearest taxon, itself or above it, that is not below this.
    pub(crate) fn of(self, taxonomy: &Taxonomy, taxon: Taxon) -> Taxon {
        match self {
            LowestRank::Strain => taxon,
            LowestRank::Subspecies => {
                let Some(species) = taxonomy.ancestor_at(taxon, Rank::Species) else {
                    return taxon;
                };
                let mut below = taxonomy.path(taxon).take_while(|&one| one > species);
                below
                    .find(|&one| taxonomy.rank_name(one) == "subspecies")
                    .unwrap_or(species)
            }
            LowestRank::Rank(Rank::Species) => {
                taxonomy.ancestor_at(taxon, Rank::Species).unwrap_or(taxon)
            }
            LowestRank::Rank(rank) => {
                let at = |rank: &Rank| taxonomy.ancestor_at(taxon, *rank);
                let (upper, lower) = Rank::ALL.split_at(rank as usize + 1);
                if lower.iter().any(|rank| at(rank).is_some()) {
                    upper.iter().rev().find_map(at).unwrap_or(ROOT)
                } else {
                    at(&rank).unwrap_or(taxon)
                }
            }
        }
    }
}

impl fmt::Display for LowestRank {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LowestRank::Strain => out.write_str("strain"),
            LowestRank::Subspecies => out.write_str("subspecies"),
            LowestRank::Rank(rank) => rank.fmt(out),
        }
    }
}

impl FromStr for LowestRank {
    type Err = String;

    fn from_str(text: &str) -> Result<LowestRank, String> {
        match text.to_ascii_lowercase().as_str() {
            "strain" => Ok(LowestRank::Strain),
            "subspecies" => Ok(LowestRank::Subspecies),
            name => match name.parse() {
                Ok(rank) => Ok(LowestRank::Rank(rank)),
                Err(error) => Err(format!("{error}, subspecies or strain")),
            },
        }
    }
}
