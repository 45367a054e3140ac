//! The second half of a build: the records of every partition become lists of locations.

use std::ops::Range;

use gyrase_fabric::{Drain, FabricError, World, all_to_all};
use gyrase_table::gydb::{GydbError, Location, MAX_COUNT, Writer};
use gyrase_tabulate::{Layout, Partition, Worker, reduce};
use gyrase_work::Progress;

use super::budget::Room;
use super::error::BuildError;
use super::on_gpu::{ListLane, OnDevice};
use super::records::Records;
use crate::cap::Cap;
use crate::distinct::{Distinct, of_targets};
use crate::parts::Part;
use crate::references::{Numbers, PLACES, PROVISIONAL_BITS, RECORD};
use crate::targets::Targets;

/// What was counted while lists were made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// Distinct features, by taxon.
    pub distinct: Vec<u64>,
    /// Features with as many locations as a feature may have.
    pub full: u64,
}

impl Counted {
    /// Nothing, of so many taxa.
    pub fn none(taxa: usize) -> Counted {
        Counted {
            distinct: vec![0; taxa],
            full: 0,
        }
    }

    /// Counts what was counted elsewhere too.
    pub fn add(&mut self, other: &Counted) {
        self.full += other.full;
        let both = self.distinct.iter_mut().zip(&other.distinct);
        both.for_each(|(count, more)| *count += more);
    }
}

/// Rows that are enough for any list as the cap leaves it, twice.
const LEAST_ROWS: usize = 4 * MAX_COUNT as usize;

/// What lists are made of.
pub(super) struct MadeOf<'a, D> {
    pub records: &'a Records<D>,
    /// The same where they are on a GPU, which makes lists in place of the threads.
    pub on_gpu: Option<&'a OnDevice<'a>>,
    /// Databases whose locations are as good as records.
    pub parts: &'a [Part<'a>],
    pub targets: &'a Targets,
    /// Taxa that the targets are of.
    pub taxa: usize,
    pub room: Room,
}

impl<D: Drain> MadeOf<'_, D> {
    /// Writes the lists of all partitions, of up to `cap` locations each.
    pub fn write(
        &self,
        writer: &Writer,
        world: &dyn World,
        cap: u8,
        progress: &Progress,
    ) -> Result<Counted, BuildError> {
        let (cap, target_of) = (Cap::new(self.targets, cap), self.targets.finder());
        let of_targets = of_targets(self.targets, self.taxa);
        let lists = |_| {
            let distinct = Distinct::new(&target_of, &of_targets, self.taxa);
            let (numbers, parts, most) = (
                &self.records.numbers,
                self.parts,
                self.room.rows.max(LEAST_ROWS),
            );
            Lists {
                writer,
                cap: &cap,
                numbers,
                parts,
                rows: Vec::new(),
                most,
                on_gpu: self.on_gpu.map(|records| records.lane(cap.most() as u8)),
                piece: Piece::default(),
                distinct,
                full: 0,
            }
        };
        let mut workers: Vec<_> = (0..self.room.threads).map(lists).collect();
        let partitions = &self.records.partitions;
        progress.start("sort", partitions.owned().len() as u64);
        let sorters = workers
            .iter_mut()
            .map(|worker| worker as &mut dyn Worker<_>)
            .collect();
        let sort = || reduce(partitions, 0, sorters, progress);
        match world.ranks() {
            1 => sort()?,
            _ => lay_out_meanwhile(world, writer, sort)?,
        }
        let mut all = Counted::none(self.taxa);
        for worker in workers {
            if let Some(lane) = &worker.on_gpu {
                let distinct = lane.distinct(self.taxa)?;
                all.add(&Counted { distinct, full: 0 });
            }
            all.add(&Counted {
                distinct: worker.distinct.into_counts(),
                full: worker.full,
            });
        }
        all.distinct.push(all.full);
        all.distinct = world.sum(&all.distinct)?;
        all.full = all.distinct.pop().expect("it was pushed");
        Ok(all)
    }
}

