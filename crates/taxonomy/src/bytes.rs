//! A taxonomy as bytes, and back; `docs/formats.md` has the layout.

use crate::error::TaxonomyError;
use crate::taxon::{ROOT, Taxon};
use crate::tree::{MOST_RANKS, Parts, ROOT_TAXID, Texts};

/// The version that is written and read.
pub(crate) const VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"GYRTAXA\n";
const HEADER_BYTES: usize = 48;
const CHECKSUM_BYTES: usize = 4;

/// How many of each there are: nodes, ranks, merged, deleted, bytes of ranks' names, bytes of
/// names.
struct Sizes {
    nodes: usize,
    ranks: usize,
    merged: usize,
    deleted: usize,
    rank_text: usize,
    text: usize,
}

impl Sizes {
    fn of(parts: &Parts) -> Sizes {
        let bytes = |texts: &Texts| texts.iter().map(str::len).sum();
        Sizes {
            nodes: parts.len(),
            ranks: parts.rank_names.len(),
            merged: parts.merged.len(),
            deleted: parts.deleted.len(),
            rank_text: bytes(&parts.rank_names),
            text: bytes(&parts.names),
        }
    }

    /// Bytes of a taxonomy of these sizes, or `None` beyond what there can be.
    fn bytes(&self) -> Option<usize> {
        let fixed = [
            (self.nodes, 14),
            (self.ranks, 4),
            (self.merged, 8),
            (self.deleted, 4),
        ];
        let fixed = fixed.into_iter().try_fold(0, |sum: usize, (count, size)| {
            sum.checked_add(count.checked_mul(size)?)
        })?;
        let text = self.rank_text.checked_add(self.text)?;
        fixed
            .checked_add(text)?
            .checked_add(HEADER_BYTES + CHECKSUM_BYTES)
    }
}

pub(crate) fn encode(parts: &Parts) -> Vec<u8> {
    let sizes = Sizes::of(parts);
    let mut bytes = Vec::with_capacity(sizes.bytes().expect("the parts are in memory"));
    bytes.extend(MAGIC);
    let counts = [sizes.nodes, sizes.ranks, sizes.merged, sizes.deleted].map(|count| count as u32);
    put_all(&mut bytes, [VERSION].into_iter().chain(counts).chain([0]));
    bytes.extend((sizes.rank_text as u64).to_le_bytes());
    bytes.extend((sizes.text as u64).to_le_bytes());
    put_all(&mut bytes, parts.taxids.iter().copied());
    put_all(&mut bytes, parts.parents.iter().map(|parent| parent.0));
    put_all(&mut bytes, parts.names.iter().map(|name| name.len() as u32));
    put_all(
        &mut bytes,
        parts.rank_names.iter().map(|name| name.len() as u32),
    );
    put_all(
        &mut bytes,
        parts
            .merged
            .iter()
            .flat_map(|&(taxid, taxon)| [taxid, taxon.0]),
    );
    put_all(&mut bytes, parts.deleted.iter().copied());
    parts
        .ranks
        .iter()
        .for_each(|rank| bytes.extend(rank.to_le_bytes()));
    parts
        .rank_names
        .iter()
        .for_each(|name| bytes.extend(name.as_bytes()));
    parts
        .names
        .iter()
        .for_each(|name| bytes.extend(name.as_bytes()));
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn put_all(bytes: &mut Vec<u8>, words: impl Iterator<Item = u32>) {
    words.for_each(|word| bytes.extend(word.to_le_bytes()));
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Parts, TaxonomyError> {
    if !bytes.starts_with(&MAGIC) || bytes.len() < HEADER_BYTES + CHECKSUM_BYTES {
        return Err(corrupt("it does not begin with a header of \"GYRTAXA\""));
    }
    let found = word(&bytes[8..]);
    if found != VERSION {
        return Err(TaxonomyError::Version {
            found,
            known: VERSION,
        });
    }
    let (body, checksum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
    let (stored, computed) = (word(checksum), crc32fast::hash(body));
    if stored != computed {
        return Err(corrupt(format!(
            "its checksum is {stored:08x}, its bytes give {computed:08x}"
        )));
    }
    let sizes = sizes(body)?;
    if sizes.bytes() != Some(bytes.len()) {
        return Err(corrupt(format!(
            "its length of {} bytes is not what its header says",
            bytes.len()
        )));
    }
    let parts = Sections(&body[HEADER_BYTES..]).parts(&sizes)?;
    check(&parts).map_err(corrupt)?;
    Ok(parts)
}

fn corrupt(what: impl Into<String>) -> TaxonomyError {
    TaxonomyError::Corrupt { what: what.into() }
}

/// The first four bytes.
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("the range is four bytes long"))
}

fn sizes(header: &[u8]) -> Result<Sizes, TaxonomyError> {
    let count = |at: usize| word(&header[at..]) as usize;
    let long = |at: usize| {
        let bytes = u64::from_le_bytes(
            header[at..at + 8]
                .try_into()
                .expect("the range is eight bytes long"),
        );
        usize::try_from(bytes).map_err(|_| corrupt(format!("{bytes} bytes of names")))
    };
    if count(28) != 0 {
        return Err(corrupt("reserved bytes are not zero"));
    }
    let (rank_text, text) = (long(32)?, long(40)?);
    Ok(Sizes {
        nodes: count(12),
        ranks: count(16),
        merged: count(20),
        deleted: count(24),
        rank_text,
        text,
    })
}

/// What of the bytes is not yet read. There are as many as the sizes say.
struct Sections<'a>(&'a [u8]);

