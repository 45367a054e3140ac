//! The second half of the demonstration: a database of references, and the taxa of reads.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use clap::{Args, Parser};
use gyrase_picture::words::{grouped, percent};

use super::said::print;
use crate::cmd::classify::Classify;
use crate::cmd::db::Db;
use crate::cmd::simulate::Simulate;
use crate::failure::{Code, Failure, Result};
use crate::session::Session;
use crate::sink;

/// Reads of which so many in a hundred must get their species.
const LEAST_RIGHT: usize = 95;

/// What is typed, a word with a dot being the name of a file; beside it what the line is for.
const SIMULATE: &str = "simulate community -o sample_1.fq --out2 sample_2.fq --genomes-out refs.fa \
                        --truth truth.tsv --abundances abundances.tsv --genome-length 60000 \
                        --coverage 4";
const BUILD: &str = "db build refs.fa --taxonomy lineages.tsv -o refs.gydb";
const CLASSIFY: &str = "classify --db refs.gydb sample_1.fq sample_2.fq -o answers.tsv \
                        --kreport sample.kreport";

#[derive(Parser)]
struct Typed<A: Args> {
    #[command(flatten)]
    verb: A,
}

/// Simulates a sample of three species, builds a database of their genomes, classifies the sample
/// and compares what comes of it with the truth.
pub fn show(folder: &Path, session: &Session) -> Result<()> {
    print("\nGyrase says which taxon each read comes from. Here it does so for three species.\n")?;
    typed::<Simulate>(SIMULATE, folder)?.run(session)?;
    print("  two genomes of each species, read at different depths\n")?;
    write_lineages(folder)?;
    print("$ column -t lineages.tsv    # says of each genome what it is")?;
    print(&indented(&text(folder, "lineages.tsv")?))?;
    typed::<Db>(BUILD, folder)?.run(session)?;
    print("")?;
    typed::<Classify>(CLASSIFY, folder)?.run(session)?;
    print(
        "\n$ cat sample.kreport    # percent, reads of the clade and of the taxon, rank, taxid, name",
    )?;
    print(&indented(&text(folder, "sample.kreport")?))?;
    check(folder)
}

/// Prints the line, and parses it with the names of files in the folder.
fn typed<A: Args>(line: &str, folder: &Path) -> Result<A> {
    print(&format!("$ gyrase {line}"))?;
    let here = |word: &str| match word.contains('.') {
        true => folder.join(word).into_os_string(),
        false => word.into(),
    };
    // The first word of a family of verbs is its name; of one verb alone, that of the program.
    let words = line.split_whitespace().map(here);
    let parsed = Typed::<A>::try_parse_from(words);
    Ok(parsed
        .map_err(|error| Failure::new(Code::Internal, error))?
        .verb)
}

/// A table of lineages, as `gyrase db build --taxonomy` takes it, of the simulated genomes.
fn write_lineages(folder: &Path) -> Result<()> {
    let mut table = String::from("id\tgenus\tspecies\n");
    let references = text(folder, "refs.fa")?;
    for name in references.lines().filter_map(|line| line.strip_prefix('>')) {
        let species = species_of(name);
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name}\tSimulata\tSimulata {species}");
    }
    sink::write_all(Some(&folder.join("lineages.tsv")), table.as_bytes())
}

/// `species1` of `species1_strain2_1:5-9:+:7`.
fn species_of(name: &str) -> &str {
    name.split('_').next().unwrap_or_default()
}

/// Compares the answers with the names of the reads, which say where they come from.
fn check(folder: &Path) -> Result<()> {
    let kreport = text(folder, "sample.kreport")?;
    let names: HashMap<&str, &str> = kreport
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            Some((*fields.get(4)?, fields.get(5)?.rsplit(' ').next()?))
        })
        .collect();
    let answers = text(folder, "answers.tsv")?;
    let is_right = |line: &&str| {
        let mut fields = line.split('\t').skip(1);
        let species = fields.next().map(species_of);
        species.is_some() && fields.next().and_then(|taxid| names.get(taxid).copied()) == species
    };
    let (all, right) = (
        answers.lines().count(),
        answers.lines().filter(is_right).count(),
    );
    print("Check")?;
    print(&format!(
        "  of {} pairs {} got the species that they were simulated from ({})",
        grouped(all as u64),
        grouped(right as u64),
        percent(right as u64, all as u64)
    ))?;
    if all > 0 && right * 100 >= all * LEAST_RIGHT {
        return Ok(());
    }
    Err(Failure::new(
        Code::Internal,
        format!("fewer than {LEAST_RIGHT} % of the pairs got their species"),
    ))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn text(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    std::fs::read_to_string(&path).map_err(|error| {
        Failure::new(
            Code::Output,
            format!("cannot read {}: {error}", path.display()),
        )
    })
}
