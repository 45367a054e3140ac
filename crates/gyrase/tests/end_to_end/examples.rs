//! The examples of `--help`, of README.md and of `docs/`: each is run as it stands, on small data
//! of the names that it has.

use std::path::Path;
use std::sync::Mutex;

use crate::classify;
use crate::howto::{script, shell};
use crate::place::{Place, gzip};

/// Programs that examples call beside `gyrase`, and what stands in for them.
const OTHERS: [(&str, &str); 12] = [
    // What it would download: genomes, and NCBI's sums of them.
    (
        "aria2c",
        "cd refs
        for name in $(sed -n 's/^  out=//p' ../files.txt); do
            case $name in
                *.gz) cp ../new.fna.gz $name ;;
                *) md5sum ${name%_md5checksums.txt}_genomic.fna.gz > $name ;;
            esac
        done",
    ),
    ("jellyfish", "cat counts.txt"),
    // A service that begins, is asked to stop, and stops.
    (
        "served",
        "rm -f served.log
        gyrase serve \"$@\" 2> served.log &
        until grep -q 'serving at' served.log 2> /dev/null; do kill -0 $! || break; sleep 0.05; done
        kill $!
        wait $! || { cat served.log; exit 1; }",
    ),
    ("curl", "exit 0"),
    ("wget", "exit 0"),
    ("jq", "cat > /dev/null"),
    ("man", "cat > /dev/null"),
    ("samtools", "cat r_1.fq"),
    ("mpicc.mpich", "exit 1"),
    ("mpirun", "shift 2; exec \"$@\""),
    ("Bandage", "exit 0"),
    (
        "nvidia-smi",
        "printf '\\tGPU0\\tGPU1\\nGPU0\\tX\\tNV2\\nGPU1\\tNV2\\tX\\n'",
    ),
];

/// What examples name that is large, or somewhere else, or a taxon that the small taxonomy lacks.
const SMALLER: [(&str, &str); 18] = [
    ("ssd --paper", "ssd --batches 1 --paper"),
    (
        "lab ssd --paper",
        "lab ssd --letters 10000 --batches 1 --paper",
    ),
    ("lab where reads", "lab where --sample 100K reads"),
    ("--length 20000000", "--length 200000"),
    ("--length 5000000", "--length 50000"),
    ("--tmp /scratch", "--tmp tmp"),
    ("/shared/", ""),
    ("--memory 8G", "--memory 300M"),
    ("--memory 16G", "--memory 300M"),
    ("--taxid 1239 -o", "--taxid 562 -o"),
    ("asm/graph.gfa --around contig_7", "g.gfa.gz --around 12"),
    ("gyrase serve ", "served --listen 127.0.0.1:0 "),
    ("/var/lib/gyrase", "jobs"),
    ("127.0.0.1:9090", "127.0.0.1:0"),
    // Nor has every machine several GPUs, or one.
    ("--bytes 1G --gpu 0,1,2,3,4,5,6,7", "--bytes 100K --seeds 2"),
    (" --gpu 0,1,2,3", ""),
    ("--gpu 0", "--gpu auto"),
    // Not every machine knows authorities of certificates.
    ("-origin https://hooks", "-origin http://hooks"),
];

/// Verbs whose examples need what not every machine has: a compiler for MPI, another machine.
const ELSEWHERE: [&str; 4] = ["mpi-setup", "receive", "send", "64DIGITS"];

/// Every verb, with what its help says.
fn verbs(place: &Place, verb: &[&str], found: &mut Vec<(String, String)>) {
    let help = place.ok(&[verb, &["--help"]].concat());
    let commands = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    for line in commands.lines().take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().unwrap();
        // Lines that go on begin further to the right.
        if line.starts_with("  ") && !line.starts_with("   ") {
            verbs(place, &[verb, &[name]].concat(), found);
        }
    }
    found.push((verb.join(" "), help));
}

/// The commands below `Examples:`: two spaces before, two or more behind; `\` goes on.
fn examples(help: &str) -> Vec<String> {
    let Some((_, text)) = help.split_once("\nExamples:\n") else {
        return Vec::new();
    };
    let (mut found, mut goes_on) = (Vec::<String>::new(), false);
    for line in text.lines().take_while(|line| !line.is_empty()) {
        let begins = line.starts_with("  ") && !line.starts_with("   ");
        if !begins && !goes_on {
            continue;
        }
        let words = line.trim();
        let command = words.split("  ").next().unwrap();
        let (command, more) = match words.ends_with('\\') {
            true => (words.trim_end_matches('\\'), true),
            false => (command, false),
        };
        match goes_on {
            true => found.last_mut().unwrap().push_str(command),
            false => found.push(command.to_owned()),
        }
        goes_on = more;
    }
    found
}

