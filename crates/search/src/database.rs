//! The database of a search: where its sequences come from, how many there are, and the parts in
//! which they are read where the memory does not take all at once.
//!
//! Where parts begin depends on the sequences and on what a part may take, and on nothing else. So
//! processes that agree on that have the same parts, whoever reads them.

mod cutter;

use std::path::PathBuf;
use std::sync::OnceLock;

use gyrase_align::nucleotide::is_gap;
use gyrase_align::residue::{code, letter};
use gyrase_seqdb::{
    Entry, EntrySize, KeptTaxa, Molecule, SeqDbError, SequenceReader, SequenceSource, SourceSize,
    TaxidFilter, open_all, shared_molecule,
};
use gyrase_taxonomy::Taxonomy;
use gyrase_work::Progress;

use crate::letter_counts::LetterCounts;
use crate::sequences::{Form, LetterCase, bytes_of_eight, residues_of};
use crate::{DatabaseSize, SearchError, Sequences};
use cutter::{Cutter, Part};

/// Which sequences of a database are searched.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'f> {
    pub taxids: &'f TaxidFilter,
    /// Of those of the taxids only these, by their numbers, which ascend.
    pub only: Option<&'f [usize]>,
}

impl Filter<'_> {
    /// The taxonomy that was given; else it is to be read of the sources.
    fn taxonomy(self) -> OnceLock<Option<Taxonomy>> {
        match &self.taxids.taxonomy {
            Some(given) => Some(given.clone()).into(),
            None => OnceLock::new(),
        }
    }
}

/// Sequences of files and databases, in their order.
pub(crate) struct Database {
    sources: Vec<SequenceSource>,
    /// Numbers of the first entries of the sources, and of one more.
    starts: Vec<u64>,
    kept: KeptTaxa,
    /// The entries that are searched, where that are not all of the kept taxa.
    only: Option<Vec<u64>>,
    molecule: Molecule,
    is_packed: bool,
    case: LetterCase,
    has_masks: bool,
    has_taxids: bool,
    size: DatabaseSize,
    searched: u64,
    is_literal: bool,
    parts: Vec<Part>,
    /// CRC-32 of what it was known by.
    digest: u32,
    /// Threads that read its letters where they are packed.
    threads: usize,
    /// The taxa of its taxids, once they are wanted; none where its sources have none.
    taxonomy: OnceLock<Option<Taxonomy>>,
}

impl Database {
    /// Opens files and databases, without the sequences that a filter leaves out. If all of them,
    /// with an index, take at most so many bytes there is one part and it is in memory, in a form.
    /// A database knows what its letters stand for; where there are files alone, the letters
    /// decide, and nucleotides are packed as soon as they show. What is in lower case is not masked
    /// yet: they may become what a program compares.
    ///
    /// # Errors
    /// A file cannot be read; there are proteins and nucleotides; there is a pipe, which can be
    /// read only once, that has more.
    pub(crate) fn open(
        paths: &[PathBuf],
        filter: Filter,
        most: u64,
        form: Form,
        (threads, progress): (usize, &Progress),
    ) -> Result<(Database, Option<Sequences>), SearchError> {
        Database::of(open_all(paths)?, filter, most, form, (threads, progress))
    }

