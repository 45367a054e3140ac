//! `gyrase gossip`: topologies, plans, what becomes of them.

use crate::place::Place;

#[test]
fn plans_are_made_checked_simulated_and_run() {
    let place = Place::new();
    let made = [
        "gossip", "plan", "s3", "-o", "p.json", "--xml", "p.xml", "--plot", "p.svg", "--report",
        "r.json", "-q",
    ];
    assert_eq!(place.ok(&made), "");
    let report = place.json("r.json");
    assert_eq!(report["results"]["transfers"], 68);
    assert_eq!(report["parameters"]["chunks"], 5);
    assert!(
        place
            .read("p.xml")
            .starts_with(b"<algo name=\"gossip-all2all-s3\"")
    );
    assert!(place.read("p.svg").starts_with(b"<svg"));
    let checked = place.ok(&["gossip", "check", "p.json", "--topology", "s3"]);
    let line = checked.lines().nth(1).unwrap();
    assert_eq!(
        line,
        "p.json\tall2all\t4\t5\t4\t68\t0\t0.8000\t0.8000\t100.0"
    );
    // 1,600 bytes are 16 messages of 100: each link carries 80 of them, at 2,360 bytes a second.
    let slow = [
        "--latency",
        "0",
        "--launch",
        "0",
        "--link-rate",
        "0.0000025",
    ];
    let simulated = [
        "gossip",
        "simulate",
        "p.json",
        "--topology",
        "s3",
        "--bytes",
        "1600",
    ];
    let simulated = place.ok(&[&simulated[..], &slow].concat());
    assert!(simulated.ends_with("\n1600\t33.8983\t0.0\n"), "{simulated}");
    place.write("times.csv", "1600,50,30,40\n");
    let measured = [
        "gossip",
        "simulate",
        "p.json",
        "--topology",
        "s3",
        "--measured",
        "times.csv",
    ];
    let measured = place.ok(&[&measured[..], &slow].concat());
    assert!(
        measured.ends_with("\n1600\t33.8983\t0.0\t40.0000\t0.847\n"),
        "{measured}"
    );
    place.write("sizes.tsv", "9 1 2 3\n4 5 6 7\n0 0 0 0\n1 1 1 1000\n");
    let run = [
        "gossip",
        "run",
        "p.json",
        "--topology",
        "s3",
        "--sizes",
        "sizes.tsv",
    ];
    let result = place.ok(&[&run[..], &["--seeds", "3"]].concat());
    assert!(result.contains("\n1040\tequal\t."), "{result}");
    let result = place.ok(&[&run[..], &["--rate", "1000"]].concat());
    assert!(result.contains("\n1040\tequal\t0."), "{result}");
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    let text = r#"{"type": "gather", "num_gpus": 2, "num_steps": 1, "plan": [[0, 0], [1, 1]]}"#;
    place.write("wrong.json", text);
    place.write("smi.txt", "GPU0\tX\n");
    for (words, code, said) in [
        (&["plan", "dgx-9"][..], 1, &["dgx-9", "topology --list"][..]),
        (
            &["topology", "smi.txt"],
            7,
            &["smi.txt, line 1", "GPU0 GPU1"],
        ),
        (
            &["check", "wrong.json"],
            7,
            &["wrong.json", "path 1 leads from device 1"],
        ),
        (
            &["plan", "h100", "--method", "rings"],
            1,
            &["a switch between them"],
        ),
        (
            &["plan", "cube-16", "--method", "integer", "--chunks", "3"],
            1,
            &["unknowns", "--method flow"],
        ),
    ] {
        place.fails(&[&["gossip"], words].concat(), code, said);
    }
}
