//! One sample for several processes: each answers its share of the reads, the first takes all
//! answers in the order of the reads.
//!
//! Reads come in rounds of one batch for each process. All processes read all of them, which takes
//! a small part of the time that answers take, and each answers its own. Behind every round the
//! first process gets the answers of the others, in the order of ranks, which is that of the reads:
//! what takes answers there is what takes those of a process alone, so the outputs have the same
//! bytes. What they share of a sample as a whole (tallies, windows covered) is merged at the end.

use std::sync::{Mutex, MutexGuard};

use gyrase_fabric::World;
use gyrase_seq::{Batch, Record, Span};
use gyrase_tabulate::TabulateError;
use gyrase_taxonomy::Taxon;
use gyrase_work::{Checking, Feed, Fetching};

use crate::bytes::{Reader, put_section};
use crate::dealt::Dealt;
use crate::query::{Answered, Form, QueryError, ReadFeed, Sink};

/// Of the batches of a feed those of one process.
pub(crate) struct Share<F> {
    feed: F,
    dealt: Dealt,
    others: [Batch; 2],
    /// Of several processes each checks all batches: where one is wrong, all stop at the same
    /// point.
    check: Option<Checking<[Batch; 2], TabulateError>>,
}

impl<F: ReadFeed> Share<F> {
    /// Those that are dealt to a process.
    pub(crate) fn new(feed: F, dealt: Dealt) -> Share<F> {
        let check = feed.checking().filter(|_| dealt.ranks > 1);
        Share {
            feed,
            dealt,
            others: Default::default(),
            check,
        }
    }
}

impl<F: ReadFeed> Feed for Share<F> {
    type Task = [Batch; 2];
    type Error = TabulateError;

    /// The batch of this process in the next round, which may have no reads in the last one.
    fn next(&mut self, task: &mut [Batch; 2]) -> Result<bool, TabulateError> {
        let (mut any, mut own) = (false, false);
        for rank in 0..self.dealt.ranks {
            let is_own = rank == self.dealt.rank;
            let batches = if is_own { &mut *task } else { &mut self.others };
            if !self.feed.next(batches)? {
                break;
            }
            self.check.as_ref().map_or(Ok(()), |check| check(batches))?;
            (any, own) = (true, own || is_own);
        }
        if !own {
            task.iter_mut().for_each(Batch::clear);
        }
        Ok(any)
    }

    fn fetching(&self) -> Option<Fetching> {
        self.feed.fetching()
    }

    fn checking(&self) -> Option<Checking<[Batch; 2], TabulateError>> {
        self.feed.checking().filter(|_| self.check.is_none())
    }
}

/// Where the reads of a process went wrong.
pub(crate) struct Stopped {
    several: bool,
    state: Mutex<Rounds>,
}

#[derive(Default)]
struct Rounds {
    /// Rounds so far, of all lanes.
    begun: usize,
    /// What went wrong in the last of them.
    error: Option<TabulateError>,
}

impl Stopped {
    /// Of a process that is alone: what goes wrong ends it.
    pub(crate) fn alone() -> Stopped {
        Stopped::among(1)
    }

    /// Of one of so many processes: they stop in step.
    pub(crate) fn among(ranks: usize) -> Stopped {
        Stopped {
            several: ranks > 1,
            state: Mutex::default(),
        }
    }

    /// True once something went wrong.
    pub(crate) fn is_set(&self) -> bool {
        self.lock().error.is_some()
    }

    /// What went wrong.
    pub(crate) fn into_error(self) -> Option<TabulateError> {
        let state = self.state.into_inner();
        state.expect("no thread panics while it counts").error
    }

    /// What went wrong in the round of that number.
    pub(crate) fn in_round(&self, round: usize) -> Option<String> {
        let state = self.lock();
        let error = state.error.as_ref().filter(|_| state.begun == round + 1);
        error.map(ToString::to_string)
    }

    fn lock(&self) -> MutexGuard<'_, Rounds> {
        self.state.lock().expect("no thread panics while it counts")
    }
}

/// The reads of one of several processes. Where they cannot be read they end with an empty batch:
/// its answers tell the others, so that each knows in which round all stop.
pub(crate) struct Stopping<'s, F> {
    feed: F,
    stopped: &'s Stopped,
}

impl<'s, F: ReadFeed> Stopping<'s, F> {
    pub(crate) fn new(feed: F, stopped: &'s Stopped) -> Stopping<'s, F> {
        Stopping { feed, stopped }
    }
}

impl<F: ReadFeed> Feed for Stopping<'_, F> {
    type Task = [Batch; 2];
    type Error = TabulateError;

    fn next(&mut self, task: &mut [Batch; 2]) -> Result<bool, TabulateError> {
        if !self.stopped.several {
            return self.feed.next(task);
        }
        if self.stopped.is_set() {
            return Ok(false);
        }
        let more = self.feed.next(task);
        let mut state = self.stopped.lock();
        if let Ok(false) = more {
            return Ok(false);
        }
        state.begun += 1;
        if let Err(error) = more {
            state.error = Some(error);
            task.iter_mut().for_each(Batch::clear);
        }
        Ok(true)
    }