    /// The same of sources that are open.
    ///
    /// # Errors
    /// See [`open`](Database::open).
    pub(crate) fn of(
        sources: Vec<SequenceSource>,
        filter: Filter,
        most: u64,
        form: Form,
        (threads, progress): (usize, &Progress),
    ) -> Result<(Database, Option<Sequences>), SearchError> {
        let (known, kept) = (shared_molecule(&sources)?, filter.taxids.among(&sources)?);
        let mut census = Census::new(&sources, (known, form), (&kept, filter.only), most);
        let is_all = filter.taxids.is_empty() && filter.only.is_none();
        let whole = match is_all && census.is_too_much() {
            true => census.of_sizes().map(|()| None)?,
            false => census.reading(form, threads, progress)?,
        };
        let molecule = known.unwrap_or_else(|| Molecule::of_counts(&census.counts));
        let Census {
            starts,
            size,
            searched,
            cutters,
            digest,
            has_masks,
            has_taxids,
            entries,
            ..
        } = census;
        let cutter = cutter_of(cutters, molecule);
        let database = Database {
            parts: cutter.finish(starts.last().copied().unwrap_or_default()),
            starts,
            is_literal: !filter.taxids.is_empty() && kept.is_literal(),
            kept,
            only: filter.only.map(|_| entries),
            molecule,
            is_packed: form.packs(molecule),
            case: form.case(),
            has_masks,
            has_taxids,
            size,
            searched,
            digest: digest.finalize(),
            threads,
            sources,
            taxonomy: filter.taxonomy(),
        };
        if !database.is_packed && whole.as_ref().is_some_and(Sequences::are_packed) {
            // The first letters were not like those behind.
            let form = Form::Codes(form.case());
            let sources = database.sources;
            return Database::of(sources, filter, most, form, (threads, progress));
        }
        let whole = whole.filter(|_| database.parts() == 1 && database.part_bytes() <= most);
        let mut whole = whole.map(|whole| whole.of(molecule));
        if let (Some(whole), true) = (&mut whole, database.is_packed) {
            whole.pack();
        }
        Ok((database, whole))
    }

    /// The same in larger parts, which take so many bytes at most, but for single sequences.
    pub(crate) fn in_parts_of(self, most: u64) -> Database {
        let parts = Part::join(self.parts, most);
        Database { parts, ..self }
    }

    /// The taxa of its taxids, if its sources know them.
    ///
    /// # Errors
    /// They cannot be read, or those of several sources do not fit each other.
    pub(crate) fn taxonomy(&self) -> Result<Option<&Taxonomy>, SearchError> {
        if let Some(known) = self.taxonomy.get() {
            return Ok(known.as_ref());
        }
        let read = TaxidFilter::taxonomy_of(&self.sources)?;
        Ok(self.taxonomy.get_or_init(|| read).as_ref())
    }

    /// What its sequences are.
    pub(crate) fn molecule(&self) -> Molecule {
        self.molecule
    }

    /// How large it is, with the sequences that a filter leaves out.
    pub(crate) fn size(&self) -> DatabaseSize {
        self.size
    }

    /// Whether a sequence has a taxid, also one that a filter leaves out.
    pub(crate) fn has_taxids(&self) -> bool {
        self.has_taxids
    }

    /// Sequences that are searched.
    pub(crate) fn searched(&self) -> u64 {
        self.searched
    }

    /// True where it was filtered by taxids that stood for themselves alone.
    pub(crate) fn is_literal(&self) -> bool {
        self.is_literal
    }

    /// Whether its masks count, and nothing says which of its letters are masked.
    pub(crate) fn lacks_masks(&self) -> bool {
        self.case != LetterCase::Ignored && !self.has_masks
    }

    /// Its parts, one at least.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Bytes that the largest part takes.
    pub(crate) fn part_bytes(&self) -> u64 {
        let bytes = self.parts.iter().map(|part| part.bytes);
        bytes.max().unwrap_or_default()
    }

    /// Letters of the largest part, about.
    pub(crate) fn part_letters(&self) -> u64 {
        let letters = self.parts.iter().map(|part| part.letters);
        letters.max().unwrap_or_default()
    }

    /// Bytes that a part takes, and its letters.
    pub(crate) fn of_part(&self, number: usize) -> [u64; 2] {
        let part = &self.parts[number];
        [part.bytes, part.letters]
    }

    /// Bytes that all parts take together.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// True where something can be read only once.
    pub(crate) fn has_pipe(&self) -> bool {
        self.sources.iter().any(SequenceSource::is_pipe)
    }

    /// What it is known by where it is read in parts: its size, and what was read of it to divide
    /// it (of a BLAST database all but the letters).
    pub(crate) fn digest(&self) -> [u64; 4] {
        let ends = self.parts.iter().map(|part| part.entries.end);
        let parts = ends.flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        let sums = [self.digest, crc32fast::hash(&parts)].map(u64::from);
        [self.size.sequences, self.size.letters, sums[0], sums[1]]
    }

