//! One sentence: what takes the time, and what to do about it.

use gyrase_picture::words::{self, bytes};

use super::file::Trace;
use super::sums::{Place, Profile, Stage};
use crate::trace::START;

/// A share of the time below which nothing is worth a sentence.
const NOTABLE: f64 = 0.1;
/// A run of fewer seconds tells little.
const SHORT: f64 = 1.0;
/// So much of the waiting is one rank's doing, or it is everybody's.
const MOSTLY: f64 = 0.5;
/// So many times larger is text than what was read of it when it was compressed.
const COMPRESSED: f64 = 1.5;
/// An imbalance that explains idle threads.
const UNEQUAL: f64 = 1.15;

/// What to do, from the numbers.
pub fn advise(trace: &Trace, profile: &Profile) -> String {
    if profile.wall < SHORT {
        let time = words::time(std::time::Duration::from_secs_f64(profile.wall.max(0.0)));
        return format!(
            "the run took {time}, which is too short to tell where a long one would spend its time"
        );
    }
    let Some((stage, place, share)) = dearest(profile).filter(|dearest| dearest.2 >= NOTABLE)
    else {
        return nothing_stands_out(trace, profile);
    };
    let stage = &profile.stages[stage];
    let what = match place {
        Place::Open => opening(),
        Place::Read => reading(trace, stage),
        Place::Write => writing(stage),
        Place::Spill => spilling(stage),
        Place::Late | Place::Barrier => late(trace, profile),
        Place::Collective => collective(stage),
        Place::Message => message(),
        Place::Buffer => buffer(),
        Place::Border => border(),
        Place::Turn => turn(stage),
        Place::Idle => idle(trace, stage),
        Place::Compute => String::new(),
    };
    format!(
        "{:.0} % of the time goes by in {}: {what}",
        share * 100.0,
        phrase(place, stage)
    )
}

/// Where most time is lost: the stage, the place, and its share of the run.
fn dearest(profile: &Profile) -> Option<(usize, Place, f64)> {
    let each = |(number, stage): (usize, &Stage)| {
        let mean = stage.mean();
        Place::ALL.map(|(place, _)| (number, place, mean[place as usize] / profile.wall.max(1e-9)))
    };
    let lost = profile
        .stages
        .iter()
        .enumerate()
        .flat_map(each)
        .filter(|lost| lost.1 != Place::Compute);
    lost.max_by(|a, b| a.2.total_cmp(&b.2))
}

fn phrase(place: Place, stage: &Stage) -> String {
    let what = match place {
        Place::Compute => "computing",
        Place::Open => "opening files",
        Place::Read => "reading the input",
        Place::Write => "writing the output",
        Place::Spill => "writing and reading temporary files",
        Place::Late | Place::Barrier => "waiting for the rank that comes last to a collective",
        Place::Collective => "collective operations themselves",
        Place::Message => "waiting for answers of other ranks",
        Place::Buffer => "waiting for send buffers",
        Place::Border => "waiting for the ends of records that other threads have",
        Place::Turn => "threads waiting for each other",
        Place::Idle => "threads that have nothing to do",
    };
    format!("{what} (stage {})", stage.name)
}

fn nothing_stands_out(trace: &Trace, profile: &Profile) -> String {
    let compute: f64 = profile
        .stages
        .iter()
        .map(|stage| stage.mean()[Place::Compute as usize])
        .sum();
    let more = if trace.ranks > 1 {
        "more ranks"
    } else {
        "more threads"
    };
    let share = compute / profile.wall * 100.0;
    format!(
        "nothing stands out: {share:.0} % of the time is computing, so faster cores or {more} will shorten the run"
    )
}

fn opening() -> String {
    "many small files are slow to open, above all on a parallel file system; put them together into fewer, larger ones"
        .into()
}

