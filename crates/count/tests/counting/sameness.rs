//! One answer: the same bytes whatever the threads, memory, order and compression.

use std::io::Write;
use std::path::PathBuf;

use crate::naive::Random;
use crate::runs::{Place, check, done, least, letters};

/// FASTQ of the reads; from `wrapped` on, letters and qualities go over many lines of 60.
fn fastq(reads: &[Vec<u8>], wrapped: usize, random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, read) in reads.iter().enumerate() {
        // Every quality letter but '@' and '+', so that the text can be told apart in wrapped form
        // too.
        let qualities: Vec<u8> = read.iter().map(|_| b'A' + random.below(26) as u8).collect();
        let width = if number >= wrapped {
            60
        } else {
            read.len().max(1)
        };
        let lines = |text: &[u8]| text.chunks(width).collect::<Vec<_>>().join(&b"\n"[..]);
        text.extend(
            [
                b"@r\n",
                &lines(read)[..],
                b"\n+\n",
                &lines(&qualities)[..],
                b"\n",
            ]
            .concat(),
        );
    }
    text
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Reads of a genome at some depth, both strands, with errors.
fn reads(random: &mut Random, genome: usize, number: usize) -> Vec<Vec<u8>> {
    let genome = random.bases(genome);
    let one = |random: &mut Random| {
        let length = 100 + random.below(100);
        let start = random.below(genome.len() - length);
        let mut read = genome[start..start + length].to_vec();
        if random.below(2) == 0 {
            read = crate::naive::reverse_complement(&read);
        }
        if random.below(4) == 0 {
            read[random.below(100)] = b"ACGTN"[random.below(5)];
        }
        read
    };
    (0..number).map(|_| one(random)).collect()
}

#[test]
fn the_bytes_depend_on_nothing_but_the_reads() {
    let mut random = Random(11);
    let samples = [
        reads(&mut random, 20_000, 6000),
        reads(&mut random, 5000, 3000),
        reads(&mut random, 5000, 500),
    ];
    for (k, stranded, min) in [(31, false, 2), (65, true, 1)] {
        let place = Place::new();
        let plain: Vec<Vec<u8>> = samples
            .iter()
            .map(|reads| fastq(reads, usize::MAX, &mut random))
            .collect();
        // The names of inputs are part of the database, so they stay.
        let folder = |name: &str, texts: Vec<Vec<u8>>| -> Vec<PathBuf> {
            std::fs::create_dir(place.folder.path().join(name)).unwrap();
            texts
                .iter()
                .enumerate()
                .map(|(i, text)| place.input(&format!("{name}/reads{i}.fq"), text))
                .collect()
        };
        let wrapped = samples
            .iter()
            .map(|reads| fastq(reads, reads.len() / 2, &mut random))
            .collect();
        let ways = [
            folder("gz", plain.iter().map(|text| gzip(text)).collect()),
            folder("wrapped", wrapped),
            folder("plain", plain),
        ];
        let all = samples.concat();
        let mut first: Option<Vec<u8>> = None;
        for (way, paths) in ways.iter().enumerate() {
            for threads in [1, 2, 3] {
                for scarce in [true, false] {
                    let mut paths = paths.clone();
                    paths.rotate_left(threads % 3);
                    let mut config = place.config(&paths, k, stranded);
                    (config.threads, config.min_count) = (threads, min);
                    let config = if scarce { least(config) } else { config };
                    let at = format!("k={k}, way {way}, {threads} threads, scarce {scarce}");
                    match &first {
                        None => {
                            check(&config, &all, letters(&all), &at);
                            first = Some(place.take());
                        }
                        Some(first) => {
                            done(&config);
                            assert!(*first == place.take(), "{at}: other bytes");
                        }
                    }
                }
            }
        }
    }
}

/// A large file of which a later part is wrapped: ranges are read and sent before that is found.
#[test]
fn what_was_sent_before_a_file_proved_serial_is_forgotten() {
    let mut random = Random(12);
    let reads = reads(&mut random, 30_000, 8000);
    for threads in [1, 3] {
        let place = Place::new();
        let input = place.input("reads.fq", &fastq(&reads, 6000, &mut random));
        let mut config = place.config(&[input], 31, false);
        config.threads = threads;
        check(
            &config,
            &reads,
            letters(&reads),
            &format!("{threads} threads"),
        );
    }
}
