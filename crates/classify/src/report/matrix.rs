//! Many samples in one table: a row per taxon, a column per sample.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::json::{array, string};
use super::lines::{clean, name};
use crate::tally::Tally;
use gyrase_taxonomy::{Rank, Taxon, Taxonomy};

/// The ranks of the taxonomy in BIOM files, each with its prefix.
const RANKS: [(char, Rank); 7] = [
    ('k', Rank::Domain),
    ('p', Rank::Phylum),
    ('c', Rank::Class),
    ('o', Rank::Order),
    ('f', Rank::Family),
    ('g', Rank::Genus),
    ('s', Rank::Species),
];

/// Reads by taxon and sample. Its first row are the unclassified, so that every column adds up to
/// all reads of its sample; the others follow by ascending taxid.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    taxonomy: &'a Taxonomy,
    samples: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    unclassified: u64,
    reads: BTreeMap<Taxon, u64>,
}

/// A row: a taxon, or the unclassified.
type Row = Option<Taxon>;

impl<'a> Matrix<'a> {
    /// A matrix without samples.
    pub fn new(taxonomy: &'a Taxonomy) -> Matrix<'a> {
        Matrix {
            taxonomy,
            samples: Vec::new(),
        }
    }

    /// Adds a sample with the reads that were assigned to each taxon itself. For estimates take
    /// `Abundance::tally`.
    pub fn push(&mut self, sample: &str, tally: &Tally) {
        let reads = tally.taxa().collect();
        self.samples.push(Column {
            name: clean(sample).into_owned(),
            unclassified: tally.unclassified(),
            reads,
        });
    }

    /// Writes tab-separated text: `taxonomy_id`, `name`, `rank`, `lineage`, and a column per
    /// sample. Fails as `out` does.
    pub fn tsv(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "taxonomy_id\tname\trank\tlineage")?;
        self.samples
            .iter()
            .try_for_each(|sample| write!(out, "\t{}", sample.name))?;
        writeln!(out)?;
        for row in self.rows() {
            let lineage = self.lineage(row).join(";");
            write!(
                out,
                "{}\t{}\t{}\t{lineage}",
                self.taxid(row),
                self.name(row),
                self.rank(row)
            )?;
            self.samples
                .iter()
                .try_for_each(|sample| write!(out, "\t{}", sample.count(row)))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes BIOM 1.0, sparse: rows have the taxid as id and `taxonomy` (seven levels from `k__`),
    /// `name` and `rank` as metadata. Fails as `out` does.
    ///
    /// The format wants a date; it is always the same, because equal samples give equal files.
    pub fn biom(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.rows();
        write!(
            out,
            "{{\"id\":null,\"format\":\"Biological Observation Matrix 1.0.0\",\
             \"format_url\":\"http://biom-format.org\",\"type\":\"Taxon table\",\
             \"generated_by\":\"gyrase {}\",\"date\":\"1970-01-01T00:00:00\",\n\"rows\":",
            env!("CARGO_PKG_VERSION")
        )?;
        array(&rows, out, |&row, out| self.biom_row(row, out))?;
        write!(out, ",\n\"columns\":")?;
        array(&self.samples, out, |sample, out| {
            write!(out, "\n{{\"id\":")?;
            string(&sample.name, out)?;
            write!(out, ",\"metadata\":null}}")
        })?;
        let shape = [rows.len(), self.samples.len()];
        write!(
            out,
            ",\n\"matrix_type\":\"sparse\",\"matrix_element_type\":\"int\",\"shape\":[{},{}],\n\"data\":",
            shape[0], shape[1]
        )?;
        let cells = rows.iter().enumerate().flat_map(|(place, &row)| {
            let counts = self
                .samples
                .iter()
                .map(move |sample| sample.count(row))
                .enumerate();
            counts
                .filter(|cell| cell.1 > 0)
                .map(move |(column, count)| (place, column, count))
        });
        array(cells, out, |(row, column, count), out| {
            write!(out, "\n[{row},{column},{count}]")
        })?;
        writeln!(out, "}}")
    }

    fn biom_row(&self, row: Row, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "\n{{\"id\":\"{}\",\"metadata\":{{\"taxonomy\":",
            self.taxid(row)
        )?;
        array(self.lineage(row), out, |level, out| string(&level, out))?;
        write!(out, ",\"name\":")?;
        string(&self.name(row), out)?;
        write!(out, ",\"rank\":")?;
        string(self.rank(row), out)?;
        write!(out, "}}}}")
    }

    /// The unclassified and the taxa with reads in any sample.
    fn rows(&self) -> Vec<Row> {
        let taxa: BTreeSet<_> = self
            .samples
            .iter()
            .flat_map(|sample| sample.reads.keys().copied())
            .collect();
        let mut rows: Vec<Row> = taxa.into_iter().map(Some).collect();
        rows.push(None);
        rows.sort_by_key(|&row| self.taxid(row));
        rows
    }

    fn taxid(&self, row: Row) -> u32 {
        row.map_or(0, |taxon| self.taxonomy.taxid(taxon))
    }

    fn name(&self, row: Row) -> std::borrow::Cow<'_, str> {
        row.map_or("unclassified".into(), |taxon| name(self.taxonomy, taxon))
    }

    fn rank(&self, row: Row) -> &str {
        row.map_or("no rank", |taxon| self.taxonomy.rank_name(taxon))
    }

    fn lineage(&self, row: Row) -> Vec<String> {
        let Some(taxon) = row else {
            return RANKS
                .map(|(prefix, _)| {
                    format!(
                        "{prefix}__{}",
                        if prefix == 'k' { "unclassified" } else { "" }
                    )
                })
                .into();
        };
        let level = |(prefix, rank)| {
            let above = self.taxonomy.ancestor_at(taxon, rank);
            let name = above
                .map(|above| name(self.taxonomy, above).replace(';', "_"))
                .unwrap_or_default();
            format!("{prefix}__{name}")
        };
        RANKS.map(level).into()
    }
}

impl Column {
    fn count(&self, row: Row) -> u64 {
        row.map_or(self.unclassified, |taxon| {
            self.reads.get(&taxon).copied().unwrap_or(0)
        })
    }
}
