//! The answers of one search as the metadata of the jobs that it was for.

use gyrase_search::{About, Config as SearchConfig, QueryHits, Report, ReportFormat, Sequences};

use crate::databases::Served;
use crate::error::Unsearched;
use crate::job::Job;
use crate::store::Outcome;

/// What a report says of a search.
pub fn about(served: &Served, config: &SearchConfig) -> About {
    About {
        program: concat!("gyrase ", env!("CARGO_PKG_VERSION")).into(),
        database: served.named.name.clone(),
        evalue: config.limits.evalue,
    }
}

/// The answers of jobs that were one search, each written as metadata.
pub struct Answers<'b> {
    batch: &'b [Job],
    about: About,
    /// The job whose queries are answered, and the number of its first one.
    job: usize,
    first: usize,
    /// The queries of that job.
    own: Sequences,
    report: Report,
    metadata: Vec<u8>,
    counts: [u64; 2],
    outcomes: Vec<(String, Outcome)>,
}

impl<'b> Answers<'b> {
    /// None yet, of jobs that ask the same.
    pub fn new(batch: &'b [Job], config: &SearchConfig, served: &Served) -> Answers<'b> {
        let about = about(served, config);
        Answers {
            report: metadata_report(&batch[0], &about),
            about,
            batch,
            job: 0,
            first: 0,
            own: Sequences::default(),
            metadata: Vec::new(),
            counts: [0; 2],
            outcomes: Vec::new(),
        }
    }

    /// Takes the answer to the next query.
    ///
    /// # Errors
    /// There are more than the jobs have.
    pub fn add(&mut self, answer: &QueryHits) -> Result<(), Unsearched> {
        let job = self.batch.get(self.job).ok_or_else(miscounted)?;
        let queries = job.queries as usize;
        if answer.query == self.first {
            let end = self.first + queries;
            if end > answer.queries.len() {
                return Err(miscounted());
            }
            self.own = answer.queries.excerpt(self.first..end);
        }
        let answer = answer.of_part(&self.own, self.first);
        self.report.answer(&mut self.metadata, &answer)?;
        self.counts[0] += answer.hits.len() as u64;
        self.counts[1] += u64::from(!answer.hits.is_empty());
        if answer.query + 1 == queries {
            self.end_job()?;
        }
        Ok(())
    }

    fn end_job(&mut self) -> Result<(), Unsearched> {
        let job = &self.batch[self.job];
        self.report
            .finish(&mut self.metadata, job.queries as usize)?;
        let [hits, with_hits] = std::mem::take(&mut self.counts);
        let done = Outcome::Done {
            metadata: std::mem::take(&mut self.metadata),
            queries: None,
            hits,
            with_hits,
        };
        self.outcomes.push((job.id.clone(), done));
        self.report = metadata_report(job, &self.about);
        (self.job, self.first) = (self.job + 1, self.first + job.queries as usize);
        Ok(())
    }

    /// How the jobs ended.
    ///
    /// # Errors
    /// A query has no answer.
    pub fn finish(self) -> Result<Vec<(String, Outcome)>, Unsearched> {
        match self.outcomes.len() == self.batch.len() {
            true => Ok(self.outcomes),
            false => Err(miscounted()),
        }
    }
}

fn metadata_report(job: &Job, about: &About) -> Report {
    Report::new(
        ReportFormat::metadata(job.options.clone(), true),
        about.clone(),
    )
}

fn miscounted() -> Unsearched {
    Unsearched::Failed("the queries are not as many as when the job was accepted".into())
}
