//! Whole assemblies of small genomes with a known truth.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use gyrase_assemble::{
    Assembled, AssemblyError, Config, Graph, HeaderStyle, Library, Outputs, Sample, forget, run,
    run_in,
};
use gyrase_fabric::{Alone, Steal, World, testing};
use gyrase_kmer::mix;
use gyrase_work::Progress;

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        ((u128::from(mix(mix(self.0))) * end as u128) >> 64) as usize
    }

    fn bases(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| b"ACGT"[self.below(4)]).collect()
    }
}

/// A genome with a repeat of 600 bases in three places, one of them on the other strand.
fn genome(dice: &mut Dice) -> Vec<u8> {
    let repeat = dice.bases(600);
    let other = gyrase_seq::reverse_complement(&repeat);
    let mut genome = Vec::new();
    for repeat in [&repeat, &other, &repeat] {
        genome.extend(dice.bases(6000));
        genome.extend(repeat);
    }
    genome.extend(dice.bases(5000));
    genome
}

/// Pairs of reads of 100 bases, one base in 200 wrong, as two files of FASTQ.
fn sequence(genome: &[u8], pairs: usize, dice: &mut Dice) -> [String; 2] {
    let mut files = [String::new(), String::new()];
    for pair in 0..pairs {
        let length = 260 + dice.below(80);
        let start = dice.below(genome.len() - length);
        let mut fragment = genome[start..start + length].to_vec();
        if dice.below(2) == 1 {
            fragment = gyrase_seq::reverse_complement(&fragment);
        }
        let mates = [
            fragment[..100].to_vec(),
            gyrase_seq::reverse_complement(&fragment[length - 100..]),
        ];
        for (mut mate, file) in mates.into_iter().zip(&mut files) {
            for base in &mut mate {
                if dice.below(200) == 0 {
                    *base = b"ACGT"[dice.below(4)];
                }
            }
            let letters = String::from_utf8(mate).expect("bases are letters");
            writeln!(file, "@r{pair}\n{letters}\n+\n{}", "I".repeat(100)).expect("it is a string");
        }
    }
    files
}

fn assemble(folder: &Path, reads: &[String; 2], threads: usize) -> Assembled {
    assemble_of(folder, reads, threads, Sample::Isolate)
}

fn assemble_of(folder: &Path, reads: &[String; 2], threads: usize, sample: Sample) -> Assembled {
    let config = Config {
        sample,
        ..config(folder, reads, threads)
    };
    run(&config, &Progress::default()).expect("the reads are sound")
}

fn config(folder: &Path, reads: &[String; 2], threads: usize) -> Config {
    let names = [1, 2].map(|mate| folder.join(format!("r_{mate}.fq")));
    for (name, text) in names.iter().zip(reads) {
        std::fs::write(name, text).expect("the folder is there");
    }
    let [one, two] = names;
    Config {
        libraries: vec![Library::Paired(one, two)],
        sample: Sample::Isolate,
        tmp: folder.to_path_buf(),
        output: folder.join("asm"),
        threads,
        memory: 1 << 30,
        ks: None,
        resume: false,
    }
}

/// Contigs, scaffolds and graph, as all processes write them.
fn written_in(
    folder: &Path,
    assembly: &Assembled,
    world: &dyn World,
) -> Result<[String; 3], AssemblyError> {
    let files = ["contigs.fa", "scaffolds.fa", "graph.gfa"].map(|name| folder.join(name));
    let [contigs, scaffolds, graph] = &files;
    let outputs = Outputs {
        contigs,
        scaffolds,
        graph,
        style: HeaderStyle::Own,
        least: 200,
    };
    let config = config(folder, &[String::new(), String::new()], 2);
    let (scaffolds, progress) = (assembly.scaffolds(), Progress::default());
    assembly.write(&scaffolds, &outputs, &config, world, &progress)?;
    // The first process gives each file its name.
    Ok(files.map(|file| std::fs::read_to_string(file).unwrap_or_default()))
}

fn written(assembly: &Assembled) -> [String; 3] {
    let folder = tempfile::tempdir().expect("there is room");
    written_in(folder.path(), assembly, &Alone).expect("there is room")
}

fn gfa(assembly: &Assembled) -> String {
    let [_, _, graph] = written(assembly);
    graph
}

