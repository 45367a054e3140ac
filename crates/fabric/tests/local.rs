//! The fabric of one process keeps the contract, in memory and spilled, and spills can be reopened.

use std::sync::Arc;

use gyrase_fabric::conformance::{self, ALL, Case, LONG, SHORT, Same};
use gyrase_fabric::{
    Combiner, Drain, Fabric, FabricError, LocalFabric, LocalPartitions, Sender, SpillFolder,
};

fn folder(tmp: &tempfile::TempDir, limit: Option<u64>, keep: bool) -> Arc<SpillFolder> {
    Arc::new(SpillFolder::new(tmp.path().join("spill"), limit, keep))
}

fn case(
    partitions: usize,
    workers: usize,
    records: u64,
    lengths: &'static [usize],
) -> Case<'static> {
    Case {
        partitions,
        workers: 0..workers,
        all_workers: workers,
        records,
        lengths,
        ordered: true,
    }
}

#[test]
fn keeps_the_contract_in_memory() {
    let tmp = tempfile::tempdir().unwrap();
    for case in [
        case(1, 1, 10, SHORT),
        case(3, 2, 10_000, SHORT),
        case(64, 4, 20_000, SHORT),
        case(513, 3, 5_000, SHORT),
        case(7, 2, 0, SHORT),
        case(1, 1, 2_000, ALL),
        case(3, 2, 3_000, ALL),
        case(600, 3, 2_000, ALL),
        case(3, 1, 10, LONG),
    ] {
        let memory = 256 << 20;
        let fabric = LocalFabric::new(case.partitions, memory, folder(&tmp, None, false));
        conformance::check(fabric, &case).unwrap();
    }
    assert_eq!(
        std::fs::read_dir(tmp.path()).unwrap().count(),
        0,
        "nothing was spilled"
    );
}

/// A fabric with the least memory for a case, with a combiner or without.
fn narrow(case: &Case, tmp: &tempfile::TempDir, portion: Option<u64>) -> LocalFabric {
    let longest = case.lengths.iter().max().copied().unwrap_or_default() as u64;
    let least = LocalFabric::least_memory(case.partitions, case.all_workers);
    let room = case.all_workers as u64 * (longest + longest / 100).next_multiple_of(2 << 20);
    let memory = least.max(if longest > 1 << 20 { room } else { 0 });
    let fabric = LocalFabric::new(case.partitions, memory, folder(tmp, None, false));
    match portion {
        Some(portion) => fabric.combining(|| Box::<Same>::default(), portion),
        None => fabric,
    }
}

/// Shares of so many partitions whose sizes are exponential.
fn unequal_shares(partitions: usize) -> Vec<f64> {
    let share = |number: usize| {
        let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        -((mixed >> 11) as f64 / (1u64 << 53) as f64).ln()
    };
    let shares: Vec<f64> = (0..partitions).map(share).collect();
    let all: f64 = shares.iter().sum();
    shares.iter().map(|share| share / all).collect()
}

#[test]
fn the_memory_that_records_take_is_known_before() {
    let tmp = tempfile::tempdir().unwrap();
    let (partitions, bytes) = (4096, 11);
    let shares = unequal_shares(partitions);
    for (senders, records) in [
        (1, 0),
        (1, 10),
        (1, 4000),
        (1, 100_000),
        (2, 100_000),
        (1, 3_000_000),
        (2, 3_000_000),
        (3, 5_000_000),
    ] {
        let fabric = LocalFabric::new(partitions, 1 << 30, folder(&tmp, None, false));
        let mut all: Vec<_> = (0..senders).map(|_| fabric.sender()).collect();
        let mut sent = 0;
        for (partition, share) in shares.iter().enumerate() {
            for number in 0..(share * records as f64).round() as usize {
                let sender = &mut all[number % senders];
                sender.send(partition, &[7; 11], bytes).unwrap();
                sent += 1;
            }
        }
        let taken = fabric.close(all).unwrap().kept();
        let expected = LocalFabric::expected_memory(partitions, senders, sent, sent * bytes as u64);
        let sizes = shares
            .iter()
            .map(|share| share * (sent * bytes as u64) as f64);
        let known = LocalFabric::expected_memory_of(sizes, senders, bytes as f64);
        let slab = 2 << 20;
        for expected in [expected, known] {
            assert!(
                taken <= expected + senders as u64 * slab
                    && expected <= taken + taken / 8 + senders as u64 * slab,
                "{senders} senders, {sent} records: {taken} taken, {expected} expected"
            );
        }
    }
}

