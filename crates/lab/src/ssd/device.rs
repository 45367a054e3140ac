//! A device as the model sees it: servers, and how long each takes for what.

use super::constants::SsdConstants;
use super::engine::ServerStep;
use super::error::SsdError;

/// The published designs (Wu et al. 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsdDesign {
    /// Two phases, tables in the scratchpads of chips (section 4.2).
    Basic,
    /// The same with a Bloom filter before each table (5.1).
    Bf,
    /// One phase: filters in a scratchpad of the device, tables in those of channels (5.2).
    Op,
}

impl SsdDesign {
    /// All of them.
    pub const ALL: [SsdDesign; 3] = [SsdDesign::Basic, SsdDesign::Bf, SsdDesign::Op];

    /// Its name in commands.
    pub fn name(self) -> &'static str {
        match self {
            SsdDesign::Basic => "basic",
            SsdDesign::Bf => "bf",
            SsdDesign::Op => "op",
        }
    }

    /// Its name in the publication.
    pub fn title(self) -> &'static str {
        match self {
            SsdDesign::Basic => "Abakus-Basic",
            SsdDesign::Bf => "Abakus-BF",
            SsdDesign::Op => "Abakus-OP",
        }
    }
}

impl std::str::FromStr for SsdDesign {
    type Err = String;

    fn from_str(name: &str) -> Result<SsdDesign, String> {
        let found = SsdDesign::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| "the designs are basic, bf, op".into())
    }
}

/// What time is spent on, as figure 10 has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyWith {
    /// Chips that read pages.
    FlashRead,
    /// Chips that write pages.
    FlashWrite,
    /// Channels.
    Channel,
    /// DRAM, or the core that counts in it.
    Dram,
    /// Processing units and the filter.
    Compute,
}

impl BusyWith {
    /// All of them.
    pub const ALL: [BusyWith; 5] = [
        BusyWith::FlashRead,
        BusyWith::FlashWrite,
        BusyWith::Channel,
        BusyWith::Dram,
        BusyWith::Compute,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            BusyWith::FlashRead => "flash read",
            BusyWith::FlashWrite => "flash write",
            BusyWith::Channel => "channel",
            BusyWith::Dram => "DRAM",
            BusyWith::Compute => "computation",
        }
    }
}

/// Servers that are alike, and what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerClass {
    ChipRead,
    ChipUnit,
    Channel,
    ChannelUnit,
    Dram,
    Filter,
    Core,
    ChipWrite,
}

impl ServerClass {
    pub(crate) const COUNT: usize = 8;

    /// What time of such servers counts for.
    pub(crate) fn kind(number: usize) -> BusyWith {
        const KINDS: [BusyWith; ServerClass::COUNT] = [
            BusyWith::FlashRead,
            BusyWith::Compute,
            BusyWith::Channel,
            BusyWith::Compute,
            BusyWith::Dram,
            BusyWith::Compute,
            BusyWith::Dram,
            BusyWith::FlashWrite,
        ];
        KINDS[number]
    }
}

/// A device: of its design, of some size.
#[derive(Clone, Debug)]
pub(crate) struct Device<'c> {
    pub(crate) constants: &'c SsdConstants,
    pub(crate) channels: usize,
    pub(crate) chips: usize,
    /// Bytes of the scratchpad that tables are in.
    pub(crate) pad: u64,
    pub(crate) page: u64,
    planes: u64,
}