#[test]
fn contigs_are_stretches_of_the_genome_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..3 {
        let mut dice = Dice(seed << 32);
        let genome = genome(&mut dice);
        let reads = sequence(&genome, genome.len() / 5, &mut dice);
        let assembly = assemble(folder.path(), &reads, 1);
        let other = gyrase_seq::reverse_complement(&genome);
        let mut covered = 0;
        let contigs = assembly.graph.own();
        for way in contigs.nodes().filter(|&way| contigs.length(way) >= 200) {
            let codes = contigs.codes(way);
            let letters: Vec<u8> = codes.iter().map(|&code| gyrase_seq::decode(code)).collect();
            let is_in = |whole: &[u8]| {
                whole
                    .windows(letters.len())
                    .any(|stretch| stretch == letters)
            };
            assert!(
                is_in(&genome) || is_in(&other),
                "seed {seed}: {}",
                letters.len()
            );
            covered += letters.len();
        }
        // The repeat is there once, and what is short is left out.
        assert!(covered > genome.len() - 1400, "seed {seed}: {covered}");
        for threads in [2, 3, 7] {
            let again = assemble(folder.path(), &reads, threads);
            assert_eq!(gfa(&again), gfa(&assembly), "{threads} threads");
        }
    }
}

#[test]
fn processes_that_share_reads_make_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(5 << 32);
    let genome = genome(&mut dice);
    let reads = sequence(&genome, genome.len() / 5, &mut dice);
    let expected = assemble(folder.path(), &reads, 1);
    let config = config(folder.path(), &reads, 2);
    for ranks in [2, 3] {
        let together = tempfile::tempdir().expect("there is room");
        let process = |world: &testing::Process| {
            let made = run_in(&config, world, &Progress::default())?;
            let text = written_in(together.path(), &made, world)?;
            let pairs = made.resolved.pairs.clone();
            Ok::<_, AssemblyError>((text, pairs, made.reads, made.bases, made.stages))
        };
        for (rank, made) in testing::run(ranks, Steal::Off, process)
            .into_iter()
            .enumerate()
        {
            let (text, pairs, reads, bases, stages) = made.unwrap();
            assert!(rank > 0 || text == written(&expected), "{ranks} processes");
            assert_eq!(pairs, expected.resolved.pairs);
            assert_eq!((reads, bases), (expected.reads, expected.bases));
            assert_eq!(stages, expected.stages);
        }
    }
}

#[test]
fn a_run_goes_on_behind_any_k() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(6 << 32);
    let genome = genome(&mut dice);
    let reads = sequence(&genome, genome.len() / 5, &mut dice);
    let expected = assemble(folder.path(), &reads, 1);
    let mut config = config(folder.path(), &reads, 2);
    config.resume = true;
    let run = |config: &Config| run(config, &Progress::default()).unwrap();
    assert_eq!(run(&config).resumed.behind, None);
    let is_kept = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "batches");
    let logs = || {
        let folders = std::fs::read_dir(folder.path()).unwrap().flatten();
        let files = folders.filter_map(|entry| std::fs::read_dir(entry.path()).ok());
        let mut logs: Vec<_> = files
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(is_kept)
            .collect();
        logs.sort();
        logs
    };
    // As if it had been cut short behind each k.
    let log = logs().swap_remove(0);
    let lines = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    for (number, stage) in expected.stages.iter().enumerate() {
        std::fs::write(&log, lines[..number + 2].join("\n") + "\n").unwrap();
        let again = run(&config);
        assert_eq!(again.resumed.behind, Some(stage.k));
        assert_eq!(gfa(&again), gfa(&expected), "behind {}", stage.k);
        assert_eq!(again.stages, expected.stages);
    }
    // Several processes keep a share each, and any number of them go on.
    forget(&config);
    let place = tempfile::tempdir().expect("there is room");
    let run_by = |ranks: usize| {
        let process = |world: &testing::Process| {
            let again = run_in(&config, world, &Progress::default())?;
            let text = written_in(place.path(), &again, world)?;
            Ok::<_, AssemblyError>((again.resumed.behind, text))
        };
        testing::run(ranks, Steal::Off, process)
            .swap_remove(0)
            .expect("no process fails")
    };
    assert_eq!(run_by(3).0, None);
    // One of them was cut short before the others.
    let log = logs().swap_remove(1);
    let lines = std::fs::read_to_string(&log).expect("each process has a log");
    let last = lines.trim_end().rfind('\n').expect("it has several lines");
    std::fs::write(&log, &lines[..=last]).expect("there is room");
    let ks: Vec<usize> = expected.stages.iter().map(|stage| stage.k).collect();
    let &[.., before, last] = &ks[..] else {
        panic!("{ks:?}");
    };
    for (ranks, behind) in [(2, before), (3, last), (1, last)] {
        assert_eq!(run_by(ranks), (Some(behind), written(&expected)), "{ranks}");
    }
    config.ks = Some(vec![55]);
    let other = run(&config).resumed;
    assert!(other.had_other && other.behind.is_none());
    forget(&config);
    assert!(logs().is_empty());
}