    /// Reads parts, from any of them on.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            database: self,
            source: 0,
            reader: None,
            at: 0,
        }
    }

    /// Whether an entry of a number is searched.
    fn has(&self, number: u64, taxids: &[u32]) -> bool {
        match &self.only {
            Some(only) => only.binary_search(&number).is_ok(),
            None => self.kept.has(taxids),
        }
    }

    /// Gives the title of each sequence of the kept taxa, and how many letters it has.
    pub(crate) fn each_title<E: From<SeqDbError>>(
        &self,
        mut each: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        for source in &self.sources {
            source.each(|entry, _| match self.kept.has(entry.taxids) {
                true => each(entry.title, residues_of(entry.letters).count()),
                false => Ok(()),
            })?;
        }
        Ok(())
    }
}

/// The one of [`Census::cutters`] that what was looked at needs.
fn cutter_of([of_residues, of_bases]: [Cutter; 2], molecule: Molecule) -> Cutter {
    match molecule {
        Molecule::Protein => of_residues,
        Molecule::Nucleotide => of_bases,
    }
}

/// Counts what a database holds, and divides it.
struct Census<'s> {
    sources: &'s [SequenceSource],
    known: Option<Molecule>,
    kept: &'s KeptTaxa,
    only: Option<&'s [usize]>,
    most: u64,
    is_packed: bool,
    /// Nucleotides of files are packed as soon as they show.
    packs_files: bool,
    case: LetterCase,
    has_masks: bool,
    has_taxids: bool,
    starts: Vec<u64>,
    size: DatabaseSize,
    /// How many are of the kept taxa.
    of_taxa: usize,
    searched: u64,
    /// Which are searched, where that are not all of these.
    entries: Vec<u64>,
    /// As residues, and as nucleotides.
    cutters: [Cutter; 2],
    /// Letters of files, which decide what they stand for.
    counts: [u64; 256],
    /// What is known, or the first file whose letters leave no doubt; and its kind.
    first_sure: Option<(String, Molecule)>,
    digest: crc32fast::Hasher,
}