/// Where all partitions are alike, most blocks are about full; where one has all, few are begun.
#[test]
fn the_memory_depends_on_how_unequal_partitions_are() {
    let slab = 2 << 20;
    let of = |sizes: Vec<f64>| LocalFabric::expected_memory_of(sizes, 1, 11.0);
    let alike = of(vec![0.75 * 4096.0; 4096]);
    assert_eq!(alike, 9 * slab, "a block each");
    assert!(alike < LocalFabric::expected_memory(4096, 1, 1_000_000, 3072 * 4096));
    let mut one = vec![0.0; 4096];
    one[7] = 3072.0 * 4096.0;
    assert_eq!(of(one), 7 * slab, "as many bytes in full blocks");
}

#[test]
fn keeps_the_contract_on_disk() {
    let tmp = tempfile::tempdir().unwrap();
    for case in [
        case(3, 1, 400_000, SHORT),
        case(64, 2, 300_000, SHORT),
        case(500, 3, 200_000, SHORT),
        case(1, 1, 3_000, ALL),
        case(3, 2, 3_000, ALL),
        case(600, 2, 3_000, ALL),
        case(3, 1, 20, LONG),
        // Of two senders one may take the memory that a long record of the other needs at once.
        case(2, 1, 20, LONG),
    ] {
        conformance::check(narrow(&case, &tmp, None), &case).unwrap();
    }
    assert_eq!(
        std::fs::read_dir(tmp.path()).unwrap().count(),
        0,
        "the spill files are gone"
    );
}

#[test]
fn keeps_the_contract_with_a_combiner() {
    let tmp = tempfile::tempdir().unwrap();
    for (case, portion) in [
        (case(3, 1, 400_000, SHORT), 1 << 20),
        (case(3, 2, 3_000, ALL), 0),
        (case(3, 2, 3_000, ALL), 30_000),
        (case(3, 2, 3_000, ALL), 1 << 30),
        (case(600, 1, 3_000, ALL), 10_000),
        (case(2, 1, 20, LONG), 10_000),
        (case(2, 1, 20, LONG), 4 << 20),
    ] {
        let case = Case {
            ordered: false,
            ..case
        };
        conformance::check(narrow(&case, &tmp, Some(portion)), &case).unwrap();
    }
}

#[test]
fn a_record_that_no_fabric_carries_is_refused() {
    let tmp = tempfile::tempdir().unwrap();
    let fabric = |memory| LocalFabric::new(2, memory, folder(&tmp, None, false));
    conformance::check_refusals(|| fabric(256 << 20));
    let mut sender = fabric(4 << 20).sender();
    sender.send(1, &[1; 100_000], 100_000).unwrap();
    // Two slabs of 511 blocks of 4,093 bytes.
    let most = 2 * 511 * 4093;
    sender.send(1, &vec![1; most], most).unwrap();
    let error = sender.send(1, &vec![1; most + 1], most + 1).unwrap_err();
    assert!(
        matches!(error, FabricError::TooLong { bytes, most: told }
            if bytes == most as u64 + 1 && told == most as u64),
        "{error}"
    );
}

#[test]
fn a_fabric_takes_what_it_uses() {
    let tmp = tempfile::tempdir().unwrap();
    let fabric = LocalFabric::new(4096, 1 << 30, folder(&tmp, None, false));
    let mut senders: Vec<_> = (0..8).map(|_| fabric.sender()).collect();
    senders[3].send(4095, b"record", 6).unwrap();
    let partitions = fabric.close(senders).unwrap();
    assert_eq!((partitions.kept(), partitions.bytes(4095)), (2 << 20, 6));
}

#[test]
fn stops_at_the_limit_of_the_spill() {
    let tmp = tempfile::tempdir().unwrap();
    let memory = LocalFabric::least_memory(8, 1);
    let fabric = LocalFabric::new(8, memory, folder(&tmp, Some(1 << 18), false));
    let error = conformance::check(fabric, &case(8, 1, 1_000_000, SHORT)).unwrap_err();
    assert!(matches!(error, FabricError::TooMuchSpill { .. }), "{error}");
    assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 0);
}

#[test]
fn a_sender_that_finds_no_memory_says_so() {
    let tmp = tempfile::tempdir().unwrap();
    let fabric = LocalFabric::new(
        3,
        LocalFabric::least_memory(3, 1),
        folder(&tmp, None, false),
    );
    let (_, mut without) = (fabric.sender(), fabric.sender());
    without.expect(2);
    let error = without.send(2, b"record", 6).unwrap_err();
    assert!(matches!(error, FabricError::Memory), "{error}");
}

