//! Masks of queries, against BLAST+ 2.12.
//!
//! Each table of `golden/masks.tsv` stands behind `# ` and its command line, without `-db` of the
//! subjects (`makeblastdb -in masks-subjects.faa -dbtype prot`, or `.fna` and `nucl`), `-query`,
//! `-evalue 1e-6 -outfmt 6`.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::PathBuf;

use gyrase_search::{
    Config, DustMask, HopelessQuery, MaskOptions, NoHope, Program, SearchError, SegMask, run,
};
use gyrase_work::Progress;

use crate::families::{Place, report, table, usual};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name)
}

/// The search that a command line of BLAST asks for.
fn config(line: &str) -> Config {
    let (program, options) = line.split_once(" -").unwrap_or((line, ""));
    let mut masks = MaskOptions::default();
    for option in options.split(" -") {
        let (name, value) = option.split_once(' ').unwrap_or((option, ""));
        let numbers: Vec<f64> = value
            .split(' ')
            .filter_map(|one| one.parse().ok())
            .collect();
        match (name, &numbers[..]) {
            ("lcase_masking", []) => masks.lower_case = true,
            ("soft_masking", []) => masks.soft = Some(value == "true"),
            ("seg", []) => {
                let yes = value == "yes";
                masks.seg = Some(if yes { SegMask::USUAL } else { SegMask::Off });
            }
            ("seg", &[window, low, high]) => {
                let window = window as usize;
                masks.seg = Some(SegMask::On { window, low, high });
            }
            ("dust", &[level, window, linker]) => {
                masks.dust = Some(DustMask::On {
                    level: level as u32,
                    window: window as usize,
                    linker: linker as usize,
                });
            }
            ("", []) => {}
            _ => panic!("{line}"),
        }
    }
    let program: Program = program.parse().unwrap();
    let [queries, subjects] = match program {
        Program::Blastp => ["masks-queries.faa", "masks-subjects.faa"],
        Program::Blastx => ["masks-translated.fna", "masks-subjects.faa"],
        _ => ["masks-queries.fna", "masks-subjects.fna"],
    };
    let mut config = Config {
        program: Some(program),
        masks,
        ..usual(golden(queries), golden(subjects))
    };
    config.limits.evalue = 1e-6;
    config
}

#[test]
fn masks_give_the_tables_of_blast() {
    let mut tables = Vec::new();
    for part in include_str!("golden/masks.tsv").split("# ").skip(1) {
        let (line, rows) = part.split_once('\n').unwrap();
        assert_eq!(table(&config(line)).unwrap(), rows, "{line}");
        tables.push(rows);
    }
    // Each option changes something.
    let all = tables.len();
    tables.sort_unstable();
    tables.dedup();
    assert_eq!(tables.len(), all);
}

/// `Parameters_filter` of `-outfmt 5`.
#[test]
fn reports_tell_masks_as_blast_does() {
    for (line, filter) in [
        ("blastp", "F"),
        ("blastp -lcase_masking", "F"),
        ("blastp -seg yes -soft_masking true", "L;m;"),
        ("blastp -seg 10 1.8 2.1", "S 10 1.8 2.1;"),
        ("blastx", "L;"),
        ("blastx -seg no -soft_masking true", "m;"),
        ("blastn-short", "L;m;"),
        ("megablast -soft_masking false", "L;"),
        ("blastn -dust 20 64 2", "D 20 64 2;m;"),
    ] {
        let told = report(&config(line), "5").unwrap();
        let expected = format!("<Parameters_filter>{filter}</Parameters_filter>");
        assert!(told.contains(&expected), "{line}");
    }
}

