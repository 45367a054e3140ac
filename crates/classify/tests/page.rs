//! The interactive page as a text: its parts are whole, its data are right, and no name can become
//! markup.
#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod sample;

use gyrase_classify::report::{self, NamedTally};
use gyrase_classify::tally::Tally;
use gyrase_taxonomy::{Node, Taxonomy};
use sample::{READS, text};
use serde_json::{Value, json};

const HOSTILE: &str = "</script><script>alert(1)</script><!-- \u{2028} \" ' &";

fn page(taxonomy: &Taxonomy, title: &str, samples: &[(&str, &Tally)]) -> String {
    let samples: Vec<_> = samples
        .iter()
        .map(|&(name, tally)| NamedTally { name, tally })
        .collect();
    text(|out| report::html(taxonomy, title, &samples, out))
}

/// What stands between the first `start` and the next `end`.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let rest = &page[page.find(start).unwrap() + start.len()..];
    &rest[..rest.find(end).unwrap()]
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(
        page,
        "<script type=\"application/json\" id=\"data\">",
        "</script>",
    ))
    .unwrap()
}

/// Every element that needs an end has one, in order; what is in scripts and styles is no markup.
fn check_elements(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let tag = &rest[..rest.find('>').unwrap()];
        let name = tag.split_whitespace().next().unwrap();
        rest = &rest[tag.len() + 1..];
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
            None if ["meta", "input"].contains(&name) => {}
            None if ["script", "style"].contains(&name) => {
                let end = format!("</{name}>");
                rest = &rest[rest.find(&end).unwrap() + end.len()..];
            }
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_data_are_the_tallies() {
    let taxonomy = sample::taxonomy();
    let tallies = [READS.as_slice(), &[(562, 9)]].map(|reads| sample::tally(&taxonomy, reads));
    let page = page(&taxonomy, "Two", &[("a", &tallies[0]), ("b", &tallies[1])]);
    check_elements(&page);
    let data = data(&page);
    let taxids = [
        1, 10239, 11000, 131567, 2, 1224, 561, 562, 83333, 564, 1239, 1301, 1313,
    ];
    assert_eq!(data["taxids"], json!(taxids));
    assert_eq!(
        data["parents"],
        json!([null, 0, 1, 0, 3, 4, 5, 6, 7, 6, 4, 10, 11])
    );
    assert_eq!(
        (&data["names"][7], &data["ranks"][7]),
        (&json!("Escherichia coli"), &json!("species"))
    );
    assert_eq!(
        (
            &data["samples"][0]["unclassified"],
            &data["samples"][0]["name"]
        ),
        (&json!(8), &json!("a"))
    );
    for (place, tally) in tallies.iter().enumerate() {
        let found = data["samples"][place]["reads"].as_array().unwrap();
        let reads = tally.taxa().map(|(taxon, reads)| {
            let place = taxids
                .iter()
                .position(|&taxid| taxid == taxonomy.taxid(taxon));
            json!([place.unwrap(), reads])
        });
        assert_eq!(found, &reads.collect::<Vec<_>>());
    }
}

#[test]
fn evidence_is_that_of_clades() {
    let taxonomy = sample::taxonomy();
    let mut tally = sample::tally(&taxonomy, &[(562, 2), (11000, 1)]);
    let evidence = tally.evidence_mut(taxonomy.taxon_of(562).unwrap());
    evidence.hit(&[4, 4, 5]);
    evidence.all_features = Some(1_000_000);
    tally
        .evidence_mut(taxonomy.taxon_of(11000).unwrap())
        .all_windows = Some(7);
    let data = data(&page(&taxonomy, "", &[("a", &tally)]));
    let [coli, virus] = [json!([7, 2, 3, null, null]), json!([2, null, null, 0, 7])];
    let found = data["samples"][0]["evidence"].as_array().unwrap();
    assert_eq!(found[0], json!([0, 2, 3, 0, 7]));
    assert!(found.contains(&coli) && found.contains(&virus), "{found:?}");
    assert_eq!(found.len(), 8);
}

#[test]
fn names_are_never_markup() {
    let node = |taxid, name| Node {
        taxid,
        parent: 1,
        rank: HOSTILE,
        name,
    };
    let taxonomy = Taxonomy::new([node(1, "root"), node(5, HOSTILE)]).unwrap();
    let tally = sample::tally(&taxonomy, &[(5, 1)]);
    let hostile = page(&taxonomy, HOSTILE, &[(HOSTILE, &tally)]);
    check_elements(&hostile);
    assert_eq!(hostile.matches("<script").count(), 2);
    assert_eq!(hostile.matches("</script").count(), 2);
    assert!(!hostile.contains("<!--") && !hostile.contains("alert(1)</"));
    assert!(
        between(&hostile, "<h1>", "</h1>").starts_with("&lt;/script&gt;&lt;script&gt;alert(1)")
    );
    let data = data(&hostile);
    let texts = [
        &data["names"][1],
        &data["ranks"][1],
        &data["samples"][0]["name"],
    ];
    assert_eq!(texts, [HOSTILE; 3]);
}

#[test]
fn the_page_asks_for_nothing_from_outside() {
    let taxonomy = sample::taxonomy();
    let page = page(&taxonomy, "x", &[]);
    // A namespace is a name, not an address.
    let alone = page.replace("http://www.w3.org/2000/svg", "");
    for outside in [
        "http:",
        "https:",
        "src=",
        "href=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ] {
        assert!(!alone.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    // Names reach the page as texts, not as markup.
    for unsafe_way in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    ] {
        assert!(!page.contains(unsafe_way), "{unsafe_way}");
    }
}

#[test]
fn pages_of_nothing_are_whole() {
    let taxonomy = sample::taxonomy();
    let none = page(&taxonomy, "", &[]);
    check_elements(&none);
    assert_eq!(data(&none)["samples"], json!([]));
    let empty = page(&taxonomy, "", &[("none", &Tally::new())]);
    assert_eq!(data(&empty)["taxids"], json!([1]));
    assert_eq!(
        data(&empty)["samples"],
        json!([{"name": "none", "unclassified": 0, "reads": [], "evidence": []}])
    );
}