/// Sums the numbers that equal first words carry.
#[derive(Default)]
struct Sums(std::collections::HashMap<u32, u32>);

impl Combiner for Sums {
    fn add(&mut self, bytes: &[u8], used: usize) {
        for record in bytes[..used].chunks_exact(8) {
            let [key, weight] = [0, 4]
                .map(|at| u32::from_le_bytes(record[at..at + 4].try_into().expect("four bytes")));
            *self.0.entry(key).or_default() += weight;
        }
    }

    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize)) {
        for (key, weight) in std::mem::take(&mut self.0) {
            emit(&[key.to_le_bytes(), weight.to_le_bytes()].concat(), 8);
        }
    }
}

#[test]
fn combined_records_mean_the_same_and_take_less() {
    const PARTITIONS: u32 = 100;
    for (memory, portion, distinct, spills) in [
        (256 << 20, 1 << 20, 100_000, false),
        (16 << 20, 1 << 20, 100_000, false),
        (16 << 20, 20_000, 100_000, false),
        (16 << 20, 1 << 20, 4_000_000, true),
        (16 << 20, 20_000, 4_000_000, true),
    ] {
        let tmp = tempfile::tempdir().unwrap();
        let fabric = LocalFabric::new(PARTITIONS as usize, memory, folder(&tmp, None, false));
        let fabric = fabric.combining(|| Box::<Sums>::default(), portion);
        let mut sender = fabric.sender();
        let records = 4_000_000u32;
        for number in 0..records {
            let key = (u64::from(number) * 7_654_321 % distinct) as u32;
            let record = [key.to_le_bytes(), 1u32.to_le_bytes()];
            sender
                .send((key % PARTITIONS) as usize, record.as_flattened(), 8)
                .unwrap();
        }
        let partitions = fabric.close(vec![sender]).unwrap();
        assert_eq!(partitions.spilled(), spills);
        let mut sums = Sums::default();
        for (partition, content) in contents(&partitions).into_iter().enumerate() {
            sums.add(&content, content.len());
            assert!(
                content
                    .chunks_exact(8)
                    .all(|record| record[0] as usize % 4 == partition % 4),
                "owner"
            );
        }
        assert_eq!(
            sums.0
                .values()
                .map(|&weight| u64::from(weight))
                .sum::<u64>(),
            u64::from(records)
        );
        assert_eq!(sums.0.len() as u64, distinct.min(u64::from(records)));
    }
}

/// Emits what it was given, but as the widest of records: blocks take fewer of them.
#[derive(Default)]
struct Wide(Vec<u8>);

impl Combiner for Wide {
    fn add(&mut self, bytes: &[u8], used: usize) {
        self.0.extend_from_slice(&bytes[..used]);
    }

    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize)) {
        let mut wide = [0; 128];
        for record in std::mem::take(&mut self.0).chunks_exact(8) {
            wide[..8].copy_from_slice(record);
            emit(&wide, 8);
        }
    }
}

#[test]
fn what_was_combined_may_need_room_too() {
    let send = |limit, portion| {
        let tmp = tempfile::tempdir().unwrap();
        let memory = 2 << 20;
        let fabric = LocalFabric::new(2, memory, folder(&tmp, limit, false));
        let fabric = fabric.combining(|| Box::<Wide>::default(), portion);
        let mut sender = fabric.sender();
        for number in 0..1_000_000u64 {
            sender.send(number as usize % 2, &number.to_le_bytes(), 8)?;
        }
        let partitions = fabric.close(vec![sender])?;
        let mut numbers: Vec<u64> = contents(&partitions)
            .iter()
            .flat_map(|content| {
                content
                    .chunks_exact(8)
                    .map(|record| u64::from_le_bytes(record.try_into().unwrap()))
            })
            .collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..1_000_000));
        Ok(())
    };
    for portion in [0, 50_000, 1 << 20, 1 << 30] {
        send(None, portion).unwrap();
        let error: FabricError = send(Some(0), portion).unwrap_err();
        assert!(matches!(error, FabricError::TooMuchSpill { .. }), "{error}");
    }
}

/// Sums, and sees to it that it is never given more than this at a time.
struct Bounded(Sums, usize);

const BOUND: usize = 100_000;

