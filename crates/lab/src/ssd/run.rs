//! A run of a device over the partitions of reads.

use super::constants::SsdConstants;
use super::device::{BusyWith, Device, ServerClass, SsdDesign};
use super::engine::{Events, Gates, ServerStep};
use super::error::SsdError;
use super::mapping::PartitionMapping;
use super::power::{added_hardware, device_pad_watts, pad_nj};
use super::profile::{MinimizerPartition, StorageProfile};

/// Bytes of a batch, and batches that what a chip has to do is divided into at most.
const BATCH: u64 = 1 << 20;
/// With fewer batches DRAM is taken to be large enough: they would not fit.
const COARSE: u64 = 16;

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsdConfig {
    /// The design.
    pub design: SsdDesign,
    /// Channels; those of the constants if not given.
    pub channels: Option<usize>,
    /// Bytes of the scratchpad that tables are in, of a chip (Basic, BF) or of a channel (OP).
    pub pad: Option<u64>,
    /// Which chip each partition is on.
    pub mapping: PartitionMapping,
    /// Of the mappings that are random.
    pub seed: u64,
    /// Batches of a chip at most, at least 1: the grain. With fewer than 16 DRAM is taken to be as
    /// large as it must be.
    pub batches: u64,
}

impl SsdConfig {
    /// A design as it was published, with the mapping that was found best.
    pub fn of(design: SsdDesign) -> SsdConfig {
        SsdConfig {
            design,
            channels: None,
            pad: None,
            mapping: PartitionMapping::Heuristic,
            seed: 1,
            batches: 64,
        }
    }
}

/// Bytes that were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedBytes {
    /// Text of reads, each time it was read.
    pub text_read: u64,
    /// Super-k-mers that were written to chips, and read again.
    pub super_kmers_written: u64,
    /// See above.
    pub super_kmers_read: u64,
    /// k-mers by themselves, of partitions that are too large, written and read again (OP).
    pub loose_written: u64,
    /// See above.
    pub loose_read: u64,
    /// Tables.
    pub tables_written: u64,
    /// Over all channels.
    pub channels: u64,
    /// Into DRAM and out of it.
    pub dram: u64,
}

impl MovedBytes {
    /// Written to chips.
    pub fn written(&self) -> u64 {
        self.super_kmers_written + self.loose_written + self.tables_written
    }