impl<'s> Census<'s> {
    fn new(
        sources: &'s [SequenceSource],
        (known, form): (Option<Molecule>, Form),
        (kept, only): (&'s KeptTaxa, Option<&'s [usize]>),
        most: u64,
    ) -> Census<'s> {
        // What shows to be something else later is read again.
        let can_pack = known.is_some() || !sources.iter().any(SequenceSource::is_pipe);
        let cutter = |molecule| {
            let eight = bytes_of_eight(molecule, form.packs(molecule), can_pack, form.case());
            Cutter::new(most, eight, form.case())
        };
        Census {
            sources,
            known,
            kept,
            only,
            most,
            is_packed: known.is_some_and(|known| form.packs(known)),
            packs_files: known.is_none() && can_pack && form.packs(Molecule::Nucleotide),
            case: form.case(),
            has_masks: sources.iter().any(|source| match source {
                SequenceSource::Fasta(_) | SequenceSource::Text(..) => false,
                source => source.may_have_masks(),
            }),
            has_taxids: false,
            starts: vec![0],
            size: DatabaseSize {
                letters: 0,
                sequences: 0,
            },
            of_taxa: 0,
            searched: 0,
            entries: Vec::new(),
            cutters: [Molecule::Protein, Molecule::Nucleotide].map(cutter),
            counts: [0; 256],
            first_sure: known.map(|known| ("the database".into(), known)),
            digest: crc32fast::Hasher::new(),
        }
    }

    /// True where the letters of databases alone take too much, and there are no files.
    fn is_too_much(&self) -> bool {
        let sizes = self.sources.iter().map(SequenceSource::size);
        let sizes: Option<Vec<SourceSize>> = sizes.collect();
        let cutter = match self.known {
            Some(Molecule::Nucleotide) => &self.cutters[1],
            _ => &self.cutters[0],
        };
        let letters = |sizes: &Vec<SourceSize>| sizes.iter().map(|size| size.letters).sum::<u64>();
        sizes.is_some_and(|sizes| cutter.eight * letters(&sizes) / 8 > self.most)
    }

    /// Without the letters of databases.
    fn of_sizes(&mut self) -> Result<(), SearchError> {
        for source in self.sources {
            let mut reader = source.reader()?;
            let mut number = *self.starts.last().expect("the first begins at 0");
            while let Some(size) = reader.next_size()? {
                self.count(number, &size);
                number += 1;
            }
            self.end_source(source, number, 0);
        }
        Ok(())
    }

    /// Reads all, and gives it as long as it may fit.
    fn reading(
        &mut self,
        form: Form,
        threads: usize,
        progress: &Progress,
    ) -> Result<Option<Sequences>, SearchError> {
        let bytes = self.sources.iter().map(SequenceSource::bytes).sum();
        progress.start("read", bytes);
        let mut whole = Some(self.none_yet(form));
        for source in self.sources {
            let (mut counts, mut letters) = ([0; 256], 0);
            let mut number = *self.starts.last().expect("the first begins at 0");
            let mut reader = source.reader()?;
            if self.is_packed {
                reader = reader.packed();
            }
            while let Some((entry, read)) = reader.next()? {
                progress.go_on()?;
                progress.advance(read);
                let is_searched = self.count(number, &EntrySize::of(&entry));
                number += 1;
                if source.size().is_none() {
                    letters += self.look_at(&entry, &mut counts);
                }
                if is_searched {
                    whole = whole.filter(|whole| self.fits(whole));
                    if let Some(whole) = &mut whole {
                        self.pack(whole, &counts);
                        whole.add(&entry)?;
                    }
                }
            }
            whole = whole.filter(|_| self.cutters[1].fits());
            if let Some(whole) = &mut whole {
                whole.read_bases(source, threads, progress)?;
            }
            self.check_kind(source, &counts)?;
            self.end_source(source, number, letters);
            (0..256).for_each(|letter| self.counts[letter] += counts[letter]);
        }
        Ok(whole)
    }

    /// Whether sequences may fit.
    fn fits(&self, whole: &Sequences) -> bool {
        self.cutters[1].fits() && whole.text().len() as u64 <= self.most
    }

    /// Packs what was read of files once it shows that its letters, which are counted, are
    /// nucleotides.
    fn pack(&self, whole: &mut Sequences, counts: &[u64; 256]) {
        if !self.packs_files || whole.are_packed() {
            return;
        }
        let counts = std::array::from_fn(|letter| self.counts[letter] + counts[letter]);
        if Molecule::are_enough(&counts) && Molecule::of_counts(&counts) == Molecule::Nucleotide {
            whole.pack_from_now_on();
        }
    }

    /// No sequences yet, with room for those of databases.
    fn none_yet(&self, form: Form) -> Sequences {
        let sizes = self.sources.iter().filter_map(SequenceSource::size);
        let letters = sizes.map(|size| size.letters + size.sequences).sum::<u64>();
        match self.is_packed {
            true => Sequences::packed_part(0, letters.min(self.most)).taking(self.case),
            false => form.none_yet(),
        }
    }

    /// Counts the entry of a number; whether it is searched.
    fn count(&mut self, number: u64, size: &EntrySize) -> bool {
        let is_searched = self.kept.has(size.taxids) && self.is_meant(number);
        for number in [size.title, size.letters] {
            self.digest.update(&number.to_le_bytes());
        }
        self.digest.update(&[is_searched.into()]);
        self.has_masks |= size.masks > 0;
        self.has_taxids |= !size.taxids.is_empty();
        if is_searched {
            let cutters = self.cutters.iter_mut();
            cutters.for_each(|cutter| cutter.add(number, self.searched, size));
            self.searched += 1;
        }
        is_searched
    }

    /// Whether the next of the kept taxa, an entry of a number, is among those that are asked for.
    fn is_meant(&mut self, entry: u64) -> bool {
        let of_taxa = self.of_taxa;
        self.of_taxa += 1;
        let Some(only) = self.only else {
            return true;
        };
        let is_meant = only.binary_search(&of_taxa).is_ok();
        self.entries.extend(is_meant.then_some(entry));
        is_meant
    }

    /// Counts the letters of an entry of a file; how many it has without gaps.
    fn look_at(&mut self, entry: &Entry, counts: &mut [u64; 256]) -> u64 {
        let is_kept = self.kept.has(entry.taxids);
        self.digest.update(entry.title);
        self.digest.update(entry.letters);
        let mut letters = 0;
        let found = LetterCounts::of(entry.letters);
        for (one, count) in found.iter().filter(|(one, _)| !is_gap(*one)) {
            letters += count;
            counts[usize::from(letter(code(one)))] += count * u64::from(is_kept);
        }
        letters
    }

    /// Notes the end of a source, with the letters of a file.
    fn end_source(&mut self, source: &SequenceSource, end: u64, letters: u64) {
        let before = self.starts.last().copied().unwrap_or_default();
        let counted = SourceSize {
            sequences: end - before,
            letters,
        };
        let size = source.size().unwrap_or(counted);
        self.size.sequences += counted.sequences;
        self.size.letters += size.letters;
        self.starts.push(end);
        if let SequenceSource::Gysd(database) = source {
            self.digest.update(&database.checksum().to_le_bytes());
        }
    }

    /// Refuses a file whose letters are clearly not what a database or a file beside it has.
    fn check_kind(
        &mut self,
        source: &SequenceSource,
        counts: &[u64; 256],
    ) -> Result<(), SearchError> {
        if source.molecule().is_some() || !Molecule::are_enough(counts) {
            return Ok(());
        }
        let found = Molecule::of_counts(counts);
        let sure = || (source.name(), found);
        let (first, of_first) = self.first_sure.get_or_insert_with(sure);
        if found == *of_first {
            return Ok(());
        }
        Err(SearchError::Database(SeqDbError::Mixed {
            first: first.clone(),
            of_first: *of_first,
            second: source.name(),
            of_second: found,
        }))
    }
}