/// The commands of a page: lines of `gyrase` that are set in, up to what is said of them.
fn commands(page: &str) -> Vec<String> {
    let (mut found, mut goes_on) = (Vec::<String>::new(), false);
    for line in page.lines() {
        if !goes_on && !line.starts_with("    gyrase ") {
            continue;
        }
        let words = line.split("  #").next().unwrap().trim();
        match goes_on {
            true => found
                .last_mut()
                .unwrap()
                .push_str(words.trim_end_matches('\\')),
            false => found.push(words.trim_end_matches('\\').to_owned()),
        }
        goes_on = words.ends_with('\\');
    }
    found.retain(|command| ELSEWHERE.iter().all(|verb| !command.contains(verb)));
    found
}

/// The pages of which only `gyrase` is run here, with their commands.
fn pages() -> Vec<(String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = std::fs::read_dir(root.join("docs")).unwrap();
    let pages = entries.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages
        .chain([root.join("README.md")])
        .map(|page| {
            let name = page.file_name().unwrap().to_string_lossy().into_owned();
            (name, commands(&std::fs::read_to_string(page).unwrap()))
        })
        .collect()
}

/// Files of the names that examples have, in the folder `stage`.
fn stage() -> Place {
    let place = classify::place();
    for (name, text) in OTHERS {
        script(
            &place,
            name,
            &format!("#!/usr/bin/env bash\n# Stands in for another program.\n{text}\n"),
        );
    }
    place.ok(&["-q", "simulate", "genome", "-o", "g.fa", "--length", "3000"]);
    for name in ["reads.fq", "long.fq", "big.fq"] {
        std::fs::copy(place.path("r_1.fq"), place.path(name)).unwrap();
    }
    for name in [
        "r_1.fq",
        "r_2.fq",
        "reads.fq",
        "big.fq",
        "r.fq",
        "reads_1.fq",
        "reads_2.fq",
    ] {
        let from = if name.contains("_2") {
            "r_2.fq"
        } else {
            "r_1.fq"
        };
        place.write(&format!("{name}.gz"), gzip(&place.read(from)));
    }
    place.write(
        "tax.tsv",
        "id\tgenus\tspecies\na\tA\tA a\nb\tA\tA b\nc\tC\tC c\n",
    );
    place.write("assembly_summary.txt", crate::fetch::summary());
    for name in [
        "proteins.faa",
        "peptides.faa",
        "refs.faa",
        "q.faa",
        "new.faa",
        "more.faa",
    ] {
        place.write(name, crate::search::PROTEINS);
    }
    for (ending, bytes) in BLAST_DATABASE {
        place.write(&format!("nr.{ending}"), bytes);
    }
    place.write_secret("tokens.txt", "ada 0123456789abcdefghij\n");
    place.write_secret("secret.txt", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
    place.write("urls.txt", "https://example.org/a.fna.gz\n");
    place.write("sheet.csv", "sample,fastq_1,fastq_2\ns1,r_1.fq,r_2.fq\n");
    let (made, said) = shell(&place, "", MAKE);
    assert!(made, "{said}");
    place
}

/// A database of BLAST.
const BLAST_DATABASE: [(&str, &[u8]); 3] = [
    (
        "pin",
        include_bytes!("../../../seqdb/tests/golden/blast/plain.pin"),
    ),
    (
        "phr",
        include_bytes!("../../../seqdb/tests/golden/blast/plain.phr"),
    ),
    (
        "psq",
        include_bytes!("../../../seqdb/tests/golden/blast/plain.psq"),
    ),
];

/// Names of databases and tables are those of the examples.
const MAKE: &str = "
mkdir stage
gyrase -q count r_1.fq -o s.gyk
for name in sample a b c host target solid reads genome after before monday tuesday x; do
    cp s.gyk $name.gyk
done
gyrase -q kmers export s.gyk --to kmc -o sample
gyrase -q kmers export s.gyk --to kmc -o s
gyrase -q kmers export s.gyk --to kff -o s.kff
gyrase -q kmers dump s.gyk -o counts.txt
gzip -c counts.txt > dump.txt.gz
gyrase -q count reads.fq.gz -o run.gyk --trace run.json
mkdir genomes parts strains
for name in a b c; do
    sed \"s/>.*/>$name|kraken:taxid|562/\" refs/$name.fa | gzip > refs/$name.fna.gz
    cp refs/$name.fa genomes/
    printf '%s.fna.gz\\t%s\\n' $name 562
done >> map
rm refs/*.fa
cp refs/a.fna.gz new.fna.gz
sed 's/>/>new_/' genomes/b.fa > strains/b.fa
ls -d genomes/*.fa > genomes.txt
printf 'r_1.fq\\nr_2.fq\\n' > files.txt
cp map map.tsv
printf 'b.fa\\t564\\nnew.fna.gz\\t562\\n' | tee strains.tsv >> map.tsv
gzip -c map.tsv > acc2taxid.gz
cp acc2taxid.gz nucl_gb.accession2taxid.gz
cp acc2taxid.gz accession2taxid.gz
cp tax.tsv gtdb_taxonomy.tsv
mv tax taxdump
tar czf taxdump.tar.gz -C taxdump nodes.dmp names.dmp
for name in a b c; do
    gyrase -q db build genomes/$name.fa --taxonomy taxdump --map map.tsv -o parts/$name.gydb
done
letters=$(sed 1d g.fa | tr -d '\\n')
mkdir asm
printf '>%s L:%s\\n%s\\n' 0 +:1:+ ${letters:0:1000} 1 -:0:- ${letters:970:1000} > unitigs.fa
gyrase -q graph to-gfa unitigs.fa -o asm/graph.gfa
gzip -c unitigs.fa > reads.unitigs.fa.gz
cp unitigs.fa reads.unitigs.fa
printf 'S\\t%s\\tACGT\\n' 12 31 | gzip > g.gfa.gz
printf '>%s\\n%s\\n' NC_000913.3 $letters NC_002695.2 $letters no_taxon $letters short ${letters:0:500} > more.fa
printf 'NC_000913.3\\t564\\nNC_002695.2\\t564\\nshort\\t564\\n' >> map.tsv
gyrase -q db build genomes more.fa --taxonomy taxdump --map map.tsv -o refs.gydb
cp parts/a.gydb one.gydb
cp parts/b.gydb two.gydb
gyrase -q classify --db two.gydb reads.fq --candidates reads.two.gyc
cp one.gydb bacteria.gydb
cp two.gydb viruses.gydb
cp g.fa genome.fa
cp g.fa contigs.fa
cp g.fa ref.fa
cp g.fa query.fa
cp genomes/a.fa genomes/b.fa .
gyrase -q suffix build genome.fa -o genome.gysa
for name in genes genomes contigs reads; do
    cp g.fa $name.fna
done
printf '>%s\\n%s\\n' chr1 $letters chr2 $letters > chromosomes.fa
gyrase -q index chromosomes.fa -o genomes.gysd
gzip -c chromosomes.fa > refs.fa.gz
cp g.fa new.fa
mkdir reads
cp r_1.fq reads/
protein=$(sed -n 2p proteins.faa)
printf '>protein7\\n%s\\n' $protein >> proteins.faa
printf '>%s\\n%s\\n' ref12 $protein P12345 $protein WP_000000001.1 $protein$protein >> refs.faa
for name in refs a b; do
    gyrase -q index refs.faa -o $name.gysd
done
gyrase -q search proteins.faa --db refs.faa --metadata hits.gym
cp refs.gysd replica.gysd
gzip -c refs.faa > refs.faa.gz
echo P12345 > hits.txt
printf 'r1\\t562\\n' > table.tsv
printf 'accession\\taccession.version\\ttaxid\\tgi\\nP12345\\tP12345.1\\t562\\t0\\n' |
    gzip > prot.accession2taxid.gz
mv *.fq *.fa *.gyk *.gydb *.tsv *.txt *.gz *.json *.kmc_* *.kff *.gyc *.csv *.faa *.fna *.gysd *.gysa *.gym nr.* stage/
mv asm refs reads genomes parts strains taxdump stage/
";

#[test]
fn examples_run_as_they_stand() {
    let place = stage();
    let mut found = Vec::new();
    verbs(&place, &[], &mut found);
    let jobs: Vec<(String, Vec<String>)> = found
        .into_iter()
        .filter(|(verb, _)| !ELSEWHERE.contains(&verb.as_str()))
        .map(|(verb, help)| (verb, examples(&help)))
        .chain(pages())
        .filter(|(_, examples)| !examples.is_empty())
        .collect();
    let all: usize = jobs.iter().map(|(_, examples)| examples.len()).sum();
    assert!(
        jobs.len() > 35 && all > 150,
        "{} verbs, {all} examples",
        jobs.len()
    );
    let (next, wrong) = (
        Mutex::new(jobs.into_iter().enumerate()),
        Mutex::new(Vec::new()),
    );
    let work = || {
        while let Some((number, (verb, examples))) = { next.lock().unwrap().next() } {
            let folder = format!("example-{number}");
            let (copied, said) = shell(&place, "", &format!("cp -r stage {folder}"));
            assert!(copied, "{said}");
            for example in examples {
                let command = SMALLER
                    .iter()
                    .fold(example.clone(), |text, (large, small)| {
                        text.replace(large, small)
                    });
                let folders = "mkdir -p tmp refs out .zfunc .config/fish/completions \
                               .local/share/bash-completion/completions .local/share/man/man1";
                let (done, said) = shell(&place, &folder, &format!("{folders}\n{command}"));
                if !done {
                    wrong
                        .lock()
                        .unwrap()
                        .push(format!("{verb}: {example}\n{said}"));
                }
            }
            std::fs::remove_dir_all(place.path(&folder)).unwrap();
        }
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|_| {
            scope.spawn(work);
        });
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