#[test]
fn pairs_scaffold_what_no_read_covers() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(9 << 32);
    let genome = dice.bases(20_000);
    // No read covers any of a stretch, and fragments lead over it.
    let hole = 10_000..10_050;
    let mut files = [String::new(), String::new()];
    for pair in 0..6000 {
        let length = 260 + dice.below(80);
        let start = dice.below(genome.len() - length);
        let [one, two] = [start..start + 100, start + length - 100..start + length];
        let hit = |read: &std::ops::Range<usize>| read.start < hole.end && hole.start < read.end;
        if hit(&one) || hit(&two) {
            continue;
        }
        let mates = [
            genome[one].to_vec(),
            gyrase_seq::reverse_complement(&genome[two]),
        ];
        for (mate, file) in mates.iter().zip(&mut files) {
            let letters = std::str::from_utf8(mate).unwrap();
            writeln!(file, "@r{pair}\n{letters}\n+\n{}", "I".repeat(100)).unwrap();
        }
    }
    let assembly = assemble(folder.path(), &files, 2);
    let scaffolds = assembly.scaffolds();
    assert_eq!(assembly.resolved.pairs.len(), 0);
    let [_, text, _] = written(&assembly);
    let first = text.split('>').nth(1).expect("there is a scaffold");
    let letters: Vec<u8> = first.lines().skip(1).flat_map(str::bytes).collect();
    assert_eq!(letters.len(), scaffolds[0].length);
    let [(gap, pairs)] = scaffolds[0].gaps[..] else {
        panic!("{:?}", scaffolds[0].gaps);
    };
    let parts: Vec<&[u8]> = letters
        .split(|&letter| letter == b'N')
        .filter(|part| !part.is_empty())
        .collect();
    let [one, two] = parts[..] else {
        panic!("{} parts", parts.len());
    };
    let other = gyrase_seq::reverse_complement(&genome);
    let find =
        |strand: &[u8], part: &[u8]| strand.windows(part.len()).position(|window| window == part);
    let strand = [&genome, &other]
        .into_iter()
        .find(|strand| find(strand, one).is_some())
        .unwrap();
    let (one, end) = (
        find(strand, two).unwrap(),
        find(strand, one).unwrap() + one.len(),
    );
    let missing = one as i64 - end as i64;
    assert!(
        (gap - missing).abs() <= 15 && pairs >= 4,
        "{gap} of {missing}, {pairs}"
    );
    assert!(one > 9000 && one < 11_000);
}

#[test]
fn without_kmers_there_are_no_contigs() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["", "@r\nACGT\n+\nIIII\n", "@r\nNNNNNNNNNN\n+\nIIIIIIIIII\n"] {
        let assembly = assemble(folder.path(), &[text.into(), text.into()], 2);
        assert!(assembly.contigs.is_empty());
        assert_eq!(gfa(&assembly), "H\tVN:Z:1.0\n");
    }
}

/// The k-mers of some sequences on both strands.
fn kmers<'s>(sequences: impl IntoIterator<Item = &'s [u8]>) -> HashSet<Vec<u8>> {
    let both = |letters: &[u8]| [letters.to_vec(), gyrase_seq::reverse_complement(letters)];
    let strands = sequences.into_iter().flat_map(both);
    strands
        .flat_map(|letters| letters.windows(31).map(<[u8]>::to_vec).collect::<Vec<_>>())
        .collect()
}

