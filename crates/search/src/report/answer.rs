//! What a report is made of.

use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use gyrase_align::statistics::SearchSpace;
use gyrase_taxonomy::{Taxon, Taxonomy};

use crate::database::Database;
use crate::frames::Frames;
use crate::masks::QueryMasks;
use crate::record::{append_hsp, bytes, number};
use crate::scoring::ScoringSystem;
use crate::{Hit, Program, Sequences, Subjects};

/// What a search found for one query.
pub struct QueryHits<'a> {
    /// What is compared with what.
    pub program: Program,
    /// How queries and subjects are read.
    pub(crate) frames: [Frames; 2],
    /// What of queries is masked.
    pub(crate) masks: QueryMasks,
    /// What of each frame of this one is, once that is asked for.
    pub(crate) masked: OnceLock<Vec<Vec<Range<usize>>>>,
    /// All queries.
    pub queries: &'a Sequences,
    /// The number of this one among them.
    pub query: usize,
    /// The subjects of the hits, at least.
    pub subjects: &'a dyn Subjects,
    /// Where they are from.
    pub(crate) database: &'a Database,
    /// How alignments were scored.
    pub scoring: &'a dyn ScoringSystem,
    /// The subjects, the best first.
    pub hits: &'a [Hit],
    /// Numbers of the subjects on which the hits depend, where these are not theirs alone.
    pub(crate) considered: Option<&'a [usize]>,
}

impl QueryHits<'_> {
    /// The same answer, of one of `queries`: those from a number on of what was searched for.
    /// So searches for several people become reports of each.
    pub fn of_part<'p>(&'p self, queries: &'p Sequences, first: usize) -> QueryHits<'p> {
        QueryHits {
            masked: OnceLock::new(),
            queries,
            query: self.query - first,
            ..*self
        }
    }

    /// Reads what [`QueryHits::taxonomy`] gives.
    ///
    /// # Errors
    /// The database is damaged.
    pub(super) fn read_taxonomy(&self) -> io::Result<()> {
        let read = self.database.taxonomy();
        read.map(|_| ()).map_err(io::Error::other)
    }

    /// The taxa of subjects, where the database has them and they were read.
    pub(super) fn taxonomy(&self) -> Option<&Taxonomy> {
        self.database.taxonomy().ok().flatten()
    }

    /// The names of the taxa of a subject, or of what `above` gives for these, each once.
    pub(super) fn taxon_names(
        &self,
        subject: usize,
        above: impl Fn(&Taxonomy, Taxon) -> Option<Taxon>,
    ) -> Vec<&str> {
        let mut names = Vec::new();
        if let Some(taxonomy) = self.taxonomy() {
            let taxids = self.subjects.taxids(subject).into_iter();
            let taxa = taxids.filter_map(|taxid| taxonomy.taxon_of(taxid));
            for name in taxa
                .filter_map(|taxon| above(taxonomy, taxon))
                .map(|taxon| taxonomy.name(taxon))
            {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The names of the taxa of a subject.
    pub(super) fn organisms(&self, subject: usize) -> Vec<&str> {
        self.taxon_names(subject, |_, taxon| Some(taxon))
    }

    /// What is masked in each frame of the query.
    pub(super) fn masked(&self) -> &[Vec<Range<usize>>] {
        let [frames, _] = self.frames;
        let find = || self.masks.of_query(self.queries, self.query, frames);
        self.masked.get_or_init(find)
    }

    /// Numbers of the subjects that a database needs to give the same hits, in their order.
    pub(crate) fn needed(&self) -> Vec<usize> {
        let of_hits = || self.hits.iter().map(|hit| hit.subject).collect();
        let mut needed = self.considered.map_or_else(of_hits, <[usize]>::to_vec);
        needed.sort_unstable();
        needed
    }

    /// CRC-32 of all that a report can tell of the hits.
    pub(crate) fn digest(&self) -> u32 {
        let (mut digest, mut record) = (crc32fast::Hasher::new(), Vec::new());
        for hit in self.hits {
            let (own, length) = (hit.subject, self.subjects.length(hit.subject));
            number(&mut record, own as u64);
            number(&mut record, length as u64);
            bytes(&mut record, self.subjects.title(own));
            for taxid in self.subjects.taxids(own) {
                number(&mut record, taxid.into());
            }
            for hsp in &hit.hsps {
                append_hsp(&mut record, hsp);
                let place = self.frames[1].place(&hsp.subject, hsp.frames[1], length);
                record.extend_from_slice(&self.subjects.codes(own, place));
            }
            digest.update(&record);
            record.clear();
        }
        digest.finalize()
    }

    /// What is searched for the first frame of the query.
    pub(super) fn space(&self) -> SearchSpace {
        let [frames, _] = self.frames;
        let letters = self.queries.residues(self.query).len();
        self.scoring
            .space(frames.length(letters, frames.numbers()[0]))
    }
}

/// What a report says of the search as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Name and version of the program.
    pub program: String,
    /// Names of the files of the database.
    pub database: String,
    /// The largest E-value that was asked for.
    pub evalue: f64,
}
