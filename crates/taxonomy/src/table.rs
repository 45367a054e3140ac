//! Tables of lineages: GTDB's, and those whose first line names ranks.

use std::collections::{HashMap, HashSet};

use crate::error::{Flaw, TaxonomyError};
use crate::lines::{Lines, TAXONOMY, number, shown};
use crate::map::TaxonMap;
use crate::source::TaxonomySource;
use crate::taxon::Node;
use crate::taxonomy::Taxonomy;
use crate::tree::{NO_RANK, ROOT_TAXID, Sprouts};

/// Letters of GTDB's prefixes, as in `g__Escherichia`, from high to low.
const PREFIXES: [(u8, &str); 9] = [
    (b'd', "domain"),
    (b'k', "kingdom"),
    (b'p', "phylum"),
    (b'c', "class"),
    (b'o', "order"),
    (b'f', "family"),
    (b'g', "genus"),
    (b's', "species"),
    (b't', "strain"),
];

/// Columns that are ranks; one of them is often mistyped.
const RANKS: [&str; 27] = [
    "superkingdom",
    "domain",
    "realm",
    "subrealm",
    "kingdom",
    "subkingdom",
    "superphylum",
    "phylum",
    "subphylum",
    "superclass",
    "class",
    "subclass",
    "superorder",
    "order",
    "suborder",
    "superfamily",
    "family",
    "subfamily",
    "tribe",
    "genus",
    "subgenus",
    "species group",
    "species",
    "subspecies",
    "strain",
    "serotype",
    "isolate",
];
const MISTYPED: (&str, &str) = ("superkindom", "superkingdom");

/// Taxids below are NCBI's; made-up ones are above.
const FIRST_MADE_UP: u32 = 1 << 24;

/// Reads a table of either kind.
pub(crate) fn read(lines: &mut Lines) -> Result<TaxonomySource, TaxonomyError> {
    let mut tree = Growing::new();
    let mut form = None;
    lines.each(|at, line| {
        let line = std::str::from_utf8(line).map_err(|_| not_a_table(line))?;
        let line = if at == 1 {
            line.trim_start_matches('\u{feff}')
        } else {
            line
        };
        match &form {
            Some(Form::Columns(columns)) => tree.row(columns, line, at),
            Some(Form::Gtdb) => tree.gtdb_row(line, at),
            None if second_is_lineage(line) => {
                form = Some(Form::Gtdb);
                tree.gtdb_row(line, at)
            }
            None => {
                form = Some(Form::Columns(Columns::of(line)?));
                Ok(())
            }
        }
    })?;
    if tree.nodes.len() == 1 {
        let problem = format!("there is no lineage in it; expected {TAXONOMY}");
        return Err(TaxonomyError::Unfit {
            input: lines.name(),
            problem,
        });
    }
    tree.finish(&lines.name())
}

fn not_a_table(line: &[u8]) -> String {
    format!(
        "expected \"id<TAB>d__Bacteria;p__...\", or names of columns with an id and ranks such as \
         genus and species, found {}",
        shown(line)
    )
}

/// True for `id<TAB>x__...`.
fn second_is_lineage(line: &str) -> bool {
    let second = line.split('\t').nth(1).unwrap_or_default();
    prefixed(second.split(';').next().unwrap_or_default()).is_some()
}

/// The rank, by its number in [`PREFIXES`], and the name of `g__Escherichia`.
fn prefixed(text: &str) -> Option<(usize, &str)> {
    let (letter, name) = text.trim().split_once("__")?;
    let rank = PREFIXES
        .iter()
        .position(|prefix| letter.as_bytes() == [prefix.0])?;
    Some((rank, name.trim()))
}

enum Form {
    Gtdb,
    Columns(Columns),
}

