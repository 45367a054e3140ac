//! A picture of every genome that reads were found in.

use std::cmp::Reverse;
use std::collections::HashSet;

use gyrase_classify::report::{self, Covered};
use gyrase_classify::tally::Depth;
use gyrase_classify::{Catalogue, Genomes, ReferenceGenome, TargetId};

use crate::failure::Result;
use crate::sink::{Folder, Sink};

/// Pictures that are drawn, of the genomes with the most reads.
pub const MOST: usize = 500;

/// Draws the pictures into `folder`; they are yet to be finished.
pub fn draw(folder: &Folder, catalogue: &Catalogue, depth: &Depth) -> Result<Vec<Sink>> {
    let genomes = Genomes::new(&catalogue.targets);
    let sum = |genome: &ReferenceGenome| {
        reads_of(catalogue, depth, genome)
            .into_iter()
            .map(u64::from)
            .sum::<u64>()
    };
    let mut hit: Vec<_> = genomes
        .iter()
        .map(|genome| (sum(genome), genome))
        .filter(|&(reads, _)| reads > 0)
        .collect();
    hit.sort_by_key(|&(reads, _)| Reverse(reads));
    hit.truncate(MOST);
    let mut taken = HashSet::new();
    let draw_one = |(_, genome): (u64, &ReferenceGenome)| {
        let mut sink = Sink::open(Some(&folder.file(&file(catalogue, genome, &mut taken))))?;
        let written = picture(
            catalogue,
            genome,
            &reads_of(catalogue, depth, genome),
            &mut sink,
        );
        written.map_err(|source| sink.error(source))?;
        Ok(sink)
    };
    hit.into_iter().map(draw_one).collect()
}

/// Reads in every window of a genome.
fn reads_of(catalogue: &Catalogue, depth: &Depth, genome: &ReferenceGenome) -> Vec<u32> {
    genome
        .targets
        .iter()
        .flat_map(|&target| depth.of(catalogue.targets.windows(target)))
        .collect()
}

fn picture(
    catalogue: &Catalogue,
    genome: &ReferenceGenome,
    reads: &[u32],
    out: &mut Sink,
) -> std::io::Result<()> {
    let taxonomy = &catalogue.taxonomy;
    let (name, taxid) = (taxonomy.name(genome.taxon), taxonomy.taxid(genome.taxon));
    let shape = |&target: &TargetId| {
        let target = catalogue.targets.get(target);
        (target.windows as usize, target.letters)
    };
    let sequences: Vec<(usize, u64)> = genome.targets.iter().map(shape).collect();
    let name = format!("{name} (taxid {taxid}), {}", first_name(catalogue, genome));
    let stride = catalogue.parameters.sketch.stride() as u32;
    report::coverage(
        &Covered {
            name: &name,
            reads,
            stride,
            sequences: &sequences,
        },
        out,
    )
}

fn first_name<'i>(catalogue: &'i Catalogue, genome: &ReferenceGenome) -> &'i str {
    genome
        .targets
        .first()
        .map_or("", |&target| &catalogue.targets.get(target).name)
}

/// A name for the picture of a genome that no other has.
fn file(catalogue: &Catalogue, genome: &ReferenceGenome, taken: &mut HashSet<String>) -> String {
    let known = |letter: char| {
        if letter.is_ascii_alphanumeric() || ".-_".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    let name: String = first_name(catalogue, genome)
        .chars()
        .take(100)
        .map(known)
        .collect();
    let stem = format!("{}_{name}", catalogue.taxonomy.taxid(genome.taxon));
    let numbered = (2..).map(|number| format!("{stem}_{number}"));
    let free = [stem.clone()]
        .into_iter()
        .chain(numbered)
        .find(|stem| taken.insert(stem.clone()));
    format!("{}.svg", free.expect("numbers do not end"))
}