impl<'c> Device<'c> {
    /// A device with so many channels and so large a scratchpad.
    pub(crate) fn new(
        constants: &'c SsdConstants,
        channels: usize,
        pad: u64,
    ) -> Result<Device<'c>, SsdError> {
        let per_channel = constants.chips_per_channel.value as usize;
        check(channels, 1, 4096, "channels")?;
        check(per_channel, 1, 64, "chips on each channel")?;
        let [page, planes] = [&constants.page_bytes, &constants.planes];
        let [page, planes] = [page, planes].map(|constant| constant.value as usize);
        check(page, 1, 1 << 30, "bytes in a page")?;
        check(planes, 1, 64, "planes")?;
        let chips = channels * per_channel;
        // Dealt-out minimizers name their chip in 16 bits.
        check(chips, 1, 1 << 16, "chips")?;
        Ok(Device {
            constants,
            channels,
            chips,
            pad,
            page: page as u64,
            planes: planes as u64,
        })
    }

    /// Servers of the device: chips, their units, channels, their units, DRAM, filter, core.
    pub(crate) fn servers(&self) -> usize {
        2 * (self.chips + self.channels) + 3
    }

    /// What seconds count for: servers, and chips once more, which read and write.
    pub(crate) fn tallies(&self) -> usize {
        self.servers() + self.chips
    }

    /// What a tally is of: servers of one class work side by side, classes one after the other.
    pub(crate) fn class(&self, tally: usize) -> ServerClass {
        let (chips, channels) = (self.chips, self.channels);
        let single = 2 * (chips + channels);
        match tally {
            _ if tally < chips => ServerClass::ChipRead,
            _ if tally < 2 * chips => ServerClass::ChipUnit,
            _ if tally < 2 * chips + channels => ServerClass::Channel,
            _ if tally < single => ServerClass::ChannelUnit,
            _ if tally == single => ServerClass::Dram,
            _ if tally == single + 1 => ServerClass::Filter,
            _ if tally == single + 2 => ServerClass::Core,
            _ => ServerClass::ChipWrite,
        }
    }

    /// The channel of a chip: neighbours are on different ones.
    pub(crate) fn channel_of(&self, chip: usize) -> usize {
        chip % self.channels
    }

    fn pages(&self, bytes: u64) -> f64 {
        bytes.div_ceil(self.page).div_ceil(self.planes) as f64
    }

    pub(crate) fn read(&self, chip: usize, bytes: u64) -> ServerStep {
        ServerStep::new(
            chip,
            self.pages(bytes) * self.constants.page_read_us.value / 1e6,
        )
    }

    pub(crate) fn write(&self, chip: usize, bytes: u64) -> ServerStep {
        let seconds = self.pages(bytes) * self.constants.page_write_us.value / 1e6;
        ServerStep {
            server: chip,
            seconds,
            tally: self.servers() + chip,
        }
    }

    fn cycles(&self, cycles: f64) -> f64 {
        cycles / (self.constants.clock_mhz.value * 1e6)
    }

    /// The unit of a chip.
    pub(crate) fn unit(&self, chip: usize, cycles: f64) -> ServerStep {
        ServerStep::new(self.chips + chip, self.cycles(cycles))
    }

    /// The unit of a channel (OP).
    pub(crate) fn channel_unit(&self, channel: usize, cycles: f64) -> ServerStep {
        ServerStep::new(
            2 * self.chips + self.channels + channel,
            self.cycles(cycles),
        )
    }

    pub(crate) fn channel(&self, channel: usize, bytes: u64) -> ServerStep {
        let rate = self.constants.channel_gb_per_second.value * 1e9;
        ServerStep::new(2 * self.chips + channel, bytes as f64 / rate)
    }

    pub(crate) fn dram(&self, bytes: u64) -> ServerStep {
        let rate = self.constants.dram_gb_per_second.value * 1e9;
        ServerStep::new(2 * (self.chips + self.channels), bytes as f64 / rate)
    }

    /// The filter of the device (OP).
    pub(crate) fn filter(&self, kmers: u64) -> ServerStep {
        let cycles = kmers as f64 / self.constants.filter_kmers_per_cycle.value;
        ServerStep::new(2 * (self.chips + self.channels) + 1, self.cycles(cycles))
    }

    /// The core of the device, which waits for DRAM most of the time.
    pub(crate) fn core(&self, kmers: u64) -> ServerStep {
        let seconds = kmers as f64 * self.constants.core_ns.value / 1e9;
        ServerStep::new(2 * (self.chips + self.channels) + 2, seconds)
    }

    /// Bytes of a k-mer by itself, and in a table.
    pub(crate) fn loose_bytes(&self, k: usize) -> u64 {
        (k as u64).div_ceil(4)
    }

    pub(crate) fn entry_bytes(&self, k: usize) -> u64 {
        self.loose_bytes(k) + self.constants.count_bytes.value as u64
    }

    /// Bytes of a Bloom filter: -n ln P / (ln 2)^2 bits (section 5.1.3).
    pub(crate) fn filter_bytes(&self, keys: u64) -> u64 {
        let per_key = -self.constants.filter_errors.value.ln() / std::f64::consts::LN_2.powi(2);
        (keys as f64 * per_key / 8.0).ceil() as u64
    }
}

fn check(found: usize, least: usize, most: usize, what: &str) -> Result<(), SsdError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(SsdError::Device {
        found: format!("{found} {what}"),
        expected: format!("{least} to {most}"),
    })
}
