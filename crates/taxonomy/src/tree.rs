//! Making a tree of nodes that come in any order.

use std::collections::HashMap;

use crate::error::Flaw;
use crate::taxon::{Node, ROOT, Taxon};

/// The rank of nodes whose source has none.
pub(crate) const NO_RANK: &str = "no rank";

/// The taxid of the root.
pub(crate) const ROOT_TAXID: u32 = 1;

/// Different ranks that a taxonomy may have, so that a number of two bytes names one.
pub(crate) const MOST_RANKS: usize = 1 << 16;

/// Texts by number, one after the other in one piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    text: String,
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 {
            0
        } else {
            self.ends[number - 1]
        };
        &self.text[start..self.ends[number]]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.get(number))
    }
}

impl<'a> FromIterator<&'a str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Texts {
        let mut all = Texts::default();
        texts.into_iter().for_each(|text| all.push(text));
        all
    }
}

/// What a taxonomy is, without what follows from it: taxa in the order of the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub taxids: Vec<u32>,
    pub parents: Vec<Taxon>,
    /// Number of the rank's name, by taxon.
    pub ranks: Vec<u16>,
    /// Names of ranks, each once and used, ascending.
    pub rank_names: Texts,
    pub names: Texts,
    /// Taxids that were merged into a node, ascending, none of them a node's.
    pub merged: Vec<(u32, Taxon)>,
    /// Taxids that were deleted, ascending, none of them a node's or merged.
    pub deleted: Vec<u32>,
}

impl Parts {
    pub(crate) fn len(&self) -> usize {
        self.taxids.len()
    }

    pub(crate) fn taxa(&self) -> impl ExactSizeIterator<Item = Taxon> + Clone + use<> {
        (0..self.len() as u32).map(Taxon)
    }

    pub(crate) fn rank(&self, taxon: Taxon) -> &str {
        self.rank_names.get(self.ranks[taxon.index()].into())
    }

    /// Only what is kept: the root, and of each other node its parent too.
    pub(crate) fn keep(&self, kept: &[bool]) -> Parts {
        let order: Vec<Taxon> = self.taxa().filter(|taxon| kept[taxon.index()]).collect();
        let mut renumbered = vec![ROOT; self.len()];
        for (new, old) in self.taxa().zip(&order) {
            renumbered[old.index()] = new;
        }
        let (ranks, rank_names) = sorted_ranks(order.iter().map(|&old| self.rank(old)));
        let merged = self.merged.iter().filter(|entry| kept[entry.1.index()]);
        Parts {
            taxids: order.iter().map(|&old| self.taxids[old.index()]).collect(),
            parents: order
                .iter()
                .map(|&old| renumbered[self.parents[old.index()].index()])
                .collect(),
            ranks,
            rank_names,
            names: order.iter().map(|&old| self.names.get(old.0)).collect(),
            merged: merged
                .map(|&(taxid, taxon)| (taxid, renumbered[taxon.index()]))
                .collect(),
            deleted: Vec::new(),
        }
    }
}

/// The number of each rank, and the names, ascending: independent of the order of nodes.
fn sorted_ranks<'a>(ranks: impl Iterator<Item = &'a str> + Clone) -> (Vec<u16>, Texts) {
    let mut numbers: HashMap<&str, u16> = ranks.clone().map(|rank| (rank, 0)).collect();
    let mut names: Vec<&str> = numbers.keys().copied().collect();
    names.sort_unstable();
    names.iter().zip(0..).for_each(|(name, number)| {
        numbers.insert(name, number);
    });
    (
        ranks.map(|rank| numbers[rank]).collect(),
        names.into_iter().collect(),
    )
}

/// Nodes in any order.
#[derive(Default)]
pub(crate) struct Sprouts {
    pub taxids: Vec<u32>,
    /// Taxids.
    pub parents: Vec<u32>,
    /// Number of the rank's name, by node, in order of first use.
    ranks: Vec<u32>,
    rank_names: Texts,
    rank_numbers: HashMap<String, u32>,
    pub names: Texts,
}

impl Sprouts {
    pub(crate) fn push(&mut self, node: &Node) {
        self.push_nameless(node.taxid, node.parent, node.rank);
        self.names.push(node.name);
    }

    /// A node whose name comes later, in `names`.
    pub(crate) fn push_nameless(&mut self, taxid: u32, parent: u32, rank: &str) {
        let rank = if rank.is_empty() { NO_RANK } else { rank };
        self.taxids.push(taxid);
        self.parents.push(parent);
        let number = self.rank_number(rank);
        self.ranks.push(number);
    }

    fn rank_number(&mut self, rank: &str) -> u32 {
        if let Some(&number) = self.rank_numbers.get(rank) {
            return number;
        }
        let number = self.rank_names.len() as u32;
        self.rank_names.push(rank);
        self.rank_numbers.insert(rank.to_owned(), number);
        number
    }

