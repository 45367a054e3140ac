//! The files of an assembly.

use std::io::{self, Write};
use std::path::Path;

use gyrase_assemble::{Assembled, Config, HeaderStyle, Outputs, Scaffold};
use gyrase_files::OutputFolder;

use super::tell::{QUOTED, Told};
use crate::failure::Result;
use crate::session::Session;
use crate::sink::Sink;

/// What the folder holds.
pub const FILES: [&str; 6] = [
    "contigs.fa",
    "scaffolds.fa",
    "graph.gfa",
    "report.tsv",
    "report.html",
    "report.json",
];

/// Writes those that have bases: all processes do, each its part.
pub fn write_bases(
    folder: &Path,
    (assembly, scaffolds): (&Assembled, &[Scaffold]),
    config: &Config,
    (style, least): (HeaderStyle, usize),
    session: &Session,
) -> Result<()> {
    let [contigs, of_scaffolds, graph, ..] = FILES.map(|name| folder.join(name));
    let outputs = Outputs {
        contigs: &contigs,
        scaffolds: &of_scaffolds,
        graph: &graph,
        style,
        least,
    };
    let world = session.world();
    Ok(session.shown(|progress| assembly.write(scaffolds, &outputs, config, world, progress))?)
}

/// Writes the others.
pub fn write(
    folder: &OutputFolder,
    output: &Path,
    told: &Told,
    style: HeaderStyle,
    session: &Session,
) -> Result<()> {
    let [.., table, page, report] = FILES;
    let name = output.file_name().unwrap_or(output.as_os_str());
    let name = name.to_string_lossy();
    let [quoted, all] = [QUOTED, told.min_length].map(|least| told.assembly.statistics(least));
    file(folder, table, |out| quoted.write(&all, &name, out))?;
    file(folder, page, |out| told.page(style).write(&name, out))?;
    let report_of_run = format!("{:#}\n", session.report()?);
    file(folder, report, |out| {
        out.write_all(report_of_run.as_bytes())
    })
}

fn file(
    folder: &OutputFolder,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut sink = Sink::open(Some(&folder.file(name)))?;
    write(&mut sink).map_err(|source| sink.error(source))?;
    sink.finish()
}