/// Reads parts of a database; the one behind the last that was read without reading anything twice.
pub(crate) struct Cursor<'d> {
    database: &'d Database,
    source: usize,
    reader: Option<SequenceReader<'d>>,
    /// The number of the next entry.
    at: u64,
}

impl Cursor<'_> {
    /// Reads a part. Its numbers begin at 0; the first has the number [`Sequences::first`].
    pub(crate) fn read(
        &mut self,
        number: usize,
        progress: &Progress,
    ) -> Result<Sequences, SearchError> {
        let Database {
            sources,
            starts,
            molecule,
            is_packed,
            case,
            parts,
            threads,
            ..
        } = self.database;
        let part = &parts[number];
        if self.at > part.entries.start {
            *self = self.database.cursor();
        }
        self.at = part.entries.start;
        let none = match is_packed {
            true => Sequences::packed_part(part.first, part.letters),
            false => Sequences::part(part.first, part.letters),
        };
        let mut sequences = none.taking(*case);
        while self.at < part.entries.end {
            progress.go_on()?;
            if self.at >= starts[self.source + 1] {
                sequences.read_bases(&sources[self.source], *threads, progress)?;
                (self.reader, self.source) = (None, self.source + 1);
                continue;
            }
            let reader = match &mut self.reader {
                Some(reader) => reader,
                none => {
                    let reader = sources[self.source].reader()?;
                    none.insert(if *is_packed { reader.packed() } else { reader })
                }
            };
            reader.skip_to(self.at - starts[self.source])?;
            let Some((entry, _)) = reader.next()? else {
                return Err(SearchError::Changed {
                    input: sources[self.source].name(),
                });
            };
            if self.database.has(self.at, entry.taxids) {
                sequences.add(&entry)?;
            }
            self.at += 1;
        }
        if let Some(source) = sources.get(self.source) {
            sequences.read_bases(source, *threads, progress)?;
        }
        let mut sequences = sequences.of(*molecule);
        sequences.mask(*case);
        Ok(sequences)
    }
}

#[cfg(test)]
mod tests {
    use gyrase_seqdb::gysd::Writer;

    use super::*;

    /// The number of a sequence, its title, its codes, its taxids.
    type Row = (usize, Vec<u8>, Vec<u8>, Vec<u32>);

