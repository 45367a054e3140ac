//! The run of a count, played.

use crate::ssd::{Events, Gates, Played, ServerStep};

use super::measure::{CountedData, MeasuredMachine};

/// Batches of a stage.
const BATCHES: usize = 512;
/// Batches of a thread that are under way: one that it works on, one that is read ahead.
const AHEAD: usize = 2;

/// Seconds of the stages of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stages {
    /// Reading, decompressing, cutting into super-k-mers; spilling them where memory is short.
    pub read: f64,
    /// Counting bins; reading what was spilled.
    pub count: f64,
    /// Writing the database out.
    pub write: f64,
}

impl Stages {
    /// All of them.
    pub fn total(&self) -> f64 {
        self.read + self.count + self.write
    }

    /// Their names and seconds.
    pub fn each(&self) -> [(&'static str, f64); 3] {
        [
            ("read", self.read),
            ("count", self.count),
            ("write", self.write),
        ]
    }
}

/// What a count would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedCount {
    /// By stage.
    pub stages: Stages,
    /// Seconds that storage is busy.
    pub storage: f64,
    /// Seconds that decompression keeps its busiest file's thread busy.
    pub inflate: f64,
    /// Seconds that the threads are busy, on the mean.
    pub threads: f64,
}

impl PredictedCount {
    /// What holds the run up most.
    pub fn holds_up(&self) -> &'static str {
        let all = [
            (self.storage, "storage"),
            (self.inflate, "decompression"),
            (self.threads, "processors"),
        ];
        all.into_iter()
            .fold(all[2], |most, one| if one.0 > most.0 { one } else { most })
            .1
    }
}

const STORAGE: usize = 0;
const INFLATE: usize = 1;
const FIRST_THREAD: usize = 2;

/// Plays a count of the data on a machine.
pub fn predict(machine: &MeasuredMachine, data: &CountedData) -> PredictedCount {
    let threads = machine.threads.max(1);
    let gain = machine.gain_of_threads.clamp(1.0, threads as f64) / threads as f64;
    let batches = BATCHES.next_multiple_of(threads);
    let part = |whole: f64| whole / batches as f64;
    let streams = data.streams.clamp(1, threads) as f64;
    let (read, write) = (
        machine.read_bytes_per_second,
        machine.write_bytes_per_second,
    );
    let inflate = part(data.inflated) * machine.inflate_seconds_per_byte;
    let cut = part(data.bases) * machine.cut_seconds_per_base;
    let reading = part(data.stored) / read;
    let cutting = [
        (STORAGE, reading),
        // One thread at a time decompresses a file; it does nothing else meanwhile.
        (INFLATE, inflate / streams),
        // A thread waits for the text that it asked for.
        (FIRST_THREAD, (inflate + cut) / gain + reading),
        (STORAGE, part(data.spilled) / write),
    ];
    // What was spilled a moment ago is read as fast as it can be written, at least.
    let counting = [
        (STORAGE, part(data.spilled) / read.max(write)),
        (
            FIRST_THREAD,
            part(data.kmers) * machine.count_seconds_per_kmer / gain,
        ),
    ];
    let first = play(&cutting, batches, threads, 0.0);
    let second = play(&counting, batches, threads, 0.0);
    // The system writes what is finished while other bins are counted, and is waited for.
    let out = data.output / write;
    let written = play(&counting, batches, threads, part(out));
    let busy = |place: usize| first.busy[place] + second.busy[place];
    let of_threads = (FIRST_THREAD..FIRST_THREAD + threads)
        .map(busy)
        .sum::<f64>();
    PredictedCount {
        stages: Stages {
            read: machine.start_seconds + first.seconds,
            count: second.seconds,
            write: (written.seconds - second.seconds).max(0.0),
        },
        storage: busy(STORAGE) + out,
        inflate: busy(INFLATE),
        threads: (of_threads - data.stored / read) / threads as f64,
    }
}

