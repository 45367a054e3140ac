//! How much sequence inputs hold, before they are read.

use gyrase_fastx::{Compression, Format, Input, MeasuredStart};
use gyrase_work::tasks_at_once;

/// A figure that is known between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Not less than this is expected.
    pub least: u64,
    /// Not more than this; `None` when nobody can know, because an input is a pipe.
    pub most: Option<u64>,
}

impl Estimate {
    /// A figure that is known.
    pub fn exactly(figure: u64) -> Estimate {
        Estimate {
            least: figure,
            most: Some(figure),
        }
    }

    /// Both bounds of both.
    pub fn sum(self, other: Estimate) -> Estimate {
        let most = self.most.zip(other.most).map(|(a, b)| a.saturating_add(b));
        Estimate {
            least: self.least.saturating_add(other.least),
            most,
        }
    }

    /// Both bounds times `factor`.
    pub fn times(self, factor: f64) -> Estimate {
        let scaled = |bound: u64| (bound as f64 * factor) as u64;
        Estimate {
            least: scaled(self.least),
            most: self.most.map(scaled),
        }
    }
}

/// What inputs hold.
#[derive(Clone, Copy, Debug)]
pub struct InputContents {
    /// Bases; letters, in truth.
    pub bases: Estimate,
    /// Records, reads for example.
    pub records: Estimate,
    /// Letters of the names of the records, a middling estimate.
    pub names: f64,
    /// Bytes of text, a middling estimate.
    pub text: f64,
    /// Bytes of text behind compressed files, a middling estimate.
    pub inflated: f64,
}

/// Inputs that are sampled, spread over all: more would take longer than they tell.
const SAMPLES: usize = 16;

/// Bytes of text of all samples together, and of one: some blocks of any compression.
const TEXT: usize = 16 << 20;
const TEXT_OF_ONE: usize = 4 << 20;

/// How far the rest of a file may be from its start, as a factor either way.
const WITHIN_A_FILE: f64 = 1.1;

/// How far a file may be from others, of which one was sampled.
const BETWEEN_FILES: f64 = 2.0;

/// Bytes that decompressors take, as measured: that of gzip, any other, and beside them bzip2 for a
/// block and its order, zstd for what it hands over.
const GUNZIPPING: u64 = 7 << 19;
const INFLATING: u64 = 5 << 19;
const BZIP2: u64 = 15 << 19;
const ZSTD: u64 = 3 << 20;

/// Bytes of a batch of reads, or of pairs, with what is made of it.
const BATCH: u64 = 3 << 19;
const BATCH_OF_PAIRS: u64 = 13 << 18;
/// Bytes that the second file of pairs takes.
const SECOND: u64 = 2 << 20;
/// Bytes of a plain file that several threads fetch before they are asked for.
const AHEAD: u64 = 5 << 19;
/// Bytes by which the batches in hand are smaller where reads are decompressed.
const SLOWER: u64 = 3 << 19;

/// What a byte of a compressed file stands for of which nothing could be sampled.
const GUESS: Rates = Rates {
    text: 4.0,
    letters: 2.0,
    records: 0.0,
    names: 0.0,
};

/// What a stored byte stands for.
#[derive(Clone, Copy, Debug)]
struct Rates {
    text: f64,
    letters: f64,
    records: f64,
    names: f64,
}

/// Looks at the inputs.
pub fn input_contents(inputs: &[Input]) -> InputContents {
    let step = inputs.len().div_ceil(SAMPLES).max(1);
    let text = (TEXT / inputs.len().clamp(1, SAMPLES)).min(TEXT_OF_ONE);
    let samples: Vec<Option<MeasuredStart>> = inputs
        .iter()
        .enumerate()
        .map(|(i, input)| (i % step == 0).then(|| input.sample(text))?)
        .collect();
    let mut all = InputContents {
        bases: Estimate::exactly(0),
        records: Estimate::exactly(0),
        names: 0.0,
        text: 0.0,
        inflated: 0.0,
    };
    for (input, sample) in inputs.iter().zip(&samples) {
        let (rates, spread) = match sample {
            Some(sample) if sample.whole => (rates_of([sample].into_iter()), 1.0),
            Some(sample) => (rates_of([sample].into_iter()), WITHIN_A_FILE),
            None => others(input, inputs, &samples),
        };
        let size = input.size.unwrap_or(0) as f64;
        all.bases = all.bases.sum(bases(input, rates, spread));
        all.records = all.records.sum(records(input, rates, spread));
        all.names += size * rates.names;
        all.text += size * rates.text;
        if input.compression != Compression::Plain {
            all.inflated += size * rates.text;
        }
    }
    all
}