    /// The tree.
    pub(crate) fn grow(&self) -> Result<Parts, Flaw> {
        if self.rank_names.len() > MOST_RANKS {
            return Err(Flaw::TooManyRanks);
        }
        let places = self.places()?;
        let parents = self.parent_places(&places)?;
        let order = self.walk(&places, &parents)?;
        let mut taxa = vec![ROOT; order.len()];
        for (&place, taxon) in order.iter().zip(0..) {
            taxa[place as usize] = Taxon(taxon);
        }
        let rank = |&place: &u32| self.rank_names.get(self.ranks[place as usize]);
        let (ranks, rank_names) = sorted_ranks(order.iter().map(rank));
        Ok(Parts {
            taxids: order
                .iter()
                .map(|&place| self.taxids[place as usize])
                .collect(),
            parents: order
                .iter()
                .map(|&place| taxa[parents[place as usize] as usize])
                .collect(),
            ranks,
            rank_names,
            names: order.iter().map(|&place| self.names.get(place)).collect(),
            merged: Vec::new(),
            deleted: Vec::new(),
        })
    }

    /// Places in ascending order of taxid, each taxid once.
    fn places(&self) -> Result<Vec<u32>, Flaw> {
        if self.taxids.len() >= 1 << 31 {
            return Err(Flaw::TooMany);
        }
        let places = by_taxid(&self.taxids);
        if let Some(&place) = places
            .first()
            .filter(|&&place| self.taxids[place as usize] == 0)
        {
            return Err(Flaw::Zero {
                place: place as usize,
            });
        }
        for pair in places.windows(2) {
            let [first, second] = [pair[0] as usize, pair[1] as usize];
            if self.taxids[first] == self.taxids[second] {
                return Err(Flaw::Twice {
                    taxid: self.taxids[first],
                    first,
                    second,
                });
            }
        }
        Ok(places)
    }

    /// The place of the parent, by place.
    fn parent_places(&self, places: &[u32]) -> Result<Vec<u32>, Flaw> {
        let find = |(place, &parent): (usize, &u32)| {
            let at = places.binary_search_by_key(&parent, |&other| self.taxids[other as usize]);
            at.map(|at| places[at]).map_err(|_| Flaw::NoParent {
                taxid: self.taxids[place],
                parent,
                place,
            })
        };
        self.parents.iter().enumerate().map(find).collect()
    }

    /// Places in the order of the walk.
    fn walk(&self, places: &[u32], parents: &[u32]) -> Result<Vec<u32>, Flaw> {
        let root = *places.first().ok_or(Flaw::NoRoot)?;
        if self.taxids[root as usize] != ROOT_TAXID || parents[root as usize] != root {
            return Err(Flaw::NoRoot);
        }
        let (starts, children) = children(places, parents, root);
        let mut order = Vec::with_capacity(parents.len());
        let mut waiting = vec![root];
        while let Some(place) = waiting.pop() {
            order.push(place);
            let own = starts[place as usize] as usize..starts[place as usize + 1] as usize;
            waiting.extend(children[own].iter().rev());
        }
        if order.len() == parents.len() {
            Ok(order)
        } else {
            Err(self.cycle(&order, places, parents))
        }
    }

    /// The circle that keeps the unreached node with the smallest taxid from the root.
    fn cycle(&self, reached: &[u32], places: &[u32], parents: &[u32]) -> Flaw {
        let mut seen = vec![false; parents.len()];
        reached
            .iter()
            .for_each(|&place| seen[place as usize] = true);
        let unreached = places.iter().find(|&&place| !seen[place as usize]);
        let mut on_circle = *unreached.expect("fewer nodes were reached than there are");
        while !std::mem::replace(&mut seen[on_circle as usize], true) {
            on_circle = parents[on_circle as usize];
        }
        let mut smallest = on_circle;
        let mut place = parents[on_circle as usize];
        while place != on_circle {
            smallest = std::cmp::min_by_key(smallest, place, |&place| self.taxids[place as usize]);
            place = parents[place as usize];
        }
        Flaw::Cycle {
            taxid: self.taxids[smallest as usize],
            place: smallest as usize,
        }
    }
}

/// Where each place's children start, and the children, by ascending taxid.
fn children(places: &[u32], parents: &[u32], root: u32) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; parents.len() + 1];
    for &parent in parents {
        starts[parent as usize + 1] += 1;
    }
    // The root is no child of itself.
    starts[root as usize + 1] -= 1;
    for place in 0..parents.len() {
        starts[place + 1] += starts[place];
    }
    let mut next = starts.clone();
    let mut children = vec![0; parents.len() - 1];
    for &place in places.iter().filter(|&&place| place != root) {
        let slot = &mut next[parents[place as usize] as usize];
        children[*slot as usize] = place;
        *slot += 1;
    }
    (starts, children)
}

/// Places in ascending order of taxid, those of one taxid in order.
pub(crate) fn by_taxid(taxids: &[u32]) -> Vec<u32> {
    let mut pairs: Vec<u64> = taxids
        .iter()
        .zip(0..)
        .map(|(&taxid, place)| u64::from(taxid) << 32 | place)
        .collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|pair| pair as u32).collect()
}

/// The first taxon after each one's clade.
pub(crate) fn ends(parents: &[Taxon]) -> Vec<Taxon> {
    let mut ends: Vec<Taxon> = (1..=parents.len() as u32).map(Taxon).collect();
    for taxon in (1..parents.len()).rev() {
        let parent = parents[taxon].index();
        ends[parent] = ends[parent].max(ends[taxon]);
    }
    ends
}
