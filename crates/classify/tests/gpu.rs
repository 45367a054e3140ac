//! One answer on a GPU too: from databases that fit it, part by part, and from several at once. It
//! is the host twin of the library.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::fs;
use std::path::Path;

use gyrase_classify::{Collection, GpuRefusal, Hits, QueryError};
use gyrase_gpu::{GpuError, GpuIndex, GpuLibrary, GpuShare};
use gyrase_work::Progress;

use crate::parts::{Case, assert_equal};
use crate::twin::{make, twin};

const MEMORY: u64 = 1 << 40;

fn library() -> Option<&'static Path> {
    twin(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// Bytes of a GPU that takes these databases in so many parts, at least.
fn memory_for(collection: &Collection, parts: u64) -> u64 {
    let databases = collection.checksums().count();
    let beside = GpuIndex::bytes_beside(databases, collection.catalogue.targets.len());
    let part = collection.bytes().div_ceil(parts);
    let room = if parts == 1 { part } else { part * 8 / 7 };
    beside + room
}

/// Brings databases to a GPU of so much memory; how often the reads are read.
fn bring(
    collection: &mut Collection,
    library: &Path,
    memory: u64,
    threads: usize,
) -> Result<usize, GpuRefusal> {
    let library = &GpuLibrary::load(library).unwrap();
    let gpu = &library.gpu(None).unwrap();
    let share = GpuShare {
        library,
        gpu,
        memory,
    };
    collection.bring_to(&share, (MEMORY, threads), usize::MAX)?;
    Ok(collection.plan(MEMORY, threads).unwrap().passes)
}

/// The hits of reads, in as many passes as it takes.
fn hits<'c>(case: &Case, collection: &'c Collection, paired: bool, threads: usize) -> Hits<'c> {
    let plan = collection.plan(MEMORY, threads).unwrap();
    if plan.passes == 1 {
        return Hits::of(collection);
    }
    let open = || Ok::<_, QueryError>(case.source(paired));
    let scratch = case.scratch();
    let progress = Progress::default();
    Hits::in_passes(collection, plan.most, scratch, threads, open, &progress).unwrap()
}

#[test]
fn one_answer_of_any_databases_in_any_parts() {
    let Some(library) = library() else { return };
    let case = Case::new();
    let whole = case.collection(&[&[0, 1, 2, 3]]);
    let splits: [&[&[usize]]; 3] = [
        &[&[0, 1, 2, 3]],
        &[&[0, 1], &[2, 3]],
        &[&[0], &[1], &[2], &[3]],
    ];
    for paired in [false, true] {
        let expected = case.answers(&Hits::of(&whole), &whole, paired, 1);
        let reads = expected[0].1.tally.total();
        for databases in splits {
            let mut collection = case.collection(databases);
            for (parts, threads) in [(1, 4), (2, 1), (3, 4), (9, 3)] {
                let what = format!("{databases:?} in {parts} parts, paired: {paired}");
                let memory = memory_for(&collection, parts);
                let passes = bring(&mut collection, library, memory, threads).unwrap();
                assert!(
                    (passes == 1) == (parts == 1) && passes as u64 >= parts,
                    "{what}"
                );
                let hits = hits(&case, &collection, paired, threads);
                let answers = case.answers(&hits, &collection, paired, threads);
                assert_equal(&answers, &expected, &what);
                let (on_gpu, others) = collection.on_gpu().unwrap().reads();
                // The last part is asked for the coverage filter and for two answers.
                assert_eq!((on_gpu, others), ((passes as u64 + 2) * reads, 0), "{what}");
            }
        }
    }
}