impl Combiner for Bounded {
    fn add(&mut self, bytes: &[u8], used: usize) {
        self.1 += used;
        assert!(self.1 <= BOUND, "{} bytes at once", self.1);
        self.0.add(bytes, used);
    }

    fn finish(&mut self, emit: &mut dyn FnMut(&[u8], usize)) {
        self.1 = 0;
        self.0.finish(emit);
    }
}

#[test]
fn a_combiner_is_given_little_of_a_large_partition_at_a_time() {
    for distinct in [1000u32, 5000, 10_000_000] {
        let tmp = tempfile::tempdir().unwrap();
        let fabric = LocalFabric::new(2, 64 << 20, folder(&tmp, None, false));
        let fabric = fabric.combining(|| Box::new(Bounded(Sums::default(), 0)), BOUND as u64);
        let mut sender = fabric.sender();
        let records = 10_000_000u32;
        for number in 0..records {
            let record = [(number % distinct).to_le_bytes(), 1u32.to_le_bytes()];
            sender.send(1, record.as_flattened(), 8).unwrap();
        }
        let partitions = fabric.close(vec![sender]).unwrap();
        assert_eq!(partitions.spilled(), distinct == records, "{distinct}");
        let mut sums = Sums::default();
        contents(&partitions)
            .into_iter()
            .for_each(|content| sums.add(&content, content.len()));
        assert_eq!(sums.0.len() as u32, distinct);
        assert_eq!(
            sums.0
                .values()
                .map(|&weight| u64::from(weight))
                .sum::<u64>(),
            u64::from(records),
            "{distinct}"
        );
    }
}

fn contents(partitions: &LocalPartitions) -> Vec<Vec<u8>> {
    let content = |partition| {
        let mut all = Vec::new();
        let drained = partitions.drain::<FabricError>(partition, &mut |bytes, used| {
            all.extend_from_slice(&bytes[..used]);
            Ok(())
        });
        drained.map(|()| all).expect("a spill that is whole")
    };
    partitions.owned().into_iter().map(content).collect()
}

#[test]
fn a_large_partition_is_spilled_in_pieces() {
    let tmp = tempfile::tempdir().unwrap();
    let memory = 32 << 20;
    let fabric = LocalFabric::new(3, memory, folder(&tmp, None, false));
    let mut sender = fabric.sender();
    let records = 5_000_000u64;
    for number in 0..records {
        sender
            .send(usize::from(number % 1000 == 0), &number.to_le_bytes(), 8)
            .unwrap();
    }
    let partitions = fabric.close(vec![sender]).unwrap();
    let (mut next, mut longest) = (0, 0);
    let drained = partitions.drain::<FabricError>(0, &mut |bytes, used| {
        longest = longest.max(used);
        for record in bytes[..used].chunks_exact(8) {
            next += u64::from(next % 1000 == 0);
            assert_eq!(u64::from_le_bytes(record.try_into().unwrap()), next);
            next += 1;
        }
        Ok(())
    });
    drained.unwrap();
    assert_eq!(next, records);
    assert!(longest <= 8 << 20 && partitions.bytes(2) == 0, "{longest}");
}

#[test]
fn a_later_process_finds_the_spill_of_the_same_job() {
    let tmp = tempfile::tempdir().unwrap();
    let before = {
        let memory = 2 << 20;
        let fabric = LocalFabric::new(16, memory, folder(&tmp, None, true));
        let mut sender = fabric.sender();
        for number in 0..300_000u32 {
            sender
                .send(number as usize % 16, &number.to_le_bytes().repeat(3), 12)
                .unwrap();
        }
        let partitions = fabric.close(vec![sender]).unwrap();
        assert!(partitions.spilled());
        partitions.note("count k=31").unwrap();
        contents(&partitions)
    };
    assert!(LocalPartitions::reopen(16, folder(&tmp, None, true), "count k=32").is_none());
    assert!(LocalPartitions::reopen(8, folder(&tmp, None, true), "count k=31").is_none());
    let reopened = LocalPartitions::reopen(16, folder(&tmp, None, true), "count k=31").unwrap();
    assert_eq!(contents(&reopened), before);

    let spill = tmp.path().join("spill/spill-0");
    let mut bytes = std::fs::read(&spill).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&spill, bytes).unwrap();
    let damaged = LocalPartitions::reopen(16, folder(&tmp, None, true), "count k=31").unwrap();
    let error = damaged
        .drain::<FabricError>(0, &mut |_, _| Ok(()))
        .unwrap_err();
    assert!(matches!(error, FabricError::Damaged { .. }), "{error}");
}