    fn fetching(&self) -> Option<Fetching> {
        self.feed.fetching()
    }

    fn checking(&self) -> Option<Checking<[Batch; 2], TabulateError>> {
        self.feed.checking()
    }
}

/// What travels from the process that made it to the one that writes it.
pub trait Travels: Sized {
    /// Appends it.
    fn put(&self, to: &mut Vec<u8>);

    /// Reads what [`Travels::put`] wrote; nothing for any other bytes.
    fn take(bytes: &[u8]) -> Option<Self>;
}

/// Where the answers of a process go.
pub enum Outlet<'s, S: Sink> {
    /// To a sink, in the first process: those of all.
    Here(&'s mut S),
    /// To the first process, in this form.
    Away(S::Form),
}

/// The sink of each of several processes: all answers go to that of the first.
pub(crate) struct Relay<'w, 's, S: Sink> {
    world: &'w dyn World,
    outlet: Outlet<'s, S>,
    /// The sink reads the records.
    records: bool,
    stopped: &'s Stopped,
    /// Rounds so far.
    rounds: usize,
    /// Reads that the first process has had.
    reads: u64,
}

impl<'w, 's, S: Sink> Relay<'w, 's, S> {
    pub(crate) fn new(
        world: &'w dyn World,
        outlet: Outlet<'s, S>,
        records: bool,
        stopped: &'s Stopped,
    ) -> Self {
        Relay {
            world,
            outlet,
            records,
            stopped,
            rounds: 0,
            reads: 0,
        }
    }
}

/// The form of the answers of a process.
pub(crate) struct FormOf<F>(F);

impl<F: Form> Form for FormOf<F> {
    type Made = F::Made;

    fn wants_region(&self) -> bool {
        self.0.wants_region()
    }

    fn clear(&self, made: &mut F::Made) {
        self.0.clear(made);
    }

    fn push(&self, answer: &crate::query::Answer<'_>, made: &mut F::Made) {
        self.0.push(answer, made);
    }
}

impl<S: Sink> Sink for Relay<'_, '_, S>
where
    S::Form: Clone,
    <S::Form as Form>::Made: Travels,
{
    type Form = FormOf<S::Form>;

    fn form(&self) -> FormOf<S::Form> {
        match &self.outlet {
            Outlet::Here(sink) => FormOf(sink.form()),
            Outlet::Away(form) => FormOf(form.clone()),
        }
    }

    fn take(
        &mut self,
        answered: &Answered<'_>,
        made: &<S::Form as Form>::Made,
    ) -> Result<(), QueryError> {
        let wrong = self.stopped.in_round(self.rounds).unwrap_or_default();
        self.rounds += 1;
        let bytes = encode(answered, made, self.records, &wrong);
        let all = self.world.gather(bytes).map_err(TabulateError::from)?;
        let Outlet::Here(sink) = &mut self.outlet else {
            return Ok(());
        };
        keep_in_step(&all)?;
        for bytes in all {
            let (taxa, made, records) = decode(&bytes).expect(WHOLE);
            let reads = self.reads..self.reads + taxa.len() as u64;
            self.reads = reads.end;
            sink.take(
                &Answered {
                    reads,
                    records: &records,
                    taxa: &taxa,
                },
                &made,
            )?;
        }
        Ok(())
    }
}

/// Appends first why this process has no further reads, if they are wrong, and what
/// [`decode`] reads.
fn encode(answered: &Answered<'_>, made: &impl Travels, records: bool, wrong: &str) -> Vec<u8> {
    let (mut bytes, mut section) = (Vec::new(), Vec::new());
    put_section(&mut bytes, wrong.as_bytes());
    let taxa = answered.taxa.iter().map(|&taxon| Taxon::to_number(taxon));
    section.extend(taxa.flat_map(u32::to_le_bytes));
    put_section(&mut bytes, &section);
    section.clear();
    made.put(&mut section);
    put_section(&mut bytes, &section);
    answered
        .records
        .iter()
        .filter(|_| records)
        .for_each(|batch| put_batch(&mut bytes, batch));
    bytes
}

/// Refuses a round in which the reads are wrong for some processes alone: each says first why they
/// are wrong, if they are.
pub(crate) fn keep_in_step(all: &[Vec<u8>]) -> Result<(), QueryError> {
    let wrong = |bytes| Reader::new(bytes).section().expect(WHOLE);
    let mut of_ranks = all.iter().map(|bytes| wrong(bytes)).enumerate();
    let sound = all.iter().filter(|bytes| wrong(bytes).is_empty()).count();
    match of_ranks.find(|(_, wrong)| !wrong.is_empty() && sound > 0) {
        Some((rank, why)) => Err(QueryError::Apart {
            rank,
            why: String::from_utf8_lossy(why).into_owned(),
        }),
        None => Ok(()),
    }
}