#[test]
fn genomes_of_a_metagenome_are_there_at_their_own_depths() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(77 << 32);
    let genomes: Vec<Vec<u8>> = (0..3).map(|_| dice.bases(8000)).collect();
    let mut strain = genomes[0].clone();
    for place in (300..8000).step_by(400) {
        strain[place] = if strain[place] == b'A' { b'C' } else { b'A' };
    }
    let mut files = [String::new(), String::new()];
    // Pairs of 200 bases.
    for (genome, depth) in [
        (&genomes[0], 25),
        (&strain, 10),
        (&genomes[1], 60),
        (&genomes[2], 6),
    ] {
        let mates = sequence(genome, genome.len() * depth / 200, &mut dice);
        files
            .iter_mut()
            .zip(mates)
            .for_each(|(file, mate)| file.push_str(&mate));
    }
    let mixed = |keep_strains| Sample::Metagenome { keep_strains };
    let letters = |graph: &Graph, least: usize| -> Vec<Vec<u8>> {
        let long = graph.nodes().filter(|&way| graph.length(way) >= least);
        let letters = |way| graph.codes(way).into_iter().map(gyrase_seq::decode);
        long.map(|way| letters(way).collect()).collect()
    };
    let assembly = assemble_of(folder.path(), &files, 1, mixed(false));
    let found = letters(assembly.graph.own(), 200);
    let there = kmers(found.iter().map(Vec::as_slice));
    for (genome, percent) in genomes.iter().zip([97, 97, 85]) {
        let windows = genome.windows(31);
        let seen = windows
            .clone()
            .filter(|window| there.contains(*window))
            .count();
        assert!(
            seen * 100 >= windows.len() * percent,
            "{seen} of {}",
            windows.len()
        );
    }
    // Hardly anything is there that no genome has: a thin end of one read, perhaps.
    let true_kmers = kmers(genomes.iter().map(Vec::as_slice));
    let wrong = there.difference(&true_kmers).count();
    assert!(wrong * 50 < there.len(), "{wrong} of {}", there.len());
    assert!(
        found.iter().any(|letters| letters.len() > 7800),
        "the deep ones are whole"
    );
    // The strain is in contigs where it is asked for.
    let of_strain = kmers([strain.as_slice()]);
    let kept = assemble_of(folder.path(), &files, 3, mixed(true));
    assert!(
        assembly.mixed.strains > 10 && assembly.mixed.graph.is_some() && kept.mixed.graph.is_none(),
        "{} {:?}",
        assembly.mixed.strains,
        assembly.stages
    );
    let own: Vec<&Vec<u8>> = of_strain.difference(&true_kmers).collect();
    let percent = |letters: &[Vec<u8>]| {
        let there = kmers(letters.iter().map(Vec::as_slice));
        own.iter().filter(|kmer| there.contains(**kmer)).count() * 100 / own.len()
    };
    let seen = [percent(&found), percent(&letters(kept.graph.own(), 0))];
    assert!(seen[0] < 15 && seen[1] > 60, "{seen:?}");
    // Processes, a run that goes on behind the last k, and the order of the files.
    let mut config = config(folder.path(), &files, 3);
    config.sample = mixed(false);
    let together = tempfile::tempdir().expect("there is room");
    let process = |world: &testing::Process| {
        let again = run_in(&config, world, &Progress::default())?;
        let text = written_in(together.path(), &again, world)?;
        Ok::<_, AssemblyError>((text, again.mixed.spared))
    };
    let shared = testing::run(2, Steal::Off, process);
    let shared: Result<Vec<_>, _> = shared.into_iter().collect();
    let (text, spared) = shared.expect("no process fails").swap_remove(0);
    assert_eq!(text, written(&assembly));
    assert_eq!(spared, assembly.mixed.spared);
    config.resume = true;
    for behind in [None, Some(87)] {
        let again = run(&config, &Progress::default()).unwrap();
        assert_eq!(
            (again.resumed.behind, gfa(&again)),
            (behind, gfa(&assembly))
        );
        assert_eq!(again.mixed.spared, assembly.mixed.spared);
    }
    forget(&config);
    let [one, two] = files;
    let again = assemble_of(folder.path(), &[two, one], 2, mixed(false));
    assert_eq!(gfa(&again), gfa(&assembly));
}

#[test]
fn reads_without_one_depth_are_assembled_as_those_of_many_genomes() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(11 << 32);
    let one = genome(&mut dice);
    let thin = sequence(&one, one.len() / 50, &mut dice);
    // A little of one genome is deep, and most of another thin.
    let mut of_several = sequence(&one[..1500], 500, &mut dice);
    let others = sequence(&dice.bases(30_000), 600, &mut dice);
    of_several
        .iter_mut()
        .zip(&others)
        .for_each(|(file, other)| file.push_str(other));
    let keep_strains = false;
    let mixed = Sample::Metagenome { keep_strains };
    for reads in [thin, of_several] {
        let found = assemble(folder.path(), &reads, 2);
        assert_eq!(found.sample, mixed);
        let expected = assemble_of(folder.path(), &reads, 2, mixed);
        assert!(!found.contigs.is_empty() && found.mixed.cut <= expected.mixed.cut);
        assert_eq!(found.mixed.spared, expected.mixed.spared);
    }
}

#[test]
fn reads_that_are_shorter_than_an_anchor_are_assembled() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(17 << 32);
    let genome = dice.bases(3000);
    let reads = sequence(&genome, 1000, &mut dice).map(|file| {
        let short = file.lines().map(|line| &line[..line.len().min(33)]);
        short.map(|line| format!("{line}\n")).collect::<String>()
    });
    let keep_strains = false;
    let found = assemble_of(
        folder.path(),
        &reads,
        2,
        Sample::Metagenome { keep_strains },
    );
    assert!(found.graph.k() < 31 && found.contigs.total() > genome.len() / 2);
    assert!(found.resolved.inserts.is_none(), "nodes are short");
}
