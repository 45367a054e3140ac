//! What a person looks at: the timeline of a job, its summary, and what the doctor says.

use serde_json::Value;

use crate::launch::{Job, Mpi};
use crate::place::Place;

const COUNT: [&str; 8] = [
    "-q", "count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--trace", "t.json",
];

#[test]
fn a_timeline_shows_every_rank_and_where_it_waited() {
    let place = Place::new();
    place.simulate("30000", "20");
    for mpi in Mpi::all() {
        Job::new(&place, mpi, 3).ok(&COUNT);
        assert!(
            String::from_utf8(place.read("t.json"))
                .unwrap()
                .contains("\"call\":\"window\""),
            "{mpi:?}"
        );
        let profile: Value =
            serde_json::from_str(&place.ok(&["profile", "t.json", "--json"])).unwrap();
        assert_eq!(profile["ranks"], 3, "{profile}");
        let text = place.ok(&["profile", "t.json"]);
        for word in [
            "3 ranks",
            "read",
            "count",
            "write",
            "imbalance",
            "severest wait",
            "advice",
        ] {
            assert!(text.contains(word), "{mpi:?}: no {word:?} in {text}");
        }
    }
}

#[test]
fn the_doctor_sees_all_ranks() {
    let place = Place::new();
    for mpi in Mpi::all() {
        let ended = Job::new(&place, mpi, 3).run(&["doctor", "-o", "o.gyk"]);
        for word in ["compare-and-swap, an all-to-all", "read another's"] {
            assert!(ended.stdout.contains(word), "{mpi:?}: {ended:?}");
        }
        assert!(!place.files().iter().any(|name| name.starts_with("o.gyk")));
        assert!(
            ended.stdout.contains("3 ranks") || ended.stdout.contains("3 processes"),
            "{mpi:?}: {ended:?}"
        );
    }
}