/// Sorts while partitions of all processes get their places in the file.
fn lay_out_meanwhile(
    world: &dyn World,
    writer: &Writer,
    sort: impl FnOnce() -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let sum = |numbers: &[u64]| Ok::<_, BuildError>(world.sum(numbers)?);
    let exchange = |ends| Ok(all_to_all(world, ends)?);
    let lay_out = || writer.lay_out(world.ranks(), sum, exchange);
    let layout = Layout {
        lay_out,
        abandon: || writer.abandon(),
    };
    let is_abandoned =
        |error: &BuildError| matches!(error, BuildError::Database(GydbError::Abandoned { .. }));
    layout.beside(world, sort, is_abandoned)
}

/// Sorts the records of a partition into lists of locations.
struct Lists<'w> {
    writer: &'w Writer,
    cap: &'w Cap<'w>,
    numbers: &'w Numbers,
    parts: &'w [Part<'w>],
    /// Place and location of records.
    rows: Vec<u64>,
    /// The most rows to have at a time.
    most: usize,
    on_gpu: Option<ListLane<'w>>,
    piece: Piece,
    distinct: Distinct<'w>,
    full: u64,
}

/// The lists of a partition.
#[derive(Default)]
struct Piece {
    places: Vec<u32>,
    counts: Vec<u8>,
    locations: Vec<Location>,
}

impl Worker<BuildError> for Lists<'_> {
    fn reduce(&mut self, partitions: &[Partition]) -> Result<(), BuildError> {
        partitions
            .iter()
            .try_for_each(|partition| self.lists(partition))
    }

    fn abandon(&self) {
        self.writer.abandon();
    }
}

impl Lists<'_> {
    /// Writes the lists of a partition.
    fn lists(&mut self, partition: &Partition) -> Result<(), BuildError> {
        let number = partition.number();
        if let Some(lane) = &mut self.on_gpu
            && let Some(lists) = lane.lists(number)?
        {
            self.full += u64::from(lists.full);
            let (places, counts, locations) = (lists.places, lists.counts, lists.locations);
            return Ok(self.writer.piece(number, places, counts, locations)?);
        }
        self.piece.clear();
        let records = (partition.bytes() / RECORD as u64) as usize;
        self.rows.reserve_exact(records.min(self.most));
        let mut places = Some(first_place(number)..first_place(number + 1));
        while let Some(now) = places {
            let end = self.gather(partition, now.clone())?;
            self.sort();
            self.list();
            places = (end < now.end).then_some(end..now.end);
        }
        let Piece {
            places,
            counts,
            locations,
        } = &self.piece;
        Ok(self.writer.piece(number, places, counts, locations)?)
    }
}

/// The location of a row.
fn location_of(&row: &u64) -> Location {
    Location(row as u32)
}

/// The first place of a partition; that behind the last one is 2^32.
fn first_place(partition: usize) -> u64 {
    partition as u64 * u64::from(PLACES)
}