#[test]
fn candidates_are_stored_as_those_of_the_processor() {
    let Some(library) = library() else { return };
    let case = Case::new();
    let (of_processor, of_gpu) = (case.path("processor.gyc"), case.path("gpu.gyc"));
    for databases in [&[&[0, 1, 2, 3][..]][..], &[&[0, 1], &[2, 3]]] {
        for (paired, parts) in [(true, 1), (false, 1), (true, 3)] {
            let mut collection = case.collection(databases);
            let progress = Progress::default();
            let keep = |hits: Hits<'_>, path| hits.keep(case.source(paired), path, 2, &progress);
            let expected = keep(Hits::of(&collection), &of_processor).unwrap();
            let memory = memory_for(&collection, parts);
            bring(&mut collection, library, memory, 2).unwrap();
            let kept = keep(hits(&case, &collection, paired, 2), &of_gpu).unwrap();
            assert_eq!(kept, expected);
            assert!(fs::read(&of_gpu).unwrap() == fs::read(&of_processor).unwrap());
            assert!(collection.on_gpu().unwrap().reads() > (0, 0));
        }
    }
}

#[test]
fn the_processor_goes_on_where_a_gpu_breaks_within_a_pass() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/tests/twin/broken.cu");
    let Some(broken) = make(folder, &source, "gyrase_gpu_broken") else {
        return;
    };
    let case = Case::new();
    let whole = case.collection(&[&[0, 1, 2, 3]]);
    let expected = case.answers(&Hits::of(&whole), &whole, true, 1);
    let mut collection = case.collection(&[&[0, 1], &[2, 3]]);
    let memory = memory_for(&collection, 6);
    bring(&mut collection, &broken, memory, 1).unwrap();
    let hits = hits(&case, &collection, true, 1);
    let on_gpu = collection.on_gpu().unwrap();
    assert!(on_gpu.failure().unwrap().to_string().contains("it broke"));
    let reads = expected[0].1.tally.total();
    let (answered, left) = on_gpu.reads();
    // It breaks in the middle of a pass; those that follow do not ask it.
    assert!(
        reads < answered && answered % reads > 0,
        "{answered} of {reads}"
    );
    assert_eq!((answered + left) % reads, 0);
    let answers = case.answers(&hits, &collection, true, 1);
    assert_equal(&answers, &expected, "the device broke");
}

#[test]
fn a_database_in_memory_is_asked_in_parts_too() {
    let Some(library) = library() else { return };
    let case = Case::new();
    let mut collection = Collection::from(case.in_memory());
    let expected = case.answers(&Hits::of(&collection), &collection, true, 2);
    let memory = memory_for(&collection, 4);
    assert!(bring(&mut collection, library, memory, 2).unwrap() >= 4);
    let hits = hits(&case, &collection, true, 2);
    let answers = case.answers(&hits, &collection, true, 2);
    assert_equal(&answers, &expected, "in memory");
    assert_eq!(collection.on_gpu().unwrap().reads().1, 0);
}

#[test]
fn a_gpu_that_does_not_suffice_is_refused() {
    let Some(library) = library() else { return };
    let case = Case::new();
    let mut collection = case.collection(&[&[0, 1], &[2, 3]]);
    let memory = memory_for(&collection, 50_000);
    let too_small = bring(&mut collection, library, memory, 2);
    let Err(GpuRefusal::Gpu(GpuError::Memory { least, room })) = too_small else {
        panic!("{too_small:?}")
    };
    assert!(collection.on_gpu().is_none() && room < least);
    // What it takes at least is enough.
    assert!(bring(&mut collection, library, least, 1).is_ok());
    let library = &GpuLibrary::load(library).unwrap();
    let gpu = &library.gpu(None).unwrap();
    let share = GpuShare {
        library,
        gpu,
        memory: memory_for(&collection, 3),
    };
    let passes = collection.choose_gpu(&share, (MEMORY, 2), 2);
    assert!(
        matches!(passes, Err(GpuRefusal::Passes { passes: 3.. })),
        "{passes:?}"
    );
    let memory = collection.choose_gpu(&share, (1 << 20, 2), usize::MAX);
    let Err(GpuRefusal::HostMemory { least, memory }) = memory else {
        panic!("{memory:?}")
    };
    assert!(
        memory < least
            && collection
                .choose_gpu(&share, (least, 2), usize::MAX)
                .is_ok()
    );
    // Where both are small, the parts fit both.
    let plan = collection
        .choose_gpu(&share, (least, 2), usize::MAX)
        .unwrap();
    assert!(plan.most <= collection.on_gpu().unwrap().most() && plan.memory <= least);
}