fn reading(trace: &Trace, stage: &Stage) -> String {
    let sum = |of: fn(&super::sums::Bytes) -> u64| {
        stage.ranks.iter().map(|cell| of(&cell.bytes)).sum::<u64>() as f64
    };
    let (read, parsed) = (sum(|bytes| bytes.read), sum(|bytes| bytes.parsed));
    if parsed > COMPRESSED * read {
        return "it is compressed, and each file is decompressed by one thread at a time; give several files, or files that \
                bgzip compressed, or plain ones if the disk is fast"
            .into();
    }
    let rate = bytes((read / stage.mean()[Place::Read as usize].max(1e-9)) as u64);
    let whose = if trace.ranks > 1 {
        "all ranks together get"
    } else {
        "it comes at"
    };
    format!(
        "{whose} {rate} a second; copy the files to a faster disk, or spread them over more servers of the file system, \
             since more threads will not help"
    )
}

fn writing(stage: &Stage) -> String {
    let written: u64 = stage.ranks.iter().map(|cell| cell.bytes.written).sum();
    let what = if written > 0 {
        format!(" ({})", bytes(written))
    } else {
        String::new()
    };
    format!(
        "the disk of the output{what} is slow; name a file on a faster one with -o and copy it later"
    )
}

fn spilling(stage: &Stage) -> String {
    let spilled: u64 = stage.ranks.iter().map(|cell| cell.bytes.spilled).sum();
    format!(
        "{} went through them; give more --memory, or name a faster local disk with --tmp",
        bytes(spilled)
    )
}

fn late(trace: &Trace, profile: &Profile) -> String {
    let late = &profile.collectives.late;
    let worst = (0..late.len())
        .max_by(|&a, &b| late[a].total_cmp(&late[b]))
        .unwrap_or(0);
    let share = late.get(worst).copied().unwrap_or(0.0) / profile.collectives.waited.max(1e-9);
    if share < MOSTLY {
        return "it is now one rank, now another, so the work between two collectives is too little for so many; use fewer ranks \
                with more threads each"
            .into();
    }
    let node = trace
        .nodes
        .get(worst)
        .map_or(String::new(), |node| format!(" on {node}"));
    format!(
        "rank {worst}{node} causes {:.0} % of it; see whether that machine is slower, shared with other jobs, or far from its files",
        share * 100.0
    )
}

fn collective(stage: &Stage) -> String {
    if stage.name == START {
        return "so long MPI takes to start; a longer run will feel it less".into();
    }
    "the network takes that long for so many ranks; use fewer ranks with more threads each".into()
}

fn message() -> String {
    "chunks are so small that asking for the next takes as long as working on one; give a larger --chunk".into()
}

fn buffer() -> String {
    "the network takes the records more slowly than the threads make them; use fewer ranks with more threads each, and see \
     what `gyrase doctor` says of the MPI library and its network"
        .into()
}

fn border() -> String {
    "chunks are so small that many records cross from one into the next; give a larger --chunk"
        .into()
}

fn turn(stage: &Stage) -> String {
    let counted = stage.ranks.iter().any(|cell| cell.bytes.counted > 0);
    if counted {
        return "finished partitions wait for an earlier one that is much larger, of repeats mostly; fewer threads will take as long".into();
    }
    "one thread at a time can read from a compressed file or a pipe; give several files, or files that bgzip compressed, or \
     use fewer threads"
        .into()
}

fn idle(trace: &Trace, stage: &Stage) -> String {
    let imbalance = stage.imbalance();
    if imbalance.time.is_none_or(|time| time < UNEQUAL) {
        return "there is too little to do for so many threads; use fewer".into();
    }
    let who = match trace.ranks {
        1 => "one thread".into(),
        _ => format!("rank {}", imbalance.slowest),
    };
    let times = imbalance.time.unwrap_or(1.0);
    let counted = stage.ranks.iter().any(|cell| cell.bytes.counted > 0);
    if counted {
        format!(
            "{who} works {times:.1} times as long as the mean, on partitions that are much larger than the others"
        )
    } else {
        format!(
            "{who} works {times:.1} times as long as the mean, on a file or chunk that the others cannot share; give more, smaller \
                 files, or a smaller --chunk"
        )
    }
}