impl<'a> Sections<'a> {
    fn parts(mut self, sizes: &Sizes) -> Result<Parts, TaxonomyError> {
        let taxids = self.words(sizes.nodes).collect();
        let parents = self.words(sizes.nodes).map(Taxon).collect();
        let lengths: Vec<u32> = self.words(sizes.nodes).collect();
        let rank_lengths: Vec<u32> = self.words(sizes.ranks).collect();
        let merged: Vec<u32> = self.words(2 * sizes.merged).collect();
        let deleted = self.words(sizes.deleted).collect();
        let ranks = self
            .take(2 * sizes.nodes)
            .chunks_exact(2)
            .map(|two| u16::from_le_bytes([two[0], two[1]]));
        Ok(Parts {
            taxids,
            parents,
            ranks: ranks.collect(),
            rank_names: self.texts(sizes.rank_text, &rank_lengths)?,
            names: self.texts(sizes.text, &lengths)?,
            merged: merged
                .chunks_exact(2)
                .map(|entry| (entry[0], Taxon(entry[1])))
                .collect(),
            deleted,
        })
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn words(&mut self, count: usize) -> impl Iterator<Item = u32> + use<'a> {
        self.take(4 * count).chunks_exact(4).map(word)
    }

    fn texts(&mut self, bytes: usize, lengths: &[u32]) -> Result<Texts, TaxonomyError> {
        let text =
            std::str::from_utf8(self.take(bytes)).map_err(|_| corrupt("names are not UTF-8"))?;
        let mut texts = Texts::default();
        let mut rest = text;
        for &length in lengths {
            let (name, after) = rest
                .split_at_checked(length as usize)
                .ok_or_else(|| corrupt("names end amid a letter"))?;
            texts.push(name);
            rest = after;
        }
        if rest.is_empty() {
            Ok(texts)
        } else {
            Err(corrupt("there is more text than names"))
        }
    }
}

/// Nothing but what `encode` writes passes.
fn check(parts: &Parts) -> Result<(), String> {
    check_tree(parts)?;
    check_ranks(parts)?;
    let known = sorted_unique(parts.taxids.clone()).ok_or("a taxid is there twice")?;
    let merged: Vec<u32> = parts.merged.iter().map(|entry| entry.0).collect();
    let foreign = |taxids: &[u32]| {
        taxids
            .iter()
            .all(|taxid| *taxid != 0 && known.binary_search(taxid).is_err())
    };
    let ascending = |taxids: &[u32]| taxids.is_sorted_by(|a, b| a < b) && foreign(taxids);
    if !ascending(&merged)
        || parts
            .merged
            .iter()
            .any(|entry| entry.1.index() >= parts.len())
    {
        return Err("merged taxids are out of order or lead nowhere".into());
    }
    if !ascending(&parts.deleted)
        || parts
            .deleted
            .iter()
            .any(|taxid| merged.binary_search(taxid).is_ok())
    {
        return Err("deleted taxids are out of order or not deleted".into());
    }
    Ok(())
}

fn sorted_unique(mut taxids: Vec<u32>) -> Option<Vec<u32>> {
    taxids.sort_unstable();
    taxids.is_sorted_by(|a, b| a < b).then_some(taxids)
}

/// Parents come before their children, children by ascending taxid, each right after the clade
/// before it.
fn check_tree(parts: &Parts) -> Result<(), String> {
    if parts.len() >= 1 << 31
        || parts.taxids.first() != Some(&ROOT_TAXID)
        || parts.parents[0] != ROOT
    {
        return Err("its first node is not the root".into());
    }
    // From the root to the node before, each with the taxid of its last child so far.
    let mut path: Vec<(Taxon, u32)> = vec![(ROOT, 0)];
    for taxon in 1..parts.len() {
        let (parent, taxid) = (parts.parents[taxon], parts.taxids[taxon]);
        while path.last().is_some_and(|last| last.0 > parent) {
            path.pop();
        }
        let last = path.last_mut().expect("the root is not above any parent");
        if last.0 != parent || last.1 >= taxid {
            return Err(format!("node {taxon} is out of order"));
        }
        last.1 = taxid;
        path.push((Taxon(taxon as u32), 0));
    }
    Ok(())
}

fn check_ranks(parts: &Parts) -> Result<(), String> {
    let names: Vec<&str> = parts.rank_names.iter().collect();
    if names.len() > MOST_RANKS
        || !names.is_sorted_by(|a, b| a < b)
        || names.first().is_some_and(|name| name.is_empty())
    {
        return Err("names of ranks are out of order".into());
    }
    let mut used = vec![false; names.len()];
    for &rank in &parts.ranks {
        *used
            .get_mut(rank as usize)
            .ok_or_else(|| format!("there is no rank {rank}"))? = true;
    }
    if used.contains(&false) {
        Err("a rank is not used".into())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
