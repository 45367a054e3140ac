//! The database on a network file system whose clients keep pages and send them back whole.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::classify::sample;
use crate::launch::{Job, Mpi};
use crate::matrix::least_memory;
use crate::place::Place;

const COUNT: [&str; 6] = ["-q", "count", "r_1.fq", "r_2.fq", "-o", "o.gyk"];
/// Of bins of many blocks, which their owners write.
pub const HEAVY: [&str; 7] = ["-q", "count", "heavy.fa", "-k", "127", "-o", "o.gyk"];

/// Sequences in which a motif of 60 bases comes again and again between others: about half of the
/// k-mers of each have one minimizer.
pub fn heavy() -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bases = |number: usize| -> String {
        let mut base = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ['A', 'C', 'G', 'T'][(state >> 62) as usize]
        };
        (0..number).map(&mut base).collect()
    };
    let sequence = |number| {
        let motif = bases(60);
        let copies: String = (0..500).map(|_| motif.clone() + &bases(60)).collect();
        format!(">s{number}\n{copies}\n")
    };
    (0..12).map(sequence).collect()
}

/// Shell text that has what a rank writes of files whose path has a word go through a client of its
/// own; `nfs_client.c` has the variables. `None` where there is no compiler.
fn client(word: &str, variables: &str) -> Option<String> {
    static LIBRARY: OnceLock<Option<String>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nfs-client.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpi/nfs_client.c");
        let mut compiler = Command::new("cc");
        compiler
            .args(["-shared", "-fPIC", "-o"])
            .arg(&made)
            .arg(source)
            .arg("-ldl");
        let Ok(end) = compiler.stderr(Stdio::inherit()).status() else {
            println!("skipped: there is no C compiler (cc)");
            return None;
        };
        assert!(end.success());
        Some(made.to_str().unwrap().to_owned())
    });
    let library = library.as_ref()?;
    Some(format!(
        "export GYRASE_NFS={word} {variables} LD_PRELOAD={library}"
    ))
}

#[test]
fn ranks_on_several_clients_write_the_file_of_one_process() {
    let Some(client) = client(".gyk.partial", "") else {
        return;
    };
    let place = Place::new();
    place.simulate("300000", "20");
    place.ok(&[&COUNT[..5], &["alone.gyk"]].concat());
    place.write("heavy.fa", heavy());
    place.ok(&[&HEAVY[..6], &["heavy.gyk"]].concat());
    for mpi in Mpi::all() {
        // With the least memory bins wait on the disk, otherwise in memory.
        let little = least_memory(&place, mpi, 3, &[&COUNT[..], &["-t", "1"]].concat());
        let little = format!("{little}M");
        for (ranks, flags) in [(2, &[][..]), (4, &[]), (3, &["-t", "1", "-m", &little])] {
            Job::new(&place, mpi, ranks)
                .on_all(&client)
                .ok(&[&COUNT, flags].concat());
            assert!(place.read("o.gyk") == place.read("alone.gyk"), "{mpi:?}");
        }
        Job::new(&place, mpi, 3).on_all(&client).ok(&HEAVY);
        assert!(place.read("o.gyk") == place.read("heavy.gyk"), "{mpi:?}");
    }
}

#[test]
fn a_file_system_that_loses_what_others_wrote_is_named() {
    // Pages larger than the blocks that a process writes.
    let Some(client) = client(".gyk.partial", "GYRASE_NFS_PAGE=1048576") else {
        return;
    };
    let place = Place::new();
    place.write("heavy.fa", heavy());
    let before = place.files();
    for mpi in Mpi::all() {
        let ended = Job::new(&place, mpi, 3).on_all(&client).run(&HEAVY);
        assert_eq!(ended.code, 6, "{}", ended.stderr);
        for words in ["file system garbled", "o.gyk"] {
            assert!(ended.stderr.contains(words), "{}", ended.stderr);
        }
        assert_eq!(place.files(), before, "{mpi:?}");
    }
}

#[test]
fn a_database_of_references_comes_whole_through_several_clients() {
    let Some(client) = client(".gydb.partial", "") else {
        return;
    };
    let place = sample();
    let expected = place.read("g.gydb");
    let build = ["db", "build", "g.fa", "--taxonomy", "taxa.tsv"];
    for mpi in Mpi::all() {
        for ranks in [2, 3] {
            Job::new(&place, mpi, ranks)
                .on_all(&client)
                .ok(&[&build[..], &["-o", "all.gydb"]].concat());
            assert!(place.read("all.gydb") == expected, "{mpi:?}, {ranks} ranks");
        }
    }
}
