//! Metadata of a search, written as a report is.

use std::io::{self, Write};

use super::layout::{About, End, Layout, QueryHits};
use crate::metadata::{Answer, Asked, end, head, record};

/// What a replica of the database makes a report of.
pub(super) struct MetadataLayout {
    /// What was asked for.
    pub parameters: Vec<String>,
    /// Whether alignments are kept too.
    pub alignments: bool,
}

impl Layout for MetadataLayout {
    fn head(
        &self,
        out: &mut dyn Write,
        about: &About,
        first: Option<&QueryHits>,
    ) -> io::Result<()> {
        let size = first.map(|answer| answer.scoring.size());
        let asked = Asked {
            gyrase: env!("CARGO_PKG_VERSION").into(),
            database: about.database.clone(),
            letters: size.map_or(0, |size| size.letters),
            sequences: size.map_or(0, |size| size.sequences),
            program: first.map(|answer| answer.program.name().into()),
            queries: first.map_or(0, |answer| answer.queries.len() as u64),
            queries_checksum: first.map_or([0; 4], |answer| answer.queries.digest()),
            parameters: self.parameters.clone(),
            alignments: self.alignments,
        };
        out.write_all(&head(&asked))
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        out.write_all(&record(&Answer {
            subjects: answer.needed(),
            alignments: self.alignments.then(|| answer.hits.to_vec()),
            digest: answer.digest(),
        }))
    }

    fn tail(&self, out: &mut dyn Write, _: &About, all: &End) -> io::Result<()> {
        out.write_all(&end(all.queries))
    }
}