    /// Read from chips.
    pub fn read(&self) -> u64 {
        self.text_read + self.super_kmers_read + self.loose_read
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdRun {
    /// Seconds of the whole.
    pub seconds: f64,
    /// Seconds of each phase.
    pub phases: Vec<(&'static str, f64)>,
    /// Seconds of the busiest server of each kind, over all phases, in the order of
    /// [`BusyWith::ALL`]; of units of chips, units of channels and the filter, the sum.
    pub busy: [f64; 5],
    /// Bytes.
    pub moved: MovedBytes,
    /// Partitions whose table is too large for the scratchpad.
    pub large: u64,
    /// Their k-mers, as often as they occur.
    pub large_kmers: u64,
    /// Entries of all tables.
    pub entries: u64,
    /// Bytes of all Bloom filters, as the designs size them.
    pub filter_bytes: u64,
    /// k-mers of each chip's partitions.
    pub chip_kmers: Vec<u64>,
    /// Seconds that each chip writes.
    pub chip_writes: Vec<f64>,
    /// Joules.
    pub joules: f64,
    /// Events that were played.
    pub events: u64,
}

impl SsdRun {
    /// The share of a kind of work in the sum of all kinds but channels, as figure 10 has it.
    pub fn share(&self, kind: BusyWith) -> f64 {
        let of = |kind: BusyWith| self.busy[kind as usize];
        let kinds = BusyWith::ALL
            .into_iter()
            .filter(|kind| *kind != BusyWith::Channel);
        of(kind) / kinds.map(of).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// k-mers of the fullest chip, by the mean of all.
    pub fn imbalance(&self) -> f64 {
        let most = self.chip_kmers.iter().copied().max().unwrap_or(0) as f64;
        let mean = self.chip_kmers.iter().sum::<u64>() as f64 / self.chip_kmers.len() as f64;
        if mean > 0.0 { most / mean } else { 1.0 }
    }
}

/// Simulates it.
///
/// # Errors
/// The device cannot be as it is described.
pub fn simulate(
    profile: &StorageProfile,
    config: &SsdConfig,
    constants: &SsdConstants,
) -> Result<SsdRun, SsdError> {
    Division::new(profile, config, constants)?.simulate(constants)
}

/// The chip of each partition, as mapping, channels and seed have it.
pub(crate) fn chips_of(
    profile: &StorageProfile,
    config: &SsdConfig,
    constants: &SsdConstants,
) -> Vec<usize> {
    let channels = config.channels.unwrap_or(constants.channels.value as usize);
    let chips = channels * constants.chips_per_channel.value as usize;
    // A device without chips is refused when it is made.
    config.mapping.chips(profile, chips.max(1), config.seed)
}

/// Partitions on the chips of a device, before any time passes.
#[derive(Clone, Debug)]
pub struct Division {
    config: SsdConfig,
    k: usize,
    text_bytes: u64,
    channels: usize,
    pad: u64,
    /// By chip: partitions whose tables fit, and those whose do not.
    small: Vec<Share>,
    large: Vec<Share>,
    all: Share,
    large_count: u64,
    large_kmers: u64,
    filter_bytes: u64,
    chip_kmers: Vec<u64>,
}

impl Division {
    /// Gives the partitions of a profile to the chips of a device.
    ///
    /// # Errors
    /// The device cannot be as it is described.
    pub fn new(
        profile: &StorageProfile,
        config: &SsdConfig,
        constants: &SsdConstants,
    ) -> Result<Division, SsdError> {
        let chips = chips_of(profile, config, constants);
        Division::on(profile, config, constants, &chips)
    }

    /// The same where the chip of each partition is known.
    pub(crate) fn on(
        profile: &StorageProfile,
        config: &SsdConfig,
        constants: &SsdConstants,
        chips: &[usize],
    ) -> Result<Division, SsdError> {
        let pad_kib = match config.design {
            SsdDesign::Op => &constants.channel_pad_kib,
            _ => &constants.chip_pad_kib,
        };
        let pad = config.pad.unwrap_or((pad_kib.value * 1024.0) as u64);
        let channels = config.channels.unwrap_or(constants.channels.value as usize);
        let device = Device::new(constants, channels, pad)?;
        let mut division = Division {
            config: *config,
            k: profile.k,
            text_bytes: profile.text_bytes,
            channels,
            pad,
            small: vec![Share::default(); device.chips],
            large: vec![Share::default(); device.chips],
            all: Share::default(),
            large_count: 0,
            large_kmers: 0,
            filter_bytes: 0,
            chip_kmers: vec![0; device.chips],
        };
        for (partition, &chip) in profile.partitions.iter().zip(chips) {
            division.add(partition, chip, &device);
        }
        Ok(division)
    }

    fn add(&mut self, partition: &MinimizerPartition, chip: usize, device: &Device<'_>) {
        let entries = match self.config.design {
            SsdDesign::Basic => partition.distinct,
            _ => partition.kept,
        };
        let filter = device.filter_bytes(partition.estimate);
        let table = entries * device.entry_bytes(self.k);
        let for_filters = (device.constants.device_pad_kib.value * 1024.0) as u64;
        let fits = match self.config.design {
            SsdDesign::Basic => table <= device.pad,
            SsdDesign::Bf => table + filter <= device.pad,
            SsdDesign::Op => table <= device.pad && filter <= for_filters,
        };
        let share = Share {
            bytes: partition.bytes,
            kmers: partition.kmers,
            passed: partition.passed,
            entries,
        };
        self.chip_kmers[chip] += partition.kmers;
        if self.config.design != SsdDesign::Basic {
            self.filter_bytes += filter;
        }
        self.all.add(share);
        if fits {
            self.small[chip].add(share);
        } else {
            self.large[chip].add(share);
            self.large_count += 1;
            self.large_kmers += partition.kmers;
        }
    }

    /// Lets time pass. What decides which tables fit must be as it was.
    ///
    /// # Errors
    /// The device cannot be as it is described.
    pub fn simulate(&self, constants: &SsdConstants) -> Result<SsdRun, SsdError> {
        let mut model = Model::new(self, Device::new(constants, self.channels, self.pad)?);
        if self.config.design == SsdDesign::Op {
            model.sketch();
            model.pipeline();
            model.count_large();
        } else {
            model.scatter();
            model.count();
        }
        Ok(model.finish())
    }
}

/// What a chip has of partitions.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    bytes: u64,
    kmers: u64,
    passed: u64,
    entries: u64,
}

impl Share {
    fn add(&mut self, other: Share) {
        self.bytes += other.bytes;
        self.kmers += other.kmers;
        self.passed += other.passed;
        self.entries += other.entries;
    }

    /// Batch number `i` of so many.
    fn part(self, i: u64, of: u64) -> Share {
        Share {
            bytes: part(self.bytes, i, of),
            kmers: part(self.kmers, i, of),
            passed: part(self.passed, i, of),
            entries: part(self.entries, i, of),
        }
    }
}

/// Part number `i` of so many of a whole: all of them are exactly the whole.
fn part(whole: u64, i: u64, of: u64) -> u64 {
    let border = |i: u64| (u128::from(whole) * u128::from(i) / u128::from(of)) as u64;
    border(i + 1) - border(i)
}

/// Counters of a phase: batches that were split, and bytes that have left DRAM.
const SPLIT: usize = 0;
const DRAINED: usize = 1;

struct Model<'d, 'c> {
    parts: &'d Division,
    device: Device<'c>,
    /// Accesses of scratchpads.
    accesses: u64,
    run: SsdRun,
}

impl<'d, 'c> Model<'d, 'c> {
    fn new(parts: &'d Division, device: Device<'c>) -> Model<'d, 'c> {
        let run = SsdRun {
            seconds: 0.0,
            phases: Vec::new(),
            busy: [0.0; 5],
            moved: MovedBytes::default(),
            large: parts.large_count,
            large_kmers: parts.large_kmers,
            entries: parts.all.entries,
            filter_bytes: parts.filter_bytes,
            chip_kmers: parts.chip_kmers.clone(),
            chip_writes: vec![0.0; device.chips],
            joules: 0.0,
            events: 0,
        };
        Model {
            parts,
            device,
            accesses: 0,
            run,
        }
    }

    fn events(&self) -> Events {
        Events::new(self.device.servers(), self.device.tallies(), 2)
    }

    fn window(&self) -> usize {
        self.device.constants.write_window.value as usize
    }

    /// Batches for so many bytes.
    fn batches(&self, bytes: u64) -> u64 {
        bytes
            .div_ceil(BATCH)
            .clamp(1, self.parts.config.batches.max(1))
    }

    /// Batches of a phase in which DRAM holds what is on its way: small enough not to fill it,
    /// unless so coarse ones are asked for that it has to be larger.
    fn batches_through_dram(&self) -> u64 {
        let share = self.parts.text_bytes.div_ceil(self.device.chips as u64);
        let batches = self.batches(share.max(self.parts.all.bytes / self.device.chips as u64));
        match self.parts.config.batches < COARSE {
            true => batches,
            false => batches.max((4.0 * self.parts.all.bytes as f64 / self.cache()).ceil() as u64),
        }
    }

    /// Bytes of DRAM for what is on its way.
    fn cache(&self) -> f64 {
        let given = (self.device.constants.dram_cache_gb.value * 1e9).max(1.0);
        match self.parts.config.batches < COARSE {
            true => given.max(4.0 * self.parts.all.bytes as f64),
            false => given,
        }
    }

    /// Text of batch `i` of a chip, and the k-mers in it.
    fn text(&self, chip: usize, i: u64, of: u64) -> (u64, u64) {
        let chips = self.device.chips as u64;
        let whole = |whole| part(part(whole, chip as u64, chips), i, of);
        (whole(self.parts.text_bytes), whole(self.parts.all.kmers))
    }

    fn play(&mut self, phase: &'static str, events: Events) {
        let played = events.play();
        let mut busiest = [0.0f64; ServerClass::COUNT];
        for (tally, seconds) in played.busy.iter().enumerate() {
            let class = self.device.class(tally) as usize;
            busiest[class] = busiest[class].max(*seconds);
        }
        for (class, most) in busiest.into_iter().enumerate() {
            self.run.busy[ServerClass::kind(class) as usize] += most;
        }
        let writes = &played.busy[self.device.servers()..];
        for (seconds, more) in self.run.chip_writes.iter_mut().zip(writes) {
            *seconds += more;
        }
        self.run.joules += self.active_joules(&played.busy);
        self.run.seconds += played.seconds;
        self.run.events += played.events;
        self.run.phases.push((phase, played.seconds));
    }

    /// Joules of chips at work.
    fn active_joules(&self, busy: &[f64]) -> f64 {
        let flash = |tally: usize| {
            matches!(
                self.device.class(tally),
                ServerClass::ChipRead | ServerClass::ChipWrite
            )
        };
        let seconds: f64 = busy
            .iter()
            .enumerate()
            .filter(|(tally, _)| flash(*tally))
            .map(|(_, one)| one)
            .sum();
        seconds * self.device.constants.chip_busy_mw.value / 1e3
    }

    /// OP, phase 0: every chip reads its text and notes its k-mers in sketches.
    fn sketch(&mut self) {
        let (mut events, constants) = (self.events(), self.device.constants);
        let of = self.batches_through_dram();
        for chip in 0..self.device.chips {
            let stream = events.stream(self.window());
            for i in 0..of {
                let (text, kmers) = self.text(chip, i, of);
                let cycles = text as f64 * constants.split_cycles.value
                    + kmers as f64 * constants.sketch_cycles.value;
                let steps = [self.device.read(chip, text), self.device.unit(chip, cycles)];
                events.job(stream, Gates::default(), &steps);
                self.run.moved.text_read += text;
            }
        }
        self.play("sketch", events);
    }

    /// Every chip reads its text, splits it, and sends super-k-mers to DRAM: `own` of its share
    /// stay on the chip.
    fn split(&mut self, events: &mut Events, of: u64, own: impl Fn(usize) -> f64) {
        let chips = self.device.chips as u64;
        let cache = self.cache() as u64;
        for chip in 0..self.device.chips {
            let stream = events.stream(self.window());
            let share = part(self.parts.all.bytes, chip as u64, chips);
            for i in 0..of {
                let (text, _) = self.text(chip, i, of);
                let made = part(share, i, of);
                let sent = made - (made as f64 * own(chip)) as u64;
                let cycles = text as f64 * self.device.constants.split_cycles.value;
                let channel = self.device.channel_of(chip);
                let steps = [
                    self.device.read(chip, text),
                    self.device.unit(chip, cycles),
                    self.device.channel(channel, sent),
                    self.device.dram(sent),
                ];
                let until = u128::from(self.parts.all.bytes) * u128::from(i + 1) / u128::from(of);
                let gates = Gates {
                    waits: Some((DRAINED, (until as u64).saturating_sub(cache))),
                    adds: Some((SPLIT, 1)),
                };
                events.job(stream, gates, &steps);
                self.run.moved.text_read += text;
                self.run.moved.channels += sent;
                self.run.moved.dram += sent;
            }
        }
    }

    /// Batch `i` for a chip is in DRAM when all chips have split theirs.
    fn drains(&self, i: u64, bytes: u64) -> Gates {
        Gates {
            waits: Some((SPLIT, (i + 1) * self.device.chips as u64)),
            adds: Some((DRAINED, bytes)),
        }
    }

    /// Basic and BF, phase 1: super-k-mers to the chips of their partitions.
    fn scatter(&mut self) {
        let (mut events, of) = (self.events(), self.batches_through_dram());
        let (chips, keeps) = (
            self.device.chips,
            self.device.constants.keeps_own.value > 0.0,
        );
        let all = self.parts.all.bytes.max(1) as f64;
        let pairs = self.parts.small.iter().zip(&self.parts.large);
        let shares: Vec<u64> = pairs.map(|(one, other)| one.bytes + other.bytes).collect();
        let own = |chip: usize| {
            if keeps {
                shares[chip] as f64 / all
            } else {
                0.0
            }
        };
        self.split(&mut events, of, own);
        for (chip, &share) in shares.iter().enumerate() {
            let stream = events.stream(self.window());
            for i in 0..of {
                let bytes = part(share, i, of);
                let came = if keeps {
                    bytes - bytes / chips as u64
                } else {
                    bytes
                };
                let steps = [
                    self.device.dram(came),
                    self.device.channel(self.device.channel_of(chip), came),
                    self.device.write(chip, bytes),
                ];
                events.job(stream, self.drains(i, bytes), &steps);
                self.run.moved.super_kmers_written += bytes;
                self.run.moved.channels += came;
                self.run.moved.dram += came;
            }
        }
        self.play("scatter", events);
    }

    /// Basic and BF, phase 2: every chip counts its partitions; the core counts those that are too
    /// large.
    fn count(&mut self) {
        let mut events = self.events();
        let entry = self.device.entry_bytes(self.parts.k);
        for chip in 0..self.device.chips {
            let share = self.parts.small[chip];
            let of = self.batches(share.bytes.max(share.entries * entry));
            let stream = events.stream(self.window());
            for i in 0..of {
                let one = share.part(i, of);
                let steps = [
                    self.device.read(chip, one.bytes),
                    self.device.unit(chip, self.counting_cycles(one)),
                    self.device.write(chip, one.entries * entry),
                ];
                events.job(stream, Gates::default(), &steps);
                self.run.moved.super_kmers_read += one.bytes;
                self.run.moved.tables_written += one.entries * entry;
            }
            self.count_by_core(&mut events, chip, Large::SuperKmers);
        }
        self.accesses += self.counted();
        self.play("count", events);
    }

    fn counting_cycles(&self, share: Share) -> f64 {
        let constants = self.device.constants;
        let probe = constants.probe_cycles.value;
        match self.parts.config.design {
            SsdDesign::Basic => share.kmers as f64 * probe,
            // The filter works on the next k-mers while the table takes one.
            _ => {
                let filtered = share.kmers as f64 * constants.filter_cycles.value;
                filtered.max(share.passed as f64 * probe)
            }
        }
    }

    /// k-mers that filters and tables are asked for.
    fn counted(&self) -> u64 {
        match self.parts.config.design {
            SsdDesign::Basic => self.parts.all.kmers,
            _ => self.parts.all.kmers + self.parts.all.passed,
        }
    }

    /// What is too large on a chip goes to the core, and its table back.
    fn count_by_core(&mut self, events: &mut Events, chip: usize, form: Large) {
        let share = self.parts.large[chip];
        if share.kmers == 0 {
            return;
        }
        let (k, device) = (self.parts.k, &self.device);
        let (entry, loose) = (device.entry_bytes(k), device.loose_bytes(k));
        let of = self.batches(share.bytes.max(share.entries * entry));
        let (stream, channel) = (events.stream(self.window()), device.channel_of(chip));
        for i in 0..of {
            let one = share.part(i, of);
            let (bytes, kmers) = match form {
                Large::SuperKmers => (one.bytes, one.kmers),
                Large::Loose => (one.passed * loose, one.passed),
            };
            let table = one.entries * entry;
            let steps = [
                device.read(chip, bytes),
                device.channel(channel, bytes),
                device.dram(bytes),
                device.core(kmers),
                device.dram(table),
                device.channel(channel, table),
                device.write(chip, table),
            ];
            events.job(stream, Gates::default(), &steps);
            let moved = &mut self.run.moved;
            match form {
                Large::SuperKmers => moved.super_kmers_read += bytes,
                Large::Loose => moved.loose_read += bytes,
            }
            moved.tables_written += table;
            moved.channels += bytes + table;
            moved.dram += bytes + table;
        }
    }

    /// OP, phase 1: from text to tables, in one pipeline.
    fn pipeline(&mut self) {
        let (mut events, of) = (self.events(), self.batches_through_dram());
        self.split(&mut events, of, |_| 0.0);
        let entry = self.device.entry_bytes(self.parts.k);
        for chip in 0..self.device.chips {
            let small = events.stream(self.window());
            let large = events.stream(self.window());
            for i in 0..of {
                let (one, other) = (
                    self.parts.small[chip].part(i, of),
                    self.parts.large[chip].part(i, of),
                );
                let table = one.entries * entry;
                let mut steps = self.filtered(chip, one).to_vec();
                let cycles = one.passed as f64 * self.device.constants.probe_cycles.value;
                let channel = self.device.channel_of(chip);
                steps.push(self.device.channel_unit(channel, cycles));
                steps.push(self.device.write(chip, table));
                events.job(small, self.drains(i, one.bytes), &steps);
                let loose = other.passed * self.device.loose_bytes(self.parts.k);
                let mut steps = self.filtered(chip, other).to_vec();
                steps.push(self.device.write(chip, loose));
                events.job(large, self.drains(i, other.bytes), &steps);
                self.run.moved.tables_written += table;
                self.run.moved.loose_written += loose;
            }
        }
        self.accesses += self.counted();
        self.play("pipeline", events);
    }

    /// A set leaves DRAM, its k-mers pass the filter, and go to the channel of their partition.
    fn filtered(&mut self, chip: usize, share: Share) -> [ServerStep; 3] {
        let loose = share.passed * self.device.loose_bytes(self.parts.k);
        self.run.moved.dram += share.bytes;
        self.run.moved.channels += loose;
        [
            self.device.dram(share.bytes),
            self.device.filter(share.kmers),
            self.device.channel(self.device.channel_of(chip), loose),
        ]
    }

    /// OP, last phase: the core counts what was too large.
    fn count_large(&mut self) {
        if self.run.large == 0 {
            return;
        }
        let mut events = self.events();
        for chip in 0..self.device.chips {
            self.count_by_core(&mut events, chip, Large::Loose);
        }
        self.play("large partitions", events);
    }

    fn finish(mut self) -> SsdRun {
        let (device, constants) = (&self.device, self.device.constants);
        let size = (device.chips, device.channels);
        let added = added_hardware(constants, self.parts.config.design, size, device.pad);
        let filters = match self.parts.config.design {
            SsdDesign::Op => device_pad_watts(constants),
            _ => 0.0,
        };
        let moved = &self.run.moved;
        let nano = moved.text_read as f64 * constants.splitter_nj.value
            + self.accesses as f64
                * (constants.hasher_nj.value + 2.0 * pad_nj(constants, device.pad));
        let pico = 8.0
            * (moved.channels as f64 * constants.channel_pj_per_bit.value
                + moved.dram as f64 * constants.dram_pj_per_bit.value);
        let watts = added.leakage_w + filters + constants.idle_watts.value;
        self.run.joules += self.run.seconds * watts + nano / 1e9 + pico / 1e12;
        self.run
    }
}

/// What there is of partitions that are too large.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Large {
    SuperKmers,
    Loose,
}
