//! What becomes of a query and a subject by programs that are told in brief.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use gyrase_search::{
    BriefExplanation, Config, DustMask, Explained, LeftOut, MaskOptions, Program, Sensitivity,
    explain,
};
use gyrase_work::Progress;

use crate::families::{Place, Random};

const GENE: &str = "ATGAAAGTTCTGGCTTGGTATGGTGATGAACGTACCATTCCGCTGATGAACGTGTGCCAGCATTCTGCTGCG\
                    AAACTGGAAGATGGTATTGTTTGGCAGTGCAACGATTTCTATCGTCCGACTTGGCATAAAGAGTGCTAA";
const PROTEIN: &str = "MKVLAWYGDERTIPLMNVCQHSAAKLEDGIVWQCNDFYRPTWHKEC";

fn brief(config: &Config, subject: &str) -> BriefExplanation {
    match explain(config, ["q", subject], &Progress::default()).unwrap() {
        Explained::Brief(found) => found,
        Explained::Steps(found) => panic!("{found:?}"),
    }
}

/// The last 50 bases of the gene stand between others in `far`, a repeat in `low`.
fn nucleotides(place: &Place) -> Config {
    let mut random = Random::new();
    let mut bases = |length: usize| -> String {
        let base = |_| ["A", "C", "G", "T"][random.below(4)];
        (0..length).map(base).collect()
    };
    let low = "AT".repeat(40);
    let subjects = [
        format!(">same\n{GENE}\n>again\n{GENE}\n"),
        format!(">far\n{}{}{}\n", bases(50), &GENE[91..], bases(50)),
        format!(">low\n{low}\n>other\nGGGGGGGGGGGGGGG\n"),
    ];
    Config {
        program: Some(Program::Blastn),
        ..place.config(&format!(">q\n{GENE}{low}\n"), &subjects)
    }
}

#[test]
fn nucleotides_are_explained() {
    let place = Place::new();
    let usual = nucleotides(&place);
    let found = brief(&usual, "same");
    assert_eq!(found.left_out(), None);
    assert_eq!((found.rank, found.subjects), (Some(2), 3));
    assert_eq!([found.query, found.subject], [GENE.len() + 80, GENE.len()]);
    let best = found.best.unwrap();
    assert_eq!((best.query, best.subject), (0..GENE.len(), 0..GENE.len()));
    assert_eq!(best.score, 2.0 * GENE.len() as f64);
    let low = brief(&usual, "low");
    let Some([0, 0, without]) = low.words else {
        panic!("{low:?}");
    };
    assert!(without > 1000 && low.masked[1] >= 160, "{low:?}");
    assert_eq!(low.left_out(), Some(LeftOut::Masked));
    assert_eq!(brief(&usual, "other").left_out(), Some(LeftOut::NoSeed));
    let masks = MaskOptions {
        dust: Some(DustMask::Off),
        ..MaskOptions::default()
    };
    let unmasked = Config {
        masks,
        ..usual.clone()
    };
    assert_eq!(brief(&unmasked, "low").left_out(), None);
    let left_out = |change: &dyn Fn(&mut Config), subject| {
        let mut config = usual.clone();
        change(&mut config);
        brief(&config, subject).left_out()
    };
    let top = |config: &mut Config| config.limits.top = 1;
    assert_eq!(left_out(&top, "same"), Some(LeftOut::Top));
    assert_eq!(left_out(&top, "again"), None);
    let evalue = |config: &mut Config| config.limits.evalue = 1e-40;
    assert_eq!(left_out(&evalue, "far"), Some(LeftOut::Evalue));
    let cover = |config: &mut Config| config.limits.query_cover = 50.0;
    assert_eq!(left_out(&cover, "far"), Some(LeftOut::Cover));
    let culling = |config: &mut Config| config.limits.culling.limit = Some(1);
    assert_eq!(left_out(&culling, "far"), Some(LeftOut::Culled));
}

#[test]
fn translations_and_every_pair_are_explained() {
    let place = Place::new();
    let subjects = format!(">same\n{PROTEIN}\n>other\nGGGGGGGGG\n");
    let config = place.config(&format!(">q\n{GENE}\n"), &[subjects]);
    let found = brief(&config, "same");
    assert_eq!((found.program, found.left_out()), (Program::Blastx, None));
    let best = found.best.unwrap();
    assert_eq!((best.query, best.subject), (0..138, 0..46));
    assert_eq!(brief(&config, "other").left_out(), Some(LeftOut::NoSeed));
    let place = Place::new();
    let queries = format!(">q\n{PROTEIN}\n");
    let subjects = format!("{}>w\nWWWW\n", queries.replace(">q", ">same"));
    let exhaustive = Config {
        sensitivity: Sensitivity::Exhaustive,
        ..place.config(&queries, &[subjects])
    };
    let found = brief(&exhaustive, "same");
    assert_eq!((found.words, found.left_out()), (None, None));
    assert_eq!(brief(&exhaustive, "w").left_out(), Some(LeftOut::Evalue));
}