/// Bytes that `at_once` streams take to decompress the inputs, at most: the tables of a
/// decompressor, and its window, of which `most_window` bytes are counted, as far as there is text
/// to fill it.
pub fn decompressing(
    inputs: &[Input],
    contents: &InputContents,
    at_once: usize,
    most_window: u64,
) -> u64 {
    let compressed = |input: &&Input| input.compression != Compression::Plain;
    let stored: u64 = inputs
        .iter()
        .filter(compressed)
        .filter_map(|input| input.size)
        .sum();
    let rate = contents.inflated / stored.max(1) as f64;
    let of = |input: &Input| {
        let window = match input.compression {
            Compression::Plain => return 0,
            Compression::Gzip | Compression::Bgzf => return GUNZIPPING,
            Compression::Bzip2 => BZIP2,
            Compression::Xz => input.window.min(most_window),
            Compression::Zstd => input.window.min(most_window) + ZSTD,
        };
        let text = input
            .size
            .map_or(u64::MAX, |size| (size as f64 * rate) as u64);
        INFLATING + window.min(text)
    };
    let mut each: Vec<u64> = inputs.iter().map(of).collect();
    each.sort_unstable_by(|a, b| b.cmp(a));
    each.iter().take(at_once).sum()
}

/// Bytes of memory for reads that pass through threads and leave in their order, as measured.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// The batches that are read, worked on, and wait for their turn, where these are as many as
    /// may be: on a machine that does much else, or where the answers are taken slowly.
    pub batches: u64,
    /// What decompresses them.
    pub inflating: u64,
}

/// What the reads of `inputs`, which are pairs of files where `paired`, take on their way through
/// `threads` threads of [`gyrase_work::in_order`].
pub fn passing(
    inputs: &[Input],
    contents: &InputContents,
    paired: bool,
    threads: usize,
) -> Passing {
    let files = if paired { 2 } else { 1 };
    let each = if paired { BATCH_OF_PAIRS } else { BATCH };
    let plain = contents.inflated == 0.0;
    let ahead = if plain && threads > 1 { AHEAD } else { 0 };
    let most = tasks_at_once(threads) as u64 * each + files as u64 * ahead;
    // Who reads little holds little of it.
    let held = match contents.bases.most {
        Some(_) => most.min(3 * contents.text as u64 / 2),
        None => most,
    };
    let inflating = decompressing(inputs, contents, threads.max(files), u64::MAX);
    Passing {
        batches: held + (files as u64 - 1) * SECOND,
        inflating: inflating.saturating_sub(SLOWER),
    }
}

fn bases(input: &Input, rates: Rates, spread: f64) -> Estimate {
    let Some(size) = input.size else {
        return Estimate::default();
    };
    // A plain file cannot hold more letters than it has room for.
    let room = match (input.compression, input.format) {
        (Compression::Plain, Some(Format::Fastq)) => size / 2,
        (Compression::Plain, _) => size,
        _ => u64::MAX,
    };
    let letters = size as f64 * rates.letters;
    Estimate {
        least: (letters / spread) as u64,
        most: Some(((letters * spread).ceil() as u64).min(room)),
    }
}

fn records(input: &Input, rates: Rates, spread: f64) -> Estimate {
    let Some(size) = input.size else {
        return Estimate::default();
    };
    let records = size as f64 * rates.records;
    Estimate {
        least: (records / spread).round() as u64,
        most: Some((records * spread).round() as u64),
    }
}

/// The rates of the sampled inputs that are stored as this one is, and how far it may be from them.
fn others(input: &Input, inputs: &[Input], samples: &[Option<MeasuredStart>]) -> (Rates, f64) {
    let alike =
        |other: &Input| (other.compression, other.format) == (input.compression, input.format);
    let sampled = inputs
        .iter()
        .zip(samples)
        .filter(|(other, _)| alike(other))
        .filter_map(|(_, sample)| sample.as_ref());
    let plain = Rates {
        text: 1.0,
        letters: 0.5,
        ..GUESS
    };
    match sampled.clone().any(|sample| sample.text > 0) {
        true => (rates_of(sampled.clone()), spread_of(sampled)),
        false if input.compression == Compression::Plain => (plain, BETWEEN_FILES),
        false => (GUESS, BETWEEN_FILES),
    }
}

