//! What a database says of its references, beside their features; of several databases together, as
//! if they were one.

use std::path::Path;

use crate::distinct;
use crate::mismatch::{self, Mismatch};
use crate::parameters::{DISTINCT, PARAMETERS, Parameters, TARGETS, TAXONOMY};
use crate::targets::{TargetId, Targets};
use gyrase_taxonomy::{Rank, Taxon, Taxonomy};

/// The references of a database and how they were sketched.
#[derive(Debug)]
pub struct Catalogue {
    /// The reference sequences.
    pub targets: Targets,
    /// The taxa that lead to them.
    pub taxonomy: Taxonomy,
    /// How windows are sketched.
    pub parameters: Parameters,
    /// The species of each target, or its own taxon where it has none above it.
    species: Vec<Option<Taxon>>,
    /// The distinct features of each taxon.
    distinct: Vec<u64>,
}

impl Catalogue {
    /// What sections say, by name; `Err` is the name of one that makes no sense.
    pub(crate) fn of_sections<'s, E>(
        section: impl Fn(&'static str) -> Result<&'s [u8], E>,
        senseless: impl Fn(&'static str) -> E,
    ) -> Result<Catalogue, E> {
        let parameters =
            Parameters::from_bytes(section(PARAMETERS)?).ok_or_else(|| senseless(PARAMETERS))?;
        let targets = Targets::from_bytes(section(TARGETS)?).map_err(|_| senseless(TARGETS))?;
        let taxonomy = Taxonomy::from_bytes(section(TAXONOMY)?).map_err(|_| senseless(TAXONOMY))?;
        let distinct = distinct::from_bytes(section(DISTINCT)?, taxonomy.len())
            .ok_or_else(|| senseless(DISTINCT))?;
        let known = |taxon| taxonomy.has(taxon);
        if !targets.iter().all(|target| target.taxon.is_none_or(known)) {
            return Err(senseless(TARGETS));
        }
        Ok(Catalogue::new(targets, taxonomy, parameters, distinct))
    }

    fn new(
        targets: Targets,
        taxonomy: Taxonomy,
        parameters: Parameters,
        distinct: Vec<u64>,
    ) -> Catalogue {
        let above = |taxon| taxonomy.ancestor_at(taxon, Rank::Species).unwrap_or(taxon);
        let species = targets
            .iter()
            .map(|target| target.taxon.map(above))
            .collect();
        Catalogue {
            targets,
            taxonomy,
            parameters,
            species,
            distinct,
        }
    }

    /// The sections that [`Catalogue::of_sections`] reads, each with its name.
    pub(crate) fn sections(&self) -> [(&'static str, Vec<u8>); 4] {
        [
            (PARAMETERS, self.parameters.to_bytes()),
            (TARGETS, self.targets.to_bytes()),
            (TAXONOMY, self.taxonomy.to_bytes()),
            (DISTINCT, distinct::to_bytes(&self.distinct)),
        ]
    }

    /// All references of `parts`, in their order. The windows of each part come behind those of the
    /// parts before it.
    ///
    /// The distinct features of a taxon are the sum of those in each part: of those that several
    /// parts have, more than there are.
    ///
    /// # Errors
    /// See [`Mismatch`].
    ///
    /// # Panics
    /// Without any parts.
    pub(crate) fn unite(parts: &[(&Path, &Catalogue)]) -> Result<Catalogue, Mismatch> {
        let (first, of_first) = parts
            .first()
            .map(|(path, part)| (*path, part.parameters))
            .expect("there is a part");
        if let Some((other, part)) = parts.iter().find(|(_, part)| part.parameters != of_first) {
            return Err(mismatch::parameters(
                (first, of_first),
                (other, part.parameters),
            ));
        }
        let paths: Vec<&Path> = parts.iter().map(|part| part.0).collect();
        let taxonomy = Taxonomy::unite(parts.iter().map(|(_, part)| &part.taxonomy));
        let taxonomy = taxonomy.map_err(|disunity| mismatch::of_parts(&paths, disunity))?;
        let (mut targets, mut distinct) = (Targets::default(), vec![0; taxonomy.len()]);
        for (_, part) in parts {
            let first_source = targets.sources();
            let mut moved = part
                .targets
                .iter()
                .map(|target| target.moved(&part.taxonomy, &taxonomy, first_source));
            moved
                .try_for_each(|target| targets.push(target))
                .ok_or_else(|| mismatch::too_many_windows(&paths))?;
            for taxon in part.taxonomy.taxa() {
                let there = taxonomy
                    .taxon_of(part.taxonomy.taxid(taxon))
                    .expect("the union has all taxa");
                distinct[there.index()] += part.distinct(taxon);
            }
        }
        Ok(Catalogue::new(targets, taxonomy, of_first, distinct))
    }

    /// The species of a target, or its own taxon where that is of no species; `None` where the
    /// target has no taxon.
    ///
    /// # Panics
    /// When there is no such target.
    #[inline]
    pub fn species_of(&self, target: TargetId) -> Option<Taxon> {
        self.species[target.index()]
    }

    /// How many distinct features the database has at locations in targets of exactly this taxon.
    ///
    /// # Panics
    /// When there is no such taxon.
    #[inline]
    pub fn distinct(&self, taxon: Taxon) -> u64 {
        self.distinct[taxon.index()]
    }
}