impl Lists<'_> {
    /// Takes the records of some places of a partition for rows, or those of the first of these
    /// places if all are too many: the end of the places that were taken.
    fn gather(&mut self, partition: &Partition, places: Range<u64>) -> Result<u64, BuildError> {
        let (number, mut end) = (partition.number(), places.end);
        self.rows.clear();
        self.parts
            .iter()
            .try_for_each(|part| part.rows(number, &mut self.rows))?;
        self.rows.retain(|row| places.contains(&(row >> 32)));
        let (first, numbers) = (first_place(number), self.numbers);
        partition.drain::<FabricError>(|bytes, used| {
            let (records, _) = bytes[..used].as_chunks::<RECORD>();
            for record in records {
                let record = u64::from_le_bytes(*record);
                let place = first + (record >> PROVISIONAL_BITS);
                if place < places.start || place >= end {
                    continue;
                }
                if self.rows.len() >= self.most {
                    end = self.make_room(end);
                }
                if place < end {
                    let window = numbers.window(record & ((1 << PROVISIONAL_BITS) - 1));
                    self.rows.push(place << 32 | u64::from(window.0));
                }
            }
            Ok(())
        })?;
        Ok(end)
    }

    /// Leaves at most half of the rows that there may be: of lists that are too long what the cap
    /// keeps, which further records change as they would change the whole, and if these are still
    /// too many those of the lower places. The end of the places that are left.
    #[cold]
    fn make_room(&mut self, end: u64) -> u64 {
        self.sort();
        let (mut kept, mut to) = (Vec::new(), 0);
        let mut from = 0;
        while from < self.rows.len() {
            let place = self.rows[from] >> 32;
            let length = self.rows[from..].partition_point(|row| row >> 32 == place);
            kept.clear();
            kept.extend(self.rows[from..from + length].iter().map(location_of));
            self.cap.keep(&mut kept);
            // No more rows than there were stand before the next list.
            for &location in &kept {
                self.rows[to] = place << 32 | u64::from(location.0);
                to += 1;
            }
            from += length;
        }
        self.rows.truncate(to);
        if self.rows.len() <= self.most / 2 {
            return end;
        }
        let end = self.rows[self.most / 2] >> 32;
        self.rows
            .truncate(self.rows.partition_point(|row| row >> 32 < end));
        end
    }

    fn sort(&mut self) {
        // The rows of a part are in order already, which a stable sort makes use of.
        match self.parts {
            [] => self.rows.sort_unstable(),
            _ => self.rows.sort(),
        }
    }

    /// Appends the lists of the sorted rows to the piece.
    fn list(&mut self) {
        let Piece {
            places,
            counts,
            locations,
        } = &mut self.piece;
        let (rows, most, start) = (&self.rows[..], self.cap.most(), locations.len());
        locations.extend(rows.iter().map(location_of));
        let (mut from, mut at) = (0, start);
        while let Some(first) = rows.get(from) {
            let place = first >> 32;
            let others = rows[from + 1..].iter();
            let length = 1 + others.take_while(|row| *row >> 32 == place).count();
            let list = &rows[from..from + length];
            let kept = length.min(most);
            if length > most {
                let chosen = self.cap.choose(list.iter().map(location_of));
                locations[at..at + kept].copy_from_slice(&chosen);
            } else if at < start + from {
                let here = start + from;
                locations.copy_within(here..here + length, at);
            }
            places.push(place as u32);
            counts.push(kept as u8);
            self.full += u64::from(kept == most);
            self.distinct.add(&locations[at..at + kept]);
            from += length;
            at += kept;
        }
        locations.truncate(at);
    }
}

