//! Ranks: the eight that reports know, and Kraken's letters for them.

use std::fmt;
use std::str::FromStr;

/// Bacteria, Archaea, Eukaryota and Viruses at NCBI: domains, whatever their rank is called this
/// year.
const DOMAINS: [u32; 4] = [2, 2157, 2759, 10239];

/// The ranks that have a place in every report, from the highest to the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// Bacteria, Archaea, Eukaryota, Viruses: superkingdom at NCBI until 2025, domain or acellular
    /// root since.
    Domain,
    /// Below the domain; prokaryotes and viruses have kingdoms since 2025.
    Kingdom,
    /// Below the kingdom.
    Phylum,
    /// Below the phylum.
    Class,
    /// Below the class.
    Order,
    /// Below the order.
    Family,
    /// Below the family.
    Genus,
    /// Below the genus.
    Species,
}

impl Rank {
    /// All of them, from the highest to the lowest.
    pub const ALL: [Rank; 8] = [
        Rank::Domain,
        Rank::Kingdom,
        Rank::Phylum,
        Rank::Class,
        Rank::Order,
        Rank::Family,
        Rank::Genus,
        Rank::Species,
    ];

    /// Its English name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Rank::Domain => "domain",
            Rank::Kingdom => "kingdom",
            Rank::Phylum => "phylum",
            Rank::Class => "class",
            Rank::Order => "order",
            Rank::Family => "family",
            Rank::Genus => "genus",
            Rank::Species => "species",
        }
    }

    /// Kraken's letter: D K P C O F G S.
    pub fn letter(self) -> char {
        self.name().as_bytes()[0].to_ascii_uppercase().into()
    }

    /// The rank of that name; "superkingdom" is a domain.
    pub fn from_name(name: &str) -> Option<Rank> {
        match name {
            "superkingdom" => Some(Rank::Domain),
            _ => Rank::ALL.into_iter().find(|rank| rank.name() == name),
        }
    }

    /// The rank of a node: by its name, and the four of NCBI are domains also when their rank is
    /// called otherwise. A tree with numbers of its own may have a phylum 2: what has another of
    /// the eight ranks keeps it.
    pub(crate) fn of_node(name: &str, taxid: u32) -> Option<Rank> {
        Rank::from_name(name).or_else(|| DOMAINS.contains(&taxid).then_some(Rank::Domain))
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Rank {
    type Err = String;

    fn from_str(text: &str) -> Result<Rank, String> {
        let name = text.to_ascii_lowercase();
        let letter = |rank: &Rank| name.len() == 1 && rank.name().starts_with(&name);
        Rank::from_name(&name)
            .or_else(|| Rank::ALL.into_iter().find(letter))
            .ok_or_else(|| {
                format!(
                    "{text:?} is no rank; expected domain, kingdom, phylum, class, order, family, \
                     genus or species"
                )
            })
    }
}

/// How ranks become letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankStyle {
    /// As before 2025: Bacteria, Archaea, Eukaryota and Viruses are `D`, by taxid or as a domain.
    /// Bracken, Pavian, MultiQC and Krona expect it.
    #[default]
    Kraken,
    /// By the name of the rank alone, as Kraken2 does: with a dump of 2025 or later there is no
    /// `D`, Bacteria are `R2`.
    Ncbi2025,
}

/// Kraken's letter for names of ranks; only what NCBI called superkingdom is `D`.
pub(crate) fn letter_by_name(name: &str) -> Option<char> {
    Rank::from_name(name)
        .filter(|_| name != Rank::Domain.name())
        .map(Rank::letter)
}

/// A rank as Kraken's reports have it: `D`, `P1`, `S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RankCode {
    /// The letter of the nearest taxon with one: R D K P C O F G S.
    pub letter: char,
    /// How many levels below it; 0 for that taxon itself.
    pub number: u32,
}

impl fmt::Display for RankCode {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.number {
            0 => write!(out, "{}", self.letter),
            number => write!(out, "{}{number}", self.letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_read_back() {
        for rank in Rank::ALL {
            assert_eq!(rank.name().parse(), Ok(rank));
            assert_eq!(rank.letter().to_string().parse(), Ok(rank));
            assert_eq!(Rank::ALL[rank as usize], rank);
        }
        assert_eq!("Superkingdom".parse(), Ok(Rank::Domain));
        assert!(
            "clade"
                .parse::<Rank>()
                .is_err_and(|error| error.contains("\"clade\""))
        );
        assert!("".parse::<Rank>().is_err());
    }

    #[test]
    fn the_four_are_domains_under_any_name() {
        for name in [
            "superkingdom",
            "domain",
            "acellular root",
            "realm",
            "no rank",
            "",
        ] {
            assert_eq!(Rank::of_node(name, 10239), Some(Rank::Domain), "{name}");
        }
        assert_eq!(Rank::of_node("phylum", 2), Some(Rank::Phylum));
        assert_eq!(Rank::of_node("realm", 2559587), None);
    }
}
