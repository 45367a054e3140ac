//! A page about an assembly, in one file: the numbers that people quote, plots, its graph.
//!
//! The page needs no network and no script. Each picture is there twice, for wide and for narrow
//! screens. It depends on the reads alone, as contigs do.

mod plots;

use std::io::{self, Write};

use gyrase_picture::words::{grouped, things};
use gyrase_picture::{Page, Svg, escape, put_line};

use crate::contig::HeaderStyle;
use crate::drawing::Drawing;
use crate::graph::Way;
use crate::run::Assembled;

/// Rows of the table of contigs.
const LISTED: usize = 100;
/// Widths of pictures, in pixels.
const WIDTHS: [(&str, f64); 2] = [("wide", 960.0), ("narrow", 360.0)];

/// What a page is about.
#[derive(Debug)]
pub struct AssemblyPage<'a> {
    /// What came out.
    pub assembly: &'a Assembled,
    /// How contigs are named.
    pub style: HeaderStyle,
    /// Bases of the shortest contig that numbers are about.
    pub quoted: usize,
    /// Names of the files that were read.
    pub files: Vec<String>,
    /// What is to be seen first.
    pub warnings: Vec<String>,
}

impl AssemblyPage<'_> {
    /// Writes it; `title` may be any text.
    ///
    /// # Errors
    /// As `out` has them.
    pub fn write(&self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut body = String::new();
        self.head(&mut body);
        self.contigs(&mut body);
        self.inserts(&mut body);
        self.graph(&mut body);
        self.steps(&mut body);
        let page = Page {
            title,
            style: include_str!("page/page.css"),
            body: &body,
            script: "",
        };
        page.begin(out)?;
        page.end(out)
    }

    fn head(&self, body: &mut String) {
        let Assembled { reads, bases, .. } = *self.assembly;
        let files = escape(&self.files.join(", "));
        let read = [things(reads, "read"), things(bases, "base")].join(", ");
        put_line(
            body,
            format_args!("<p>{read} of {files}</p>\n</header>\n<main>"),
        );
        if !self.warnings.is_empty() {
            body.push_str("<ul class=\"warnings\">\n");
            for warning in &self.warnings {
                put_line(body, format_args!("<li>{}</li>", escape(warning)));
            }
            body.push_str("</ul>\n");
        }
        let contigs = self.assembly.statistics(self.quoted);
        let ((n50, l50), (n90, l90)) = (contigs.n(50), contigs.n(90));
        let gc = contigs.gc_hundredths() as f64 / 100.0;
        let depth = match self.assembly.depth.peak {
            0 => "unknown".to_owned(),
            peak => format!("{peak} ×"),
        };
        let first = self.assembly.stages.first().map_or(0, |stage| stage.k);
        let of_kmers = format!("Depth of {first}-mers");
        let sums = [
            ("Contigs", grouped(contigs.count(0) as u64)),
            ("Total length", grouped(contigs.total(0))),
            ("N50", grouped(n50)),
            ("L50", grouped(l50 as u64)),
            ("N90", grouped(n90)),
            ("L90", grouped(l90 as u64)),
            ("auN", grouped(contigs.aun_tenths() / 10)),
            ("Largest", grouped(contigs.largest())),
            ("GC", format!("{gc:.2} %")),
            (of_kmers.as_str(), depth),
        ];
        body.push_str("<dl class=\"sums\">\n");
        for (name, value) in sums {
            put_line(
                body,
                format_args!("<div><dt>{name}</dt><dd>{value}</dd></div>"),
            );
        }
        body.push_str("</dl>\n");
        put_line(
            body,
            format_args!("<p>Of contigs of {} bases or more.</p>", self.quoted),
        );
    }

    fn long(&self) -> impl Iterator<Item = Way> {
        let graph = &self.assembly.contigs;
        graph
            .nodes()
            .filter(|&way| graph.length(way) >= self.quoted)
    }

    fn contigs(&self, body: &mut String) {
        let graph = &self.assembly.contigs;
        let count = self.long().count();
        if count == 0 {
            return;
        }
        body.push_str("<section>\n<h2>Length and depth</h2>\n");
        let dots: Vec<plots::Dot> = self
            .long()
            .map(|way| plots::Dot {
                name: self.style.name(&graph.contig(way)),
                length: graph.length(way) as u64,
                depth: graph.count(way) as f64 / graph.kmers(way) as f64,
            })
            .collect();
        pictures(body, |width| plots::lengths(&dots, width));
        body.push_str("</section>\n<section class=\"long\">\n<h2>Contigs</h2>\n");
        body.push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
        for name in ["Contig", "Length", "Depth", "Circular"] {
            put_line(body, format_args!("<th scope=\"col\">{name}</th>"));
        }
        body.push_str("</tr></thead>\n<tbody>\n");
        for way in self.long().take(LISTED) {
            let contig = graph.contig(way);
            let name = escape(&self.style.name(&contig));
            let (length, depth) = (grouped(contig.length as u64), contig.depth(2));
            let circular = if contig.is_circular { "yes" } else { "no" };
            put_line(
                body,
                format_args!(
                    "<tr><th scope=\"row\">{name}</th><td>{length}</td><td>{depth}</td>\
                     <td>{circular}</td></tr>"
                ),
            );
        }
        body.push_str("</tbody></table></div>\n");
        if count > LISTED {
            let more = grouped((count - LISTED) as u64);
            put_line(body, format_args!("<p>And {more} shorter ones.</p>"));
        }
        body.push_str("</section>\n");
    }

    fn inserts(&self, body: &mut String) {
        let Some(inserts) = &self.assembly.resolved.inserts else {
            return;
        };
        let (median, deviation) = (inserts.median, inserts.deviation);
        body.push_str("<section>\n<h2>Insert size</h2>\n");
        put_line(
            body,
            format_args!(
                "<p>Median {median}, deviation {deviation} bases, of fragments within long contigs.</p>"
            ),
        );
        pictures(body, |width| plots::inserts(inserts, width));
        body.push_str("</section>\n");
    }

    fn graph(&self, body: &mut String) {
        let graph = &self.assembly.contigs;
        if graph.is_empty() {
            return;
        }
        body.push_str("<section>\n<h2>Graph</h2>\n");
        body.push_str(
            "<p>A band is a contig, wider where it was read more often; thin lines are overlaps. \
             Bandage draws graph.gfa too.</p>\n",
        );
        let drawing = Drawing::of_contigs(graph, self.style);
        pictures(body, |width| drawing.svg("", width));
        body.push_str("</section>\n");
    }

    /// What was done for each k, and what pairs joined.
    fn steps(&self, body: &mut String) {
        body.push_str("<section>\n<h2>What was done</h2>\n<div class=\"scroll\" tabindex=\"0\">\n");
        body.push_str("<table>\n<thead><tr>");
        let columns = [
            "k", "Nodes", "Tips", "Bubbles", "Links", "Isolated", "Ends", "Left",
        ];
        for name in columns {
            put_line(body, format_args!("<th scope=\"col\">{name}</th>"));
        }
        body.push_str("</tr></thead>\n<tbody>\n");
        for stage in &self.assembly.stages {
            put_line(body, format_args!("<tr><th scope=\"row\">{}</th>", stage.k));
            let cleaned = &stage.cleaned;
            let taken = [
                cleaned.tips,
                cleaned.bubbles,
                cleaned.links,
                cleaned.isolated,
                cleaned.ends,
            ];
            let (nodes, left) = (stage.nodes as u64, stage.left as u64);
            for number in [&[nodes][..], &taken, &[left]].concat() {
                put_line(body, format_args!("<td>{}</td>", grouped(number)));
            }
            body.push_str("</tr>\n");
        }
        body.push_str("</tbody></table></div>\n");
        let resolved = &self.assembly.resolved;
        let joins = things(resolved.pairs.len() as u64, "join");
        let support = resolved.pairs.get(resolved.pairs.len() / 2);
        let support = support.map_or(String::new(), |pairs| {
            let least = resolved.pairs.first().unwrap_or(pairs);
            format!(
                ", each by {} pairs or more, {} in the median",
                grouped(*least),
                grouped(*pairs)
            )
        });
        let open = things(resolved.open.len() as u64, "place");
        put_line(
            body,
            format_args!(
                "<p>Pairs made {joins}{support}; {open} stayed open, since several ways fit or none.\
                 </p>\n</section>\n</main>"
            ),
        );
    }
}

/// A picture for each kind of screen.
fn pictures(body: &mut String, draw: impl Fn(f64) -> Svg) {
    for (class, width) in WIDTHS {
        let svg = draw(width).finish();
        put_line(body, format_args!("<div class=\"{class}\">{svg}</div>"));
    }
}