impl Piece {
    fn clear(&mut self) {
        self.places.clear();
        self.counts.clear();
        self.locations.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use gyrase_fabric::{Alone, Each, SLACK};
    use gyrase_kmer::mix;
    use gyrase_table::gydb::{Database, PARTITIONS, place_of};
    use gyrase_taxonomy::Taxon;

    use super::*;
    use crate::build::budget::Budget;
    use crate::parts::Moves;
    use crate::targets::Target;

    /// Records of one partition, and how often they were drained.
    struct One(usize, Vec<u64>, AtomicUsize);

    impl One {
        fn new(partition: usize, records: impl Iterator<Item = (u64, u32)>) -> One {
            let record =
                |(place, window): (u64, u32)| place << PROVISIONAL_BITS | u64::from(window);
            One(
                partition,
                records.map(record).collect(),
                AtomicUsize::new(0),
            )
        }
    }

    impl Drain for One {
        fn owned(&self) -> Vec<usize> {
            (0..PARTITIONS).collect()
        }

        fn bytes(&self, partition: usize) -> u64 {
            if partition == self.0 {
                (RECORD * self.1.len()) as u64
            } else {
                0
            }
        }

        fn drain<E: From<FabricError>>(
            &self,
            partition: usize,
            each: &mut Each<E>,
        ) -> Result<(), E> {
            let bytes: Vec<u8> = self
                .1
                .iter()
                .flat_map(|record| record.to_le_bytes())
                .collect();
            let some = |bytes: &[u8]| each(&[bytes, &[0; SLACK]].concat(), bytes.len());
            if partition != self.0 {
                return Ok(());
            }
            self.2.fetch_add(1, Relaxed);
            bytes.chunks(RECORD * 37).try_for_each(some)
        }
    }

    /// Of 30,000 records: a place that has half of them, one that has a tenth, the others spread
    /// over 9,000.
    fn records() -> Vec<(u64, u32)> {
        let place = |i: u64| match mix(i) >> 60 {
            0..8 => 5,
            8..10 => u64::from(PLACES) - 1,
            _ => mix(i ^ 1 << 40) % 9000 * 116,
        };
        (0..30_000)
            .map(|i| (place(i), (mix(i ^ 2 << 40) % 100_000) as u32))
            .collect::<Vec<_>>()
    }

    fn targets() -> Targets {
        let mut targets = Targets::default();
        for i in 0..1000u32 {
            let target = Target {
                name: format!("t{i}"),
                taxon: Some(Taxon(i % 7)),
                letters: 0,
                windows: 100,
                source: 0,
            };
            targets.push(target).unwrap();
        }
        targets
    }

    /// Lists of up to 9 of the records of partition 7. Windows keep their numbers: block 0 begins
    /// at 0, block 1 at 2^16.
    fn made(records: &Records<One>, parts: &[Part], room: Room) -> (Counted, Database) {
        let made_of = MadeOf {
            records,
            on_gpu: None,
            parts,
            targets: &targets(),
            taxa: 7,
            room,
        };
        let writer = Writer::in_memory(9);
        let counted = made_of.write(&writer, &Alone, 9, &Progress::default());
        (counted.unwrap(), writer.into_database(2).unwrap())
    }

    fn of_one(records: impl Iterator<Item = (u64, u32)>) -> Records<One> {
        Records {
            numbers: Numbers::following(2),
            ..Records::none(One::new(7, records))
        }
    }

    #[test]
    fn records_are_drained_once_beside_a_large_database() {
        let all = of_one(records().into_iter());
        let room = Room {
            threads: 1,
            rows: usize::MAX,
        };
        let (_, base) = made(&all, &[], room);
        let parts = [Part::new(&base, Moves::behind(Location(0)))];
        let few = of_one(records().into_iter().take(10));
        let budget = Budget::of(1 << 30, 1, 1).unwrap();
        let room = budget.for_lists(&few.partitions, &parts, false, 1000, None);
        made(&few, &parts, room.unwrap());
        assert_eq!(few.partitions.2.load(Relaxed), 1);
    }

    #[test]
    fn lists_are_the_same_in_any_number_of_passes() {
        let mut all = records();
        all.sort_unstable();
        all.dedup();
        let mut naive: BTreeMap<u64, Vec<Location>> = BTreeMap::new();
        all.iter().for_each(|&(place, window)| {
            naive.entry(place).or_default().push(Location(window));
        });
        let targets = targets();
        let cap = Cap::new(&targets, 9);
        naive.values_mut().for_each(|list| cap.keep(list));
        all.sort_by_key(|&(place, window)| mix(place ^ u64::from(window) << 32));
        let records = of_one(all.into_iter());
        let mut counted = Vec::new();
        for rows in [1, 2000, 29_000, usize::MAX] {
            let (sums, database) = made(&records, &[], Room { threads: 2, rows });
            counted.push(sums);
            let found = database.features().map(|feature| {
                let (feature, locations) = feature.unwrap();
                (
                    u64::from(place_of(feature)) - first_place(7),
                    locations.to_vec(),
                )
            });
            assert!(found.eq(naive.clone()), "{rows} rows");
        }
        assert!(
            counted.windows(2).all(|two| two[0] == two[1])
                && counted[0].distinct.iter().all(|&count| count > 0)
        );
    }
}