fn decode<M: Travels>(bytes: &[u8]) -> Option<(Vec<Option<Taxon>>, M, [Batch; 2])> {
    let mut reader = Reader::new(bytes);
    let _wrong = reader.section()?;
    let (taxa, _) = reader.section()?.as_chunks();
    let taxon = |&number| Taxon::from_number(u32::from_le_bytes(number));
    let taxa = taxa.iter().map(taxon).collect();
    let made = M::take(reader.section()?)?;
    let mut records = <[Batch; 2]>::default();
    if !reader.is_done() {
        records = [take_batch(&mut reader)?, take_batch(&mut reader)?];
    }
    reader.is_done().then_some((taxa, made, records))
}

pub(crate) const WHOLE: &str = "messages arrive whole";

/// Appends how many records there are (u64), and name, letters and qualities of each.
fn put_batch(to: &mut Vec<u8>, batch: &Batch) {
    to.extend((batch.records.len() as u64).to_le_bytes());
    for record in &batch.records {
        for span in [record.name, record.letters, record.qualities] {
            put_section(to, batch.bytes(span));
        }
    }
}

fn take_batch(reader: &mut Reader<'_>) -> Option<Batch> {
    let mut batch = Batch::default();
    for _ in 0..reader.u64()? {
        let mut span = || {
            let start = batch.text.len();
            batch.text.extend_from_slice(reader.section()?);
            Some(Span::from(start..batch.text.len()))
        };
        let (name, letters, qualities) = (span()?, span()?, span()?);
        batch.records.push(Record {
            name,
            letters,
            qualities,
            ..Record::default()
        });
    }
    Some(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of one record each, named by numbers.
    struct Numbers(std::ops::Range<u32>);

    impl Feed for Numbers {
        type Task = [Batch; 2];
        type Error = TabulateError;

        fn next(&mut self, task: &mut [Batch; 2]) -> Result<bool, TabulateError> {
            let Some(number) = self.0.next() else {
                return Ok(false);
            };
            task[0].clear();
            task[0].text.extend_from_slice(&number.to_le_bytes());
            task[0].records.push(Record {
                name: Span::from(0..4),
                ..Record::default()
            });
            Ok(true)
        }
    }

    #[test]
    fn every_batch_is_of_one_share_and_rounds_are_as_many_for_all() {
        for (batches, ranks) in [
            (0, 1),
            (0, 3),
            (1, 1),
            (1, 4),
            (7, 1),
            (7, 2),
            (8, 4),
            (9, 4),
        ] {
            let mut found = vec![Vec::new(); ranks];
            for (rank, found) in found.iter_mut().enumerate() {
                let mut share = Share::new(Numbers(0..batches), Dealt { rank, ranks });
                let mut task = Default::default();
                while share.next(&mut task).unwrap() {
                    let [own, _] = &task;
                    found.push(own.records.first().map(|record| {
                        u32::from_le_bytes(own.bytes(record.name).try_into().unwrap())
                    }));
                }
                assert_eq!(found.len(), (batches as usize).div_ceil(ranks));
            }
            let rounds = 0..found[0].len();
            let all = rounds.flat_map(|round| found.iter().filter_map(move |of| of[round]));
            assert!(all.eq(0..batches), "{batches} batches, {ranks} ranks");
        }
    }

    struct Text(Vec<u8>);

    impl Travels for Text {
        fn put(&self, to: &mut Vec<u8>) {
            to.extend_from_slice(&self.0);
        }
        fn take(bytes: &[u8]) -> Option<Text> {
            Some(Text(bytes.to_vec()))
        }
    }

    #[test]
    fn answers_and_their_records_travel() {
        let mut batch = Batch {
            text: b"junk r1 x ACGTIIII r2".to_vec(),
            ..Batch::default()
        };
        let spans = [(5..9, 10..14, 14..18), (19..21, 21..21, 21..21)];
        for (name, letters, qualities) in spans {
            let [name, letters, qualities] = [name, letters, qualities].map(Span::from);
            batch.records.push(Record {
                name,
                letters,
                qualities,
                ..Record::default()
            });
        }
        let records = [batch.clone(), Batch::default()];
        let taxa = [Some(Taxon(7)), None];
        let answered = Answered {
            reads: 0..2,
            records: &records,
            taxa: &taxa,
        };
        for with in [true, false] {
            let bytes = encode(&answered, &Text(b"C\tr1\n".to_vec()), with, "torn");
            let (found, made, came) = decode::<Text>(&bytes).unwrap();
            assert_eq!(
                (found.as_slice(), made.0.as_slice()),
                (&taxa[..], &b"C\tr1\n"[..])
            );
            assert!(keep_in_step(&[bytes.clone(), bytes]).is_ok());
            let of = |batch: &Batch| -> Vec<[Vec<u8>; 3]> {
                let bytes = |record: &Record| {
                    [record.name, record.letters, record.qualities]
                        .map(|span| batch.bytes(span).to_vec())
                };
                batch.records.iter().map(bytes).collect()
            };
            assert_eq!(of(&came[0]), if with { of(&batch) } else { Vec::new() });
            assert!(came[1].records.is_empty());
        }
    }
}
