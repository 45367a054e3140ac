//! The interactive page as a text: its parts are whole, its data are right, and no name can become
//! markup.
#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use crate::sample::{READS, text};
use gyrase_classify::report::{self, NamedTally, Origin};
use gyrase_classify::tally::Tally;
use gyrase_taxonomy::{Node, Taxonomy};
use serde_json::{Value, json};

const HOSTILE: &str = "</script><script>alert(1)</script><!-- \u{2028} \" ' &";

fn page(taxonomy: &Taxonomy, title: &str, samples: &[(&str, &Tally)]) -> String {
    let samples: Vec<_> = samples
        .iter()
        .map(|&(name, tally)| NamedTally { name, tally })
        .collect();
    let origin = Origin {
        sources: vec![("Database", format!("{title}.gydb"))],
        date: None,
    };
    text(|out| report::html(taxonomy, title, &samples, &origin, out))
}

/// What stands between the first `start` and the next `end`.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let rest = &page[page.find(start).unwrap() + start.len()..];
    &rest[..rest.find(end).unwrap()]
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(
        page,
        "<script type=\"application/json\" class=\"data\">",
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
    let taxonomy = crate::sample::taxonomy();
    let tallies =
        [READS.as_slice(), &[(562, 9)]].map(|reads| crate::sample::tally(&taxonomy, reads));
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
fn species_stand_in_a_table_that_needs_no_script() {
    let taxonomy = crate::sample::taxonomy();
    let tallies =
        [READS.as_slice(), &[(562, 9)]].map(|reads| crate::sample::tally(&taxonomy, reads));
    let one = page(&taxonomy, "One", &[("a", &tallies[0])]);
    let rows = |page: &str| -> Vec<String> {
        let body = page.split("<tbody>").nth(1).unwrap();
        let cells = |row: &str| {
            let texts = row.split('<').filter_map(|tag| tag.split_once('>'));
            let words = texts
                .map(|(_, text)| text.trim())
                .filter(|text| !text.is_empty());
            words.collect::<Vec<_>>().join("|")
        };
        let rows = body[..body.find("</table>").unwrap()].split("</tr>");
        rows.map(cells).filter(|row| !row.is_empty()).collect()
    };
    assert!(one.contains("<p>1 sample · 40 reads or pairs · 80.00 % classified · 4 species</p>"));
    let expected = [
        "Escherichia coli|562|14|35.00 %",
        "Escherichia fergusonii|564|5|12.50 %",
        "Streptococcus pneumoniae|1313|4|10.00 %",
        "Some virus|11000|2|5.00 %",
        "No species, a taxon above|7|17.50 %",
        "Unclassified|8|20.00 %",
    ];
    assert_eq!(rows(&one), expected);
    let two = page(&taxonomy, "Two", &[("a", &tallies[0]), ("b", &tallies[1])]);
    let expected = [
        "Escherichia coli|35.00 %|100.00 %",
        "Escherichia fergusonii|12.50 %|0",
        "Streptococcus pneumoniae|10.00 %|0",
        "Some virus|5.00 %|0",
        "No species, a taxon above|17.50 %|0",
        "Unclassified|20.00 %|0",
        "All reads|40|9",
    ];
    assert_eq!(rows(&two), expected);
    // The bars of each sample are as long as all its reads.
    let bars: Vec<&str> = two.split("class=\"stack\"").skip(1).collect();
    for (bar, parts) in bars.iter().zip([6, 1]) {
        let parts_of = |bar: &str| -> Vec<f64> {
            let bar = &bar[..bar.find("</td>").unwrap()];
            let widths = bar.split("style=\"width:").skip(1);
            widths
                .map(|width| width[..width.find('%').unwrap()].parse().unwrap())
                .collect()
        };
        assert_eq!(parts_of(bar).len(), parts);
        assert!((parts_of(bar).iter().sum::<f64>() - 100.0).abs() < 0.01);
    }
    // A taxon has the same colour everywhere, in the data too.
    let colour = &data(&two)["colours"][7];
    let key = format!("background:{}\"", colour.as_str().unwrap());
    assert_eq!(
        (one.matches(&key).count(), two.matches(&key).count()),
        (1, 4)
    );
    assert!(one.contains("<dt>Database</dt><dd>One.gydb</dd>"));
}

#[test]
fn a_table_of_many_samples_stays_within_bounds() {
    let name = |taxid: u32| format!("Species {taxid}");
    let names: Vec<String> = (0..600).map(name).collect();
    let nodes = (2..600).map(|taxid| Node {
        taxid,
        parent: 1,
        rank: "species",
        name: &names[taxid as usize],
    });
    let root = Node {
        taxid: 1,
        parent: 1,
        rank: "no rank",
        name: "root",
    };
    let taxonomy = Taxonomy::new([root].into_iter().chain(nodes)).unwrap();
    let reads: Vec<(u32, u64)> = (2..600).map(|taxid| (taxid, 1)).collect();
    let tally = crate::sample::tally(&taxonomy, &reads);
    let one = page(&taxonomy, "", &[("a", &tally)]);
    check_elements(&one);
    assert!(one.contains("98 other species</th><td></td><td class=\"number\">98</td>"));
    let many: Vec<_> = (0..2000).map(|_| ("a", &tally)).collect();
    let many = page(&taxonomy, "", &many);
    assert_eq!(many.matches("<a href=\"#taxid=").count(), 20);
    assert!(many.contains("578 other species"));
}

#[test]
fn evidence_is_that_of_clades() {
    let taxonomy = crate::sample::taxonomy();
    let mut tally = crate::sample::tally(&taxonomy, &[(562, 2), (11000, 1)]);
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
    let tally = crate::sample::tally(&taxonomy, &[(5, 1)]);
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
    let taxonomy = crate::sample::taxonomy();
    let page = page(&taxonomy, "x", &[]);
    // A namespace is a name, not an address.
    let alone = page.replace("http://www.w3.org/2000/svg", "");
    for outside in [
        "http:",
        "https:",
        "src=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ] {
        assert!(!alone.contains(outside), "{outside}");
    }
    let links = page.split("href=").skip(1);
    assert!(links.into_iter().all(|link| link.starts_with("\"#")));
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
    let taxonomy = crate::sample::taxonomy();
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