#[test]
fn queries_that_can_have_no_hits_are_named() {
    let simple = "PQ".repeat(20);
    let known = "MKVLAWYGDERTIPLMNVCQHSAAKLEDGIVW";
    let queries = format!(
        ">empty\n\n>x\nXXXX*\n>simple a title\n{simple}\n>low\nmkvlawygdert\n>good\n{known}\n"
    );
    let place = Place::new();
    let proteins = place.config(&queries, &[format!(">s\n{known}\n")]);
    let hopeless = |config: &Config| -> Vec<HopelessQuery> {
        let found = run::<SearchError>(config, &Progress::default(), |_| Ok(()));
        let summary = found.unwrap();
        assert_eq!(summary.queries, 5);
        summary.hopeless
    };
    let named = |config: &Config| -> Vec<(String, NoHope)> {
        let found = hopeless(config).into_iter();
        found.map(|query| (query.name, query.why)).collect()
    };
    let own = |name: &str, why| (name.to_owned(), why);
    let [empty, unknown] = [own("empty", NoHope::Empty), own("x", NoHope::Unknown)];
    assert_eq!(named(&proteins), [empty.clone(), unknown.clone()]);
    let told = hopeless(&proteins)[1].to_string();
    let expected = "query x can have no hits: none of its letters stands for one residue or base";
    assert_eq!(told, expected);
    for soft in [true, false] {
        let masks = MaskOptions {
            lower_case: true,
            seg: Some(SegMask::USUAL),
            soft: Some(soft),
            ..MaskOptions::default()
        };
        let masked = Config {
            masks,
            ..proteins.clone()
        };
        let all = ["simple", "low"].map(|name| own(name, NoHope::Masked));
        let [simple, low] = all;
        let expected = [empty.clone(), unknown.clone(), simple, low];
        assert_eq!(named(&masked), expected, "{soft}");
    }
    let place = Place::new();
    let queries = ">empty\n>n\nNNNNNNNNNNNNNNNNNNNNNNNN\n>short\nACGTACGGTNACGTCCTGA\n\
                   >simple\nATATATATATATATATATATATAT\n>good\nACGTCCTGATTAGGCATCAGATTTGCA\n";
    let nucleotides = Config {
        program: Some(Program::Blastn),
        ..place.config(queries, &[">s\nACGTCCTGATTAGGCATCAGATTTGCA\n".into()])
    };
    let expected = [
        empty,
        own("n", NoHope::Unknown),
        own("short", NoHope::Short(11)),
        own("simple", NoHope::Masked),
    ];
    assert_eq!(named(&nucleotides), expected);
}

/// As BLAST+ 2.12 writes them with `-seg yes`: small, in its first XML as X.
#[test]
fn reports_show_what_is_masked() {
    const BEFORE: &str = "QFFISESTQTTGAAKYFNCGGRFFVPRLWSDKACNDAPQWLMSCQRSGNE";
    const SIMPLE: &str = "GHHHGGHGPGPPHPPGHH";
    const BEHIND: &str = "EYNDWSWMELCWFIKPTMLSMHANQSASNWVTGYVLW";
    let place = Place::new();
    let sequence = format!(">q\n{BEFORE}{SIMPLE}{BEHIND}\n");
    let mut config = place.config(&sequence, &[sequence.replace(">q", ">s")]);
    config.masks.seg = Some(SegMask::USUAL);
    let has = |format: &str, expected: &str| {
        let found = report(&config, format).unwrap();
        assert!(found.contains(expected), "{format}: {expected} in\n{found}");
    };
    let small = SIMPLE.to_lowercase();
    let (first, rest) = small.split_at(10);
    let dots = ".".repeat(60);
    has("0", &format!("Query  1    {BEFORE}{first}  60\n"));
    has("0", &format!("Query  61   {rest}{BEHIND}  105\n"));
    has(
        "1",
        &format!("q  1    {BEFORE}{first}  60\ns  1    {dots}  60\n"),
    );
    has(
        "5",
        &format!("<Hsp_qseq>{BEFORE}XXXXXXXXXXXXXXXXXX{BEHIND}</Hsp_qseq>"),
    );
    has("6 qseq", &format!("{BEFORE}{SIMPLE}{BEHIND}\n"));
    has("15", &format!("\"qseq\": \"{BEFORE}{small}{BEHIND}\""));
    has(
        "jsonl",
        "\"query_masking\":[{\"from\":50,\"to\":67}],\"hits\"",
    );
    has("16", "<from>50</from>\n                  <to>67</to>\n");
}

#[test]
fn what_is_masked_of_a_frame_is_told_where_it_is_in_the_query() {
    // The protein of the test above, of which GHHHGGHGPGPPHPPGHH is simple, behind two letters.
    let codons = "CAGTTTTTCATCAGCGAAAGCACCCAGACCACCGGCGCAGCAAAATATTTTAACTGCGGCGGCCGCTTTTTCGTGCCGCGC\
                  CTGTGGAGCGATAAAGCATGCAACGATGCACCGCAGTGGCTGATGAGCTGCCAGCGCAGCGGCAACGAAGGCCATCATCAC\
                  GGCGGCCATGGCCCGGGCCCGCCGCATCCGCCGGGCCACCATGAATATAACGATTGGAGCTGGATGGAACTGTGCTGGTTC\
                  ATCAAACCGACCATGCTGAGC";
    let protein =
        ">s\nQFFISESTQTTGAAKYFNCGGRFFVPRLWSDKACNDAPQWLMSCQRSGNEGHHHGGHGPGPPHPPGHHEYNDWSW\n";
    let place = Place::new();
    let config = place.config(&format!(">q\nTT{codons}\n"), &[protein.into()]);
    let found = report(&config, "0").unwrap();
    assert!(found.contains("QRSGNEghhhgghgpg"), "{found}");
    let found = report(&config, "jsonl").unwrap();
    let place = format!("{{\"from\":{},\"to\":{}}}", 2 + 3 * 50, 2 + 3 * 68 - 1);
    assert!(found.contains(&place), "{place} in {found}");
}
