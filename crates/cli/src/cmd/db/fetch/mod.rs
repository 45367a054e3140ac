//! `gyrase db fetch`.

mod check;
mod list;
mod select;

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::{grouped, things};
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::places::{self, or_standard_output};
use crate::session::Session;
use crate::sink;
use list::{List, Taker};
use select::{Chosen, Filters};

const EXAMPLES: &str = "\
Examples:
  gyrase db fetch assembly_summary.txt --level complete --per-species 2 \\
      -o files.txt --map-out map.tsv
  aria2c -i files.txt -d refs/
  gyrase db fetch --check refs/ files.txt -o again.txt
  gyrase db fetch assembly_summary.txt --taxid 561 --taxonomy taxdump/ \\
      --for curl -o files.txt
  curl --output-dir refs/ --config files.txt
  gyrase db fetch urls.txt --for wget -o files.txt
  wget -P refs/ -i files.txt

Gyrase fetches nothing itself. NCBI's tables are in genomes/refseq/bacteria/ and
its neighbours on https://ftp.ncbi.nlm.nih.gov. Without --all only the latest
version of an assembly is listed. With aria2c and curl NCBI's MD5 sums come too;
wget, which cannot rename them, leaves them out, and --check reads them from
wherever they are in the folder.";

/// List the files to download of NCBI's assemblies or of addresses, and check what arrived.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Fetch {
    /// NCBI's assembly_summary.txt, or a list of addresses, one a line; with --check the list that
    /// an earlier run made
    #[arg(value_name = "TABLE", required = true)]
    sources: Vec<PathBuf>,

    /// Which program downloads
    #[arg(long = "for", value_enum, value_name = "PROGRAM", default_value_t = Taker::Aria2c)]
    taker: Taker,

    /// List to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write the taxid of every assembly, as `db build --map` takes it
    #[arg(long, value_name = "FILE")]
    map_out: Option<PathBuf>,

    /// Check what arrived in this folder: print what is missing or damaged, and write a list of it
    /// with -o
    #[arg(long, value_name = "DIR", conflicts_with_all = ["filters", "map_out", "taker"])]
    check: Option<PathBuf>,

    // Behind the others: its heading is for all that follow.
    #[command(flatten)]
    filters: Filters,
}

impl Fetch {
    /// Writes the list, or checks it.
    pub fn run(self, session: &Session) -> Result<()> {
        // What a check says is printed, wherever the list goes.
        let said = self.check.as_ref().map(|_| places::standard_output());
        let list = match said {
            Some(_) => self.output.as_ref(),
            None => Some(or_standard_output(&self.output)),
        };
        let outputs = said.into_iter().chain(list).chain(&self.map_out);
        session.keep_apart(self.sources.iter().chain(self.filters.inputs()), outputs)?;
        match &self.check {
            Some(folder) => check::run(&self.sources, folder, self.output.as_deref(), session),
            None => self.list(session),
        }
    }

    fn list(&self, session: &Session) -> Result<()> {
        let mut list = List::default();
        let (mut chosen, filters) = (Chosen::default(), self.filters.opened()?);
        for source in &self.sources {
            match list::addresses(source)? {
                Some(addresses) => list.add_all(addresses)?,
                None => chosen.read(source, &filters)?,
            }
        }
        if !list.is_empty() && (self.filters.any() || self.map_out.is_some()) {
            return Err(Failure::usage(
                "addresses tell nothing to choose them by and no taxid; leave the filters and \
                 --map-out out, or name NCBI's assembly_summary.txt",
            ));
        }
        let assemblies = chosen.finish(&filters);
        let mut map = String::from("accession\ttaxid\n");
        for assembly in &assemblies {
            list.add_assembly(assembly, self.taker)?;
            // Writing to a string cannot fail.
            let _ = writeln!(map, "{}\t{}", assembly.accession, assembly.taxid);
        }
        if let Some(path) = &self.map_out {
            sink::write_all(Some(path), map.as_bytes())?;
        }
        sink::write_all(self.output.as_deref(), list.text(self.taker).as_bytes())?;
        session.note(
            "counts",
            json!({
                "read": chosen.read, "assemblies": assemblies.len(), "files": list.len(),
                "without_files": chosen.without_files,
            }),
        );
        self.say(&chosen, assemblies.len(), &list);
        Ok(())
    }

    fn say(&self, chosen: &Chosen, assemblies: usize, list: &List) {
        if chosen.read > 0 {
            tracing::info!(
                "{} of {} assemblies chosen",
                grouped(assemblies as u64),
                grouped(chosen.read)
            );
        }
        if chosen.without_files > 0 {
            tracing::warn!(
                "{} of what was asked for have no files at NCBI, and are left out",
                grouped(chosen.without_files)
            );
        }
        if list.is_empty() {
            tracing::warn!("nothing is listed: no assembly of the table is as asked for");
            return;
        }
        if let Some(path) = &self.output {
            let (path, files) = (path.display(), things(list.len() as u64, "file"));
            tracing::info!(
                "{path}: {files}; download with: {}",
                self.taker.command(&path)
            );
        }
    }
}