/// How far all files together may be from so many samples: the closer, the more there are and the
/// more alike they are.
fn spread_of<'a>(samples: impl Iterator<Item = &'a MeasuredStart>) -> f64 {
    let rates: Vec<f64> = samples
        .filter(|sample| sample.stored > 0)
        .map(|sample| sample.letters as f64 / sample.stored as f64)
        .collect();
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count - 1.0);
    if rates.len() < 2 || mean == 0.0 {
        return BETWEEN_FILES;
    }
    let error = (variance / count).sqrt() / mean;
    (WITHIN_A_FILE + 3.0 * error).min(BETWEEN_FILES)
}

fn rates_of<'a>(samples: impl Iterator<Item = &'a MeasuredStart>) -> Rates {
    let (mut stored, mut text, mut letters, mut records, mut names) = (0, 0, 0, 0, 0);
    for sample in samples {
        stored += sample.stored;
        text += sample.text;
        letters += sample.letters;
        records += sample.records;
        names += sample.names;
    }
    let rate = |amount: u64| amount as f64 / stored.max(1) as f64;
    Rates {
        text: rate(text),
        letters: rate(letters),
        records: rate(records),
        names: rate(names),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::PathBuf;

    use gyrase_fastx::{Inputs, Options};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn contents_of(files: &[Vec<u8>]) -> InputContents {
        let folder = tempfile::tempdir().unwrap();
        let path = |(i, bytes): (usize, &Vec<u8>)| {
            let path = folder.path().join(i.to_string());
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let paths: Vec<PathBuf> = files.iter().enumerate().map(path).collect();
        input_contents(Inputs::open(&paths, Options::default()).unwrap().inputs())
    }

    /// What five bytes of text for a byte of gzip got wrong by a factor of 200.
    #[test]
    fn one_base_over_and_over_is_known_for_what_it_is() {
        let text = [b">a\n".to_vec(), vec![b'A'; 40 << 20], b"\n".to_vec()].concat();
        let found = contents_of(&[gzip(&text)]);
        let bases = 40 << 20;
        assert!(
            found.bases.least <= bases && found.bases.most.unwrap() >= bases,
            "{found:?}"
        );
        assert!(
            found.bases.least > bases / 2 && found.bases.most.unwrap() < 2 * bases,
            "{found:?}"
        );
        assert!(
            (found.inflated / bases as f64 - 1.0).abs() < 0.3,
            "{found:?}"
        );
    }

    #[test]
    fn small_files_are_known_exactly_and_others_by_their_like() {
        let text = b">a\nACGTACGTAC\n".to_vec();
        let exact = contents_of(&vec![text.clone(); 3]);
        assert_eq!(exact.bases, Estimate::exactly(30));
        assert_eq!(exact.records, Estimate::exactly(3));
        assert_eq!((exact.names, exact.text), (3.0, 42.0));
        let many = contents_of(&vec![text; 40]).bases;
        assert!(many.least < 400 && many.least >= 200, "{many:?}");
        assert!(
            many.most.unwrap() >= 400 && many.most.unwrap() <= 800,
            "{many:?}"
        );
        let empty = contents_of(&[Vec::new(), gzip(b"")]).bases;
        assert_eq!(empty, Estimate::exactly(0));
    }

    /// What is read at once counts, the largest first; a window as far as there is text for it.
    #[test]
    fn decompressors_take_what_there_is_text_for() {
        let text = [b">a\n".to_vec(), b"GATTACA".repeat(100_000), b"\n".to_vec()].concat();
        let bzip2 = |text: &[u8]| {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let folder = tempfile::tempdir().unwrap();
        let taken = |files: &[Vec<u8>], at_once| {
            let path = |(i, bytes): (usize, &Vec<u8>)| {
                let path = folder.path().join(i.to_string());
                std::fs::write(&path, bytes).unwrap();
                path
            };
            let paths: Vec<PathBuf> = files.iter().enumerate().map(path).collect();
            let inputs = Inputs::open(&paths, Options::default()).unwrap();
            let contents = input_contents(inputs.inputs());
            decompressing(inputs.inputs(), &contents, at_once, u64::MAX)
        };
        assert_eq!(taken(std::slice::from_ref(&text), 1), 0);
        let [small, large] = [
            taken(&[bzip2(b">a\nGATTACA\n")], 1),
            taken(&[bzip2(&text)], 1),
        ];
        assert!((INFLATING..INFLATING + 100).contains(&small), "{small}");
        let filled = large - INFLATING;
        assert!(filled.abs_diff(text.len() as u64) < 100, "{filled}");
        let files = [bzip2(&text), text.clone(), gzip(&text)];
        let all = taken(&files, 2);
        assert!(all > GUNZIPPING + INFLATING && taken(&files, 3) == all);
        assert!(taken(&files, 1) < all);
    }
}