/// Where in a line there is what.
struct Columns {
    id: Option<usize>,
    taxid: Option<usize>,
    name: Option<usize>,
    rank: Option<usize>,
    ranks: Vec<(usize, &'static str)>,
    count: usize,
}

impl Columns {
    fn of(header: &str) -> Result<Columns, String> {
        let names: Vec<String> = header
            .trim_start_matches('#')
            .split('\t')
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        let rank = |(at, name): (usize, &String)| {
            let name = if name == MISTYPED.0 { MISTYPED.1 } else { name };
            RANKS
                .iter()
                .find(|rank| **rank == name)
                .map(|rank| (at, *rank))
        };
        let ranks: Vec<_> = names.iter().enumerate().filter_map(rank).collect();
        if ranks.is_empty() {
            return Err(not_a_table(header.as_bytes()));
        }
        let taxid = find("taxid").or(find("tax_id"));
        let id = (taxid != Some(0) && ranks[0].0 != 0).then_some(0);
        Ok(Columns {
            id,
            taxid,
            name: find("name"),
            rank: find("rank"),
            ranks,
            count: names.len(),
        })
    }
}

/// A tree that lineages are added to.
struct Growing {
    /// The root comes first.
    nodes: Vec<Grown>,
    /// Nodes by the hash of their lineage, or the next number that was free.
    by_hash: HashMap<u64, usize>,
    /// Node and line.
    ids: HashMap<String, (usize, u64)>,
}

struct Grown {
    parent: usize,
    rank: String,
    name: String,
    /// 0 as long as there is none.
    taxid: u32,
    /// Of its lineage.
    hash: u64,
    line: u64,
}

impl Growing {
    fn new() -> Growing {
        let (rank, name) = (NO_RANK.to_owned(), "root".to_owned());
        let root = Grown {
            parent: 0,
            rank,
            name,
            taxid: ROOT_TAXID,
            hash: FNV_START,
            line: 0,
        };
        Growing {
            nodes: vec![root],
            by_hash: HashMap::new(),
            ids: HashMap::new(),
        }
    }

    /// The node of that rank and name below `parent`.
    fn child(&mut self, parent: usize, rank: &str, name: &str, line: u64) -> usize {
        let hash = lineage_hash(self.nodes[parent].hash, rank, name);
        let mut key = hash;
        while let Some(&found) = self.by_hash.get(&key) {
            let node = &self.nodes[found];
            if node.parent == parent && node.rank == rank && node.name == name {
                return found;
            }
            key = key.wrapping_add(1);
        }
        self.by_hash.insert(key, self.nodes.len());
        self.nodes.push(Grown {
            parent,
            rank: rank.into(),
            name: name.into(),
            taxid: 0,
            hash,
            line,
        });
        self.nodes.len() - 1
    }

    fn gtdb_row(&mut self, line: &str, at: u64) -> Result<(), String> {
        let mut fields = line.split('\t');
        let (Some(id), Some(lineage)) = (fields.next(), fields.next()) else {
            return Err(not_a_table(line.as_bytes()));
        };
        let (mut node, mut above) = (0, None);
        for part in lineage.split(';') {
            let (rank, name) = prefixed(part)
                .filter(|&(rank, _)| Some(rank) > above)
                .ok_or_else(|| {
                    format!(
                        "expected ranks from high to low such as g__Escherichia, found {}",
                        shown(part.as_bytes())
                    )
                })?;
            above = Some(rank);
            if !name.is_empty() {
                node = self.child(node, PREFIXES[rank].1, name, at);
            }
        }
        // GTDB marks where a genome comes from: RS_GCF_000005845.2, GB_GCA_000008085.1.
        let plain = id
            .strip_prefix("RS_")
            .or(id.strip_prefix("GB_"))
            .unwrap_or(id);
        self.add_id(plain, node, at)
    }

    fn row(&mut self, columns: &Columns, line: &str, at: u64) -> Result<(), String> {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        if fields.len() < columns.count {
            let (found, expected) = (fields.len(), columns.count);
            return Err(format!(
                "expected {expected} columns, as the first line names, found {found}"
            ));
        }
        let filled = |name: &&str| !name.is_empty() && *name != "NA";
        let mut node = 0;
        for &(column, rank) in &columns.ranks {
            if let Some(name) = Some(fields[column]).filter(filled) {
                node = self.child(node, rank, name, at);
            }
        }
        let own = |column: Option<usize>| column.map(|column| fields[column]).filter(filled);
        if let Some(name) = own(columns.name).filter(|name| *name != self.nodes[node].name) {
            node = self.child(node, own(columns.rank).unwrap_or(NO_RANK), name, at);
        }
        if let Some(taxid) = own(columns.taxid) {
            self.set_taxid(node, taxid)?;
        }
        columns
            .id
            .map_or(Ok(()), |id| self.add_id(fields[id], node, at))
    }

