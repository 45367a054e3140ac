//! The second half of a build: the records of every partition become lists of locations.

use gyrase_fabric::{Drain, FabricError, Progress};
use gyrase_table::gydb::{PARTITIONS, Writer};
use gyrase_tabulate::{Worker, reduce};

use super::{BuildError, RECORD};
use crate::cap::Cap;
use crate::distinct::Distinct;
use crate::parts::Part;
use crate::targets::Targets;

/// What was counted while lists were made.
pub(super) struct Counted {
    /// Distinct features, by taxon.
    pub distinct: Vec<u64>,
    /// Features with as many locations as a feature may have.
    pub full: u64,
}

/// Writes the lists of all partitions, and of the `parts` beside them, on `threads` threads.
pub(super) fn write<D: Drain>(
    partitions: &D,
    parts: &[Part],
    targets: &Targets,
    taxa: usize,
    (writer, cap, threads): (&Writer, u8, usize),
    progress: &Progress,
) -> Result<Counted, BuildError> {
    let (cap, target_of) = (Cap::new(targets, cap), targets.finder());
    let lists = |_| {
        let distinct = Distinct::new(targets, &target_of, taxa);
        Lists { writer, cap: &cap, parts, rows: Vec::new(), piece: Piece::default(), distinct, full: 0 }
    };
    let mut workers: Vec<_> = (0..threads).map(lists).collect();
    progress.start("sort", PARTITIONS as u64);
    reduce(partitions, 0, workers.iter_mut().collect(), progress)?;
    let mut all = Counted { distinct: vec![0; taxa], full: 0 };
    for worker in workers {
        all.full += worker.full;
        all.distinct.iter_mut().zip(worker.distinct.into_counts()).for_each(|(all, more)| *all += more);
    }
    Ok(all)
}

/// Sorts the records of a partition into lists of locations.
struct Lists<'w> {
    writer: &'w Writer,
    cap: &'w Cap<'w>,
    parts: &'w [Part<'w>],
    /// Place and location of every record.
    rows: Vec<u64>,
    piece: Piece,
    distinct: Distinct<'w>,
    full: u64,
}

/// The lists of a partition.
#[derive(Default)]
struct Piece {
    places: Vec<u32>,
    counts: Vec<u8>,
    locations: Vec<u32>,
}

impl<D: Drain> Worker<D> for &mut Lists<'_> {
    type Error = BuildError;

    fn reduce(&mut self, partitions: &D, number: usize) -> Result<(), BuildError> {
        self.rows.clear();
        self.parts.iter().try_for_each(|part| part.rows(number, &mut self.rows))?;
        partitions.drain::<FabricError>(number, &mut |bytes, used| {
            let (records, _) = bytes[..used].as_chunks::<RECORD>();
            self.rows.extend(records.iter().map(|record| u64::from_le_bytes(*record)));
            Ok(())
        })?;
        self.list();
        let Piece { places, counts, locations } = &self.piece;
        Ok(self.writer.piece(number, places, counts, locations)?)
    }

    fn abandon(&self) {
        self.writer.abandon();
    }
}

impl Lists<'_> {
    /// Makes the lists of the rows.
    fn list(&mut self) {
        // The rows of a part are in order already, which a stable sort makes use of.
        match self.parts {
            [] => self.rows.sort_unstable(),
            _ => self.rows.sort(),
        }
        let Piece { places, counts, locations } = &mut self.piece;
        places.clear();
        counts.clear();
        locations.clear();
        for list in self.rows.chunk_by(|one, other| one >> 32 == other >> 32) {
            let (before, all) = (locations.len(), list.iter().map(|&row| row as u32));
            if list.len() > self.cap.most() {
                locations.extend(self.cap.choose(all));
            } else {
                locations.extend(all);
            }
            places.push((list[0] >> 32) as u32);
            let kept = locations.len() - before;
            counts.push(kept as u8);
            self.full += u64::from(kept == self.cap.most());
            self.distinct.add(&locations[before..]);
        }
    }
}
