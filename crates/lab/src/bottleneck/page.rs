//! What was found, in plain words.

use std::io::{self, Write};
use std::time::Duration;

use gyrase_picture::words::{self, bytes, grouped};
use gyrase_picture::{Page, escape, put_line};
use serde_json::{Value, json};

use crate::ssd::Bars;

use super::alternatives::Alternative;
use super::measure::{CountedData, MeasuredMachine};

const STYLE: &str = "\
body { font: 16px/1.5 Helvetica, Arial, sans-serif; color: #1f2933; margin: 0 auto; max-width: 62rem;
  padding: 1rem; }
table { border-collapse: collapse; }
th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #e4e7eb; }
svg { max-width: 100%; height: auto; }
";

fn time(seconds: f64) -> String {
    words::time(Duration::from_secs_f64(seconds.clamp(0.0, 1e12)))
}

/// The sentences that come first.
fn sentences(all: &[Alternative], data: &CountedData) -> Vec<String> {
    let Some(own) = all.first() else {
        return Vec::new();
    };
    let stages = own.predicted.stages;
    let (slowest, _) =
        stages.each().into_iter().fold(
            ("read", 0.0),
            |most, one| if one.1 > most.1 { one } else { most },
        );
    let mut said = vec![
        format!(
            "Counting these {} bases here takes about {}: {} to read and cut, {} to count, {} to \
             write the database.",
            grouped(data.bases as u64),
            time(stages.total()),
            time(stages.read),
            time(stages.count),
            time(stages.write)
        ),
        format!(
            "The longest stage is {slowest:?}; what holds the run up most is {}.",
            own.predicted.holds_up()
        ),
    ];
    said.push(match data.spilled > 0.0 {
        true => format!(
            "Memory is short: about {} go through temporary files. {} would keep all of it in \
             memory.",
            bytes(data.spilled as u64),
            bytes(data.in_memory)
        ),
        false => "Nothing need be spilled; more memory would not help.".into(),
    });
    let gains = all[1..]
        .iter()
        .filter(|one| one.predicted.stages.total() < stages.total());
    let best = gains.min_by(|a, b| {
        a.predicted
            .stages
            .total()
            .total_cmp(&b.predicted.stages.total())
    });
    if let Some(best) = best {
        said.push(format!(
            "Of what is listed, it helps most to have {}: {:.1} times as fast.",
            best.what,
            stages.total() / best.predicted.stages.total().max(1e-9)
        ));
    }
    said
}

/// Lines for a terminal.
pub fn bottleneck_text(all: &[Alternative], data: &CountedData) -> String {
    let mut text = sentences(all, data).join("\n");
    text.push_str("\n\n");
    let mut row = |cells: [&str; 6]| {
        let [what, rest @ ..] = cells;
        let rest: String = rest.iter().map(|cell| format!("{cell:>14}")).collect();
        put_line(&mut text, format_args!("{what:<30}{rest}"));
    };
    row(["", "total", "read", "count", "write", "held up by"]);
    for one in all {
        let stages = one.predicted.stages;
        let cells = [stages.total(), stages.read, stages.count, stages.write].map(time);
        let [total, read, count, write] = cells.each_ref().map(String::as_str);
        row([
            &one.what,
            total,
            read,
            count,
            write,
            one.predicted.holds_up(),
        ]);
    }
    text
}

/// The same as a page with a picture.
///
/// # Errors
/// As `out` has them.
pub fn bottleneck_page(
    all: &[Alternative],
    data: &CountedData,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut body = String::new();
    for words in sentences(all, data) {
        put_line(&mut body, format_args!("<p>{}</p>", escape(&words)));
    }
    body.push_str("</header>\n<main>\n<figure>\n");
    body.push_str(&picture(all).draw().finish());
    body.push_str("</figure>\n<table>\n<thead><tr>");
    for name in ["", "total", "read", "count", "write", "held up by"] {
        put_line(&mut body, format_args!("<th scope=\"col\">{name}</th>"));
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    for one in all {
        let stages = one.predicted.stages;
        put_line(
            &mut body,
            format_args!("<tr><td>{}</td>", escape(&one.what)),
        );
        for seconds in [stages.total(), stages.read, stages.count, stages.write] {
            put_line(&mut body, format_args!("<td>{}</td>", time(seconds)));
        }
        put_line(
            &mut body,
            format_args!("<td>{}</td></tr>", one.predicted.holds_up()),
        );
    }
    body.push_str("</tbody></table>\n");
    if let Some(own) = all.first() {
        measured(&mut body, &own.machine, data);
    }
    body.push_str("</main>\n");
    let title = "Where the time of counting would go";
    let page = Page {
        title,
        style: STYLE,
        body: &body,
        script: "",
    };
    page.begin(out)?;
    page.end(out)
}

fn picture(all: &[Alternative]) -> Bars<'_> {
    let of = |stage: usize| {
        all.iter()
            .map(|one| one.predicted.stages.each()[stage].1)
            .collect()
    };
    let short = |one: &Alternative| one.what.replace(" as fast", "").replace(" as large", "");
    Bars {
        title: "Seconds of each stage",
        subtitle: "predicted",
        names: all.iter().map(short).collect(),
        rows: vec![
            ("read", "#0072b2", of(0)),
            ("count", "#009e73", of(1)),
            ("write", "#e69f00", of(2)),
        ],
        doubling: false,
        y_title: "seconds",
    }
}

fn measured(body: &mut String, machine: &MeasuredMachine, data: &CountedData) {
    let rate = |per_second: f64| format!("{} a second", bytes(per_second.min(1e18) as u64));
    let nano = |seconds: f64| format!("{:.2} ns", 1e9 * seconds);
    let rows = [
        ("Inputs are read at", rate(machine.read_bytes_per_second)),
        (
            "Temporary files are written at",
            rate(machine.write_bytes_per_second),
        ),
        (
            "One thread cuts a base in",
            nano(machine.cut_seconds_per_base),
        ),
        (
            "One thread counts a k-mer in",
            nano(machine.count_seconds_per_kmer),
        ),
        (
            "A byte of text is decompressed in",
            nano(machine.inflate_seconds_per_byte),
        ),
        (
            "Threads",
            format!("{}, worth {:.2}", machine.threads, machine.gain_of_threads),
        ),
        ("Inputs", bytes(data.stored as u64)),
        ("Super-k-mers", bytes(data.super_kmers as u64)),
        ("Database", bytes(data.output as u64)),
    ];
    body.push_str("<h2>What was measured</h2>\n<table>\n");
    for (name, value) in rows {
        put_line(
            body,
            format_args!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>"),
        );
    }
    body.push_str("</table>\n");
}

/// All of it as an object.
pub fn bottleneck_json(all: &[Alternative], data: &CountedData) -> Value {
    let one = |one: &Alternative| {
        let stages = one.predicted.stages;
        json!({
            "what": one.what, "total_s": stages.total(), "read_s": stages.read,
            "count_s": stages.count, "write_s": stages.write,
            "held_up_by": one.predicted.holds_up(), "machine": one.machine,
        })
    };
    json!({
        "alternatives": all.iter().map(one).collect::<Vec<_>>(),
        "data": {
            "stored_bytes": data.stored, "inflated_bytes": data.inflated, "bases": data.bases,
            "kmers": data.kmers, "super_kmer_bytes": data.super_kmers,
            "output_bytes": data.output, "spilled_bytes": data.spilled,
            "in_memory_bytes": data.in_memory,
        },
    })
}