/// So many batches, dealt out to the threads; behind each one storage writes for so many seconds.
fn play(steps: &[(usize, f64)], batches: usize, threads: usize, writes: f64) -> Played {
    let servers = FIRST_THREAD + threads;
    let mut events = Events::new(servers, servers, 1);
    let done = Gates {
        adds: Some((0, 1)),
        ..Gates::default()
    };
    for thread in 0..threads {
        let stream = events.stream(AHEAD);
        let own = steps.iter().filter(|(_, seconds)| *seconds > 0.0);
        let own = own.map(|&(server, seconds)| {
            let server = if server == FIRST_THREAD {
                server + thread
            } else {
                server
            };
            ServerStep::new(server, seconds)
        });
        let own: Vec<ServerStep> = own.collect();
        (0..batches / threads).for_each(|_| events.job(stream, done, &own));
    }
    if writes > 0.0 {
        let stream = events.stream(1);
        for batch in 1..=batches as u64 {
            let gates = Gates {
                waits: Some((0, batch)),
                ..Gates::default()
            };
            events.job(stream, gates, &[ServerStep::new(STORAGE, writes)]);
        }
    }
    events.play()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: MeasuredMachine = MeasuredMachine {
        read_bytes_per_second: 1e9,
        write_bytes_per_second: 5e8,
        threads: 2,
        gain_of_threads: 2.0,
        inflate_seconds_per_byte: 1e-9,
        cut_seconds_per_base: 1e-8,
        count_seconds_per_kmer: 2e-8,
        start_seconds: 0.0,
        memory: 1 << 30,
    };
    const DATA: CountedData = CountedData {
        stored: 1e9,
        inflated: 0.0,
        streams: 0,
        bases: 5e8,
        kmers: 4e8,
        super_kmers: 3e8,
        output: 5e8,
        in_memory: 1 << 29,
        spilled: 0.0,
    };

    fn near(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn the_slowest_holds_the_run_up() {
        // 5 s of cutting and 1 s of reading on two threads; 8 s of counting on two.
        let found = predict(&MACHINE, &DATA);
        near(found.stages.read, 3.0);
        near(found.stages.count, 4.0);
        assert!(found.stages.write < 0.1, "it is written beside counting");
        assert_eq!(found.holds_up(), "processors");
        let slow = MeasuredMachine {
            write_bytes_per_second: 1e8,
            ..MACHINE
        };
        // 5 s of writing begin behind the first of 256 batches of each thread.
        near(predict(&slow, &DATA).stages.write, 5.0 + 4.0 / 256.0 - 4.0);
        let slow = MeasuredMachine {
            read_bytes_per_second: 1e8,
            ..MACHINE
        };
        near(predict(&slow, &DATA).stages.read, 10.0);
        assert_eq!(predict(&slow, &DATA).holds_up(), "storage");
        let four = MeasuredMachine {
            threads: 4,
            gain_of_threads: 4.0,
            ..MACHINE
        };
        near(predict(&four, &DATA).stages.count, 2.0);
    }

    #[test]
    fn spilled_bytes_are_written_and_read() {
        let spilled = CountedData {
            spilled: 2e9,
            ..DATA
        };
        let found = predict(&MACHINE, &spilled);
        near(found.stages.read, 1.0 + 4.0);
        near(found.stages.count, 4.0);
        // 4 s of decompression, 5 s of cutting and 1 s of reading on two threads; 16 s of the first
        // on one.
        let packed = CountedData {
            inflated: 4e9,
            streams: 1,
            ..DATA
        };
        near(predict(&MACHINE, &packed).stages.read, 5.0);
        let packed = CountedData {
            inflated: 16e9,
            ..packed
        };
        let found = predict(&MACHINE, &packed);
        near(found.stages.read, 16.0);
        assert_eq!((found.inflate, found.holds_up()), (16.0, "decompression"));
        let two = CountedData {
            streams: 2,
            ..packed
        };
        near(predict(&MACHINE, &two).stages.read, 11.0);
    }
}
