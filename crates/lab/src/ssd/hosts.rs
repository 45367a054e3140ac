//! What the designs were compared with, as far as figure 9 goes: a processor, a graphics card, and
//! two other accelerators. The text tells too little of them to model them; each has one rate and
//! one power, which are fitted to its mean ratio to OP. They are inputs, not results: what they do
//! tell is how ratios differ between reads.

use super::constants::SsdConstants;
use super::profile::StorageProfile;

/// Something else that counts k-mers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherCounter {
    /// Gerbil on a processor.
    Cpu,
    /// Gerbil with a graphics card.
    Gpu,
    /// NEST: processing units in memory modules; reads come from a drive.
    Nest,
    /// OP's work on an accelerator beside a drive, whose data pass its DRAM.
    SmartSsd,
}

impl OtherCounter {
    /// All of them.
    pub const ALL: [OtherCounter; 4] = [
        OtherCounter::Cpu,
        OtherCounter::Gpu,
        OtherCounter::Nest,
        OtherCounter::SmartSsd,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            OtherCounter::Cpu => "CPU",
            OtherCounter::Gpu => "CPU and GPU",
            OtherCounter::Nest => "NEST",
            OtherCounter::SmartSsd => "SmartSSD",
        }
    }

    /// Seconds that it takes.
    pub fn seconds(self, profile: &StorageProfile, constants: &SsdConstants) -> f64 {
        let all = profile.total();
        let (text, kmers) = (profile.text_bytes as f64, all.kmers as f64);
        let link = constants.link_gb_per_second.value * 1e9;
        // Text in; super-k-mers out and in again.
        let out_of_core = (text + 2.0 * all.bytes as f64) / link;
        match self {
            OtherCounter::Cpu => {
                out_of_core + kmers / (constants.cpu_mkmers_per_second.value * 1e6)
            }
            OtherCounter::Gpu => {
                out_of_core + kmers / (constants.gpu_mkmers_per_second.value * 1e6)
            }
            // What is new is put into its memory, and the rest is found there.
            OtherCounter::Nest => {
                text / link + all.distinct as f64 * constants.nest_ns_per_distinct.value / 1e9
            }
            OtherCounter::SmartSsd => {
                // Text twice, through DRAM; super-k-mers, and each k-mer that passed its filter.
                let internal = constants.smart_gb_per_second.value * 1e9;
                let dram = constants.smart_dram_gb_per_second.value * 1e9;
                let through = 4.0 * text + 2.0 * all.bytes as f64 + 64.0 * all.passed as f64;
                2.0 * text / internal + through / dram
            }
        }
    }

    /// Joules that it takes.
    pub fn joules(self, profile: &StorageProfile, constants: &SsdConstants) -> f64 {
        let watts = match self {
            OtherCounter::Cpu => &constants.cpu_watts,
            OtherCounter::Gpu => &constants.gpu_watts,
            OtherCounter::Nest => &constants.nest_watts,
            OtherCounter::SmartSsd => &constants.smart_watts,
        };
        watts.value * self.seconds(profile, constants)
    }
}
