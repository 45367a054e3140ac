//! Made families of proteins, and searches of them.
// Each test file takes what it needs, and a helper of a test is a test.
#![allow(dead_code, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::PathBuf;

use gyrase_search::{
    About, Config, Culling, DatabaseMask, HitLimits, MaskOptions, NucleotideOptions,
    ProteinOptions, QueryHits, Report, SearchError, Sensitivity, Summary, TaxidFilter,
    TranslationOptions, WaitingText, run,
};
use gyrase_work::Progress;
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Residues about as often as proteins have them.
const RESIDUES: &[u8] = b"AAAAAAAARRRRRNNNNDDDDDCQQQQEEEEEEGGGGGGGHHIIIIIILLLLLLLLLLKKKKKKMMFFFFPPPPPSSSSSSSTTTTTWYYYVVVVVVV";

/// The same numbers in every run.
pub struct Random(TestRng);

impl Random {
    pub fn new() -> Random {
        Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.0.next_u32() as usize) % end
    }

    pub fn protein(&mut self, length: usize) -> Vec<u8> {
        (0..length)
            .map(|_| RESIDUES[self.below(RESIDUES.len())])
            .collect()
    }

    /// Substitutes this percent of the residues, and loses or gains a few.
    pub fn relative(&mut self, protein: &[u8], percent: usize) -> Vec<u8> {
        let mut relative = Vec::new();
        for &residue in protein {
            match self.below(1000) {
                0..5 => {}
                5..10 => relative.extend([residue, RESIDUES[self.below(RESIDUES.len())]]),
                other if other / 10 < percent => {
                    relative.push(RESIDUES[self.below(RESIDUES.len())])
                }
                _ => relative.push(residue),
            }
        }
        relative
    }
}

/// Queries, and a database of relatives, copies and strangers.
pub fn families(random: &mut Random) -> (String, Vec<String>) {
    let (mut queries, mut subjects) = (String::new(), Vec::new());
    let mut add = |name: String, protein: &[u8]| {
        subjects.push(format!(">{name}\n{}\n", String::from_utf8_lossy(protein)));
    };
    for number in 0..12 {
        let length = 60 + random.below(400);
        let protein = random.protein(length);
        writeln!(
            queries,
            ">q{number} a query\n{}",
            String::from_utf8_lossy(&protein)
        )
        .unwrap();
        for percent in [0, 20, 40, 55] {
            let relative = random.relative(&protein, percent);
            add(format!("s{number}-{percent}"), &relative);
            if percent == 20 {
                // The same twice: a tie.
                add(format!("s{number}-{percent}-again"), &relative);
            }
        }
        for stranger in 0..4 {
            let length = 1 + random.below(600);
            add(format!("x{number}-{stranger}"), &random.protein(length));
        }
    }
    (queries, subjects)
}

/// A folder with the files of a search.
pub struct Place(pub tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn config(&self, queries: &str, subjects: &[String]) -> Config {
        Config {
            waiting: WaitingText::new(self.0.path().join("waiting")),
            ..usual(
                self.write("q.faa", queries),
                self.write("s.faa", &subjects.concat()),
            )
        }
    }
}

/// A codon of each residue.
const CODONS: [&str; 20] = [
    "AGCG", "CTGC", "DGAT", "EGAA", "FTTT", "GGGC", "HCAT", "IATT", "KAAA", "LCTG", "MATG", "NAAC",
    "PCCG", "QCAG", "RCGT", "SAGC", "TACC", "VGTG", "WTGG", "YTAT",
];

pub fn codon(residue: char) -> &'static str {
    let codon = CODONS.iter().find_map(|codon| codon.strip_prefix(residue));
    codon.expect("one of the twenty residues")
}

/// A search for what a file has in what another has.
pub fn usual(queries: PathBuf, subjects: PathBuf) -> Config {
    Config {
        program: None,
        sensitivity: Sensitivity::Blast,
        queries: vec![queries],
        query_texts: Vec::new(),
        subjects: vec![subjects],
        taxids: TaxidFilter::default(),
        limits: HitLimits {
            evalue: 1e-3,
            top: 500,
            max_hsps: usize::MAX,
            query_cover: 0.0,
            culling: Culling::default(),
        },
        db_length: None,
        db_sequences: None,
        protein: ProteinOptions::default(),
        masks: MaskOptions::default(),
        db_mask: DatabaseMask::default(),
        nucleotide: NucleotideOptions::default(),
        waiting: WaitingText::new(std::env::temp_dir().join("gyrase-never-made")),
        translation: TranslationOptions::default(),
        memory: 1 << 30,
        threads: 2,
    }
}

/// What a search writes in its first format.
pub fn table(config: &Config) -> Result<String, SearchError> {
    report(config, "6")
}

/// What a search writes in a format.
pub fn report(config: &Config, format: &str) -> Result<String, SearchError> {
    report_with(config, format, &Progress::default())
}

/// The same, with a look at how it goes.
pub fn report_with(
    config: &Config,
    format: &str,
    progress: &Progress,
) -> Result<String, SearchError> {
    report_of(config, format, |each| run(config, progress, each))
}

/// What is given to each answer of a search.
pub type Each<'e> = &'e mut dyn FnMut(&QueryHits) -> Result<(), SearchError>;

/// The report of a search.
pub fn report_of(
    config: &Config,
    format: &str,
    search: impl FnOnce(Each) -> Result<Summary, SearchError>,
) -> Result<String, SearchError> {
    let about = About {
        program: "2.12.0+".into(),
        database: "proteins.faa".into(),
        evalue: config.limits.evalue,
    };
    let report = Report::new(format.parse().unwrap(), about);
    let mut out = Vec::new();
    let found = search(&mut |answer| {
        report.answer(&mut out, answer).unwrap();
        Ok(())
    })?;
    report.finish(&mut out, found.queries as usize).unwrap();
    Ok(String::from_utf8(out).unwrap())
}
