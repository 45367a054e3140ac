//! The files of an assembly.

use std::io::{self, Write};
use std::path::Path;

use gyrase_assemble::{HeaderStyle, scaffold, write};
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

/// Writes all of them.
pub fn write(
    folder: &OutputFolder,
    output: &Path,
    told: &Told,
    style: HeaderStyle,
    session: &Session,
) -> Result<()> {
    let [contigs, scaffolds, graph, table, page, report] = FILES;
    let assembled = &told.assembly.graph;
    file(folder, contigs, |out| {
        write::fasta(assembled, style, told.min_length, out)
    })?;
    file(folder, scaffolds, |out| {
        scaffold::fasta(assembled, &told.scaffolds, style, told.min_length, out)
    })?;
    file(folder, graph, |out| match &told.assembly.mixed.graph {
        Some(strains) => write::gfa_with_paths(strains, assembled, style, out),
        None => write::gfa(assembled, style, out),
    })?;
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