    fn set_taxid(&mut self, node: usize, text: &str) -> Result<(), String> {
        let taxid = number(text.as_bytes()).filter(|&taxid| taxid > 0);
        let taxid =
            taxid.ok_or_else(|| format!("expected a taxid, found {}", shown(text.as_bytes())))?;
        let known = &mut self.nodes[node];
        if known.taxid != 0 && known.taxid != taxid {
            return Err(format!(
                "{:?} has the taxid {taxid} here and {} before; a column \"name\" tells strains of \
                 a species apart",
                known.name, known.taxid
            ));
        }
        known.taxid = taxid;
        Ok(())
    }

    fn add_id(&mut self, id: &str, node: usize, at: u64) -> Result<(), String> {
        if node == 0 {
            return Err(format!("{id:?} has no lineage"));
        }
        match self.ids.insert(id.to_owned(), (node, at)) {
            Some((before, line)) if before != node => {
                Err(format!("{id:?} has another lineage than on line {line}"))
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self, input: &str) -> Result<TaxonomySource, TaxonomyError> {
        self.make_up_taxids();
        let mut sprouts = Sprouts::default();
        for node in &self.nodes {
            let parent = self.nodes[node.parent].taxid;
            sprouts.push(&Node {
                taxid: node.taxid,
                parent,
                rank: &node.rank,
                name: &node.name,
            });
        }
        let parts = sprouts.grow().map_err(|flaw| self.explain(flaw, input))?;
        let mut map = TaxonMap::default();
        self.ids
            .iter()
            .for_each(|(id, place)| map.insert(id, self.nodes[place.0].taxid));
        Ok(TaxonomySource {
            taxonomy: Taxonomy::from_parts(parts),
            map,
        })
    }

    /// Gives a taxid to each node without one: independent of the order of lines.
    fn make_up_taxids(&mut self) {
        let mut taken: HashSet<u32> = self.nodes.iter().map(|node| node.taxid).collect();
        let mut order: Vec<usize> = (0..self.nodes.len())
            .filter(|&node| self.nodes[node].taxid == 0)
            .collect();
        order.sort_by_key(|&node| self.nodes[node].hash);
        for node in order {
            let hash = self.nodes[node].hash;
            let free = (0..)
                .map(|attempt| made_up(hash, attempt))
                .find(|&taxid| taxid >= FIRST_MADE_UP && taken.insert(taxid));
            self.nodes[node].taxid = free.expect("there are more numbers than nodes");
        }
    }

    fn explain(&self, flaw: Flaw, input: &str) -> TaxonomyError {
        let input = input.to_owned();
        match flaw {
            Flaw::Twice {
                taxid,
                first,
                second,
            } => {
                let [first, second] = [first, second].map(|place| &self.nodes[place]);
                let problem = format!(
                    "taxid {taxid} is that of {:?} here and of {:?} on line {}",
                    second.name, first.name, first.line
                );
                TaxonomyError::Malformed {
                    input,
                    line: second.line,
                    problem,
                }
            }
            other => TaxonomyError::Unfit {
                input,
                problem: other.to_string(),
            },
        }
    }
}

/// Where the hash of Fowler, Noll and Vo (FNV-1a, 64 bits) starts: the hash of the root's lineage.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_FACTOR: u64 = 0x0100_0000_01b3;

/// The hash of a lineage: of each rank, a tab, the name, a line feed, from the root downwards.
fn lineage_hash(above: u64, rank: &str, name: &str) -> u64 {
    let bytes = rank
        .bytes()
        .chain([b'\t'])
        .chain(name.bytes())
        .chain([b'\n']);
    bytes.fold(above, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_FACTOR)
    })
}

/// The taxid that is tried for a lineage after so many that were taken: 31 bits of the hash, mixed
/// (SplitMix64).
fn made_up(hash: u64, attempt: u64) -> u32 {
    let mut mixed = hash.wrapping_add(attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 33) as u32
}

#[cfg(test)]
mod tests;