    /// The sequences of parts, put together again.
    fn together(database: &Database, order: &[usize]) -> Vec<Row> {
        let (mut cursor, progress) = (database.cursor(), Progress::default());
        let mut all = Vec::new();
        for &part in order {
            let part = cursor.read(part, &progress).unwrap();
            all.extend((0..part.len()).map(|number| {
                (
                    part.first() + number,
                    part.title(number).to_vec(),
                    part.residues(number).to_vec(),
                    part.taxids(number).collect(),
                )
            }));
        }
        all.sort();
        all
    }

    #[test]
    fn parts_are_the_whole_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let fasta = |from: usize| -> String {
            let record = |number: usize| {
                let letters = "MKVLAWYGDERTIPLMNVCQHS".repeat(1 + number * 7 % 5);
                format!(">s{number} OX={}\n{letters}-\n", number % 3)
            };
            (from..from + 20).map(record).collect()
        };
        std::fs::write(path("a.faa"), fasta(0)).unwrap();
        std::fs::write(path("b.faa"), fasta(40)).unwrap();
        let mut writer = Writer::create(&path("c.gysd"), Molecule::Protein).unwrap();
        for letters in ["WWKR", "", "MKVLAWY"] {
            writer.push(b"x OX=1", letters.as_bytes(), &[1, 7]).unwrap();
        }
        writer.finish(None).unwrap();
        let paths = ["a.faa", "c.gysd", "b.faa"].map(path);
        for only in [vec![], vec![1]] {
            let filter = TaxidFilter {
                only,
                ..TaxidFilter::default()
            };
            let open = |most| {
                Database::open(
                    &paths,
                    Filter {
                        taxids: &filter,
                        only: None,
                    },
                    most,
                    Form::Codes(LetterCase::Ignored),
                    (2, &Progress::default()),
                )
                .unwrap()
            };
            let (whole, all) = open(u64::MAX);
            assert_eq!(all.unwrap().len() as u64, whole.searched());
            let expected = together(&whole, &[0]);
            assert!(expected.iter().map(|one| one.0).eq(0..expected.len()));
            for most in [1, 800, 3000] {
                let (database, none) = open(most);
                assert!(none.is_none());
                assert_eq!(database.size(), whole.size());
                assert_eq!(database.searched(), whole.searched());
                assert!(database.parts() > 3 || most == 3000);
                assert_eq!(open(1).0.in_parts_of(most).parts, database.parts);
                let fits = |part: &Part| most == 1 || part.bytes <= most;
                assert!(database.parts.iter().all(fits));
                let mut order: Vec<usize> = (0..database.parts()).collect();
                assert_eq!(together(&database, &order), expected, "{most}");
                order.reverse();
                assert_eq!(together(&database, &order), expected, "{most}");
            }
        }
    }

    #[test]
    fn taxids_stay_with_their_sequences_and_choose_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.faa");
        std::fs::write(&path, ">a OX=7\nMKV\n>b\nWW\n>c OX=8\x01d OX=7\nPP-P\n").unwrap();
        let read = |only: &[u32]| {
            let filter = TaxidFilter {
                only: only.to_vec(),
                ..TaxidFilter::default()
            };
            let (paths, progress) = ([path.clone()], Progress::default());
            let opened = Database::open(
                &paths,
                Filter {
                    taxids: &filter,
                    only: None,
                },
                u64::MAX,
                Form::Codes(LetterCase::Ignored),
                (2, &progress),
            );
            let (database, whole) = opened.unwrap();
            (database, whole.expect("memory has no end"))
        };
        let taxids = |sequences: &Sequences| -> Vec<Vec<u32>> {
            let numbers = 0..sequences.len();
            numbers
                .map(|number| sequences.taxids(number).collect())
                .collect()
        };
        let (database, all) = read(&[]);
        assert_eq!(taxids(&all), [vec![7], vec![], vec![8, 7]]);
        assert!(!database.is_literal());
        let (database, some) = read(&[8]);
        assert_eq!(taxids(&some), [[8, 7]]);
        assert!(database.is_literal());
        assert_eq!((some.len(), some.total()), (1, 3));
        let (letters, sequences) = (8, 3);
        assert_eq!(database.size(), DatabaseSize { letters, sequences });
        assert_eq!(database.searched(), 1);
    }
}
