//! Everything that the model takes for granted, each number with where it comes from.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::SsdError;

/// A number and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The number.
    pub value: f64,
    /// What it is in; empty for a number of things.
    pub unit: String,
    /// A publication, `assumed` with the reason, or `fitted`.
    pub source: String,
}

impl Constant {
    /// True where it was chosen so that the published numbers come out.
    pub fn is_fitted(&self) -> bool {
        self.source.starts_with("fitted")
    }
}

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The constants of the model. Its file is `constants.json` in this folder; another of the
        /// same fields can stand in for it. What is fitted was fitted by
        /// `examples/fit_storage.rs`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct SsdConstants {
            $($(#[$doc])* pub $name: Constant,)*
        }

        impl SsdConstants {
            /// All of them, by name.
            pub fn each(&self) -> Vec<(&'static str, &Constant)> {
                vec![$((stringify!($name), &self.$name),)*]
            }

            /// The constant of this name.
            pub fn named(&mut self, name: &str) -> Option<&mut Constant> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

constants! {
    /// Channels.
    channels,
    /// Chips of a channel.
    chips_per_channel,
    /// Planes of a chip, each reads or writes a page at a time with the others.
    planes,
    /// Bytes of a page.
    page_bytes,
    /// Microseconds to read a page of every plane.
    page_read_us,
    /// Microseconds to write a page of every plane.
    page_write_us,
    /// What a channel carries.
    channel_gb_per_second,
    /// What DRAM and its controller carry.
    dram_gb_per_second,
    /// DRAM for sets of super-k-mers.
    dram_cache_gb,
    /// Batches of a chip that may be under way at once, for each kind of work.
    write_window,
    /// 1 where super-k-mers of a chip's own partitions go neither over its channel nor into DRAM,
    /// else 0.
    keeps_own,
    /// Clock of the processing units.
    clock_mhz,
    /// Cycles of a chip's unit for a byte of text.
    split_cycles,
    /// Cycles of a chip's unit to note a k-mer in a sketch.
    sketch_cycles,
    /// Cycles of a unit to count a k-mer in a table of its scratchpad.
    probe_cycles,
    /// Cycles of a chip's unit to ask a Bloom filter for a k-mer.
    filter_cycles,
    /// k-mers that the filter of the whole device (OP) takes in a cycle.
    filter_kmers_per_cycle,
    /// Nanoseconds of the device's core to count a k-mer in DRAM.
    core_ns,
    /// Bytes of a count in a table, behind a packed k-mer.
    count_bytes,
    /// False positives of Bloom filters.
    filter_errors,
    /// Scratchpad of a chip, of Basic and BF.
    chip_pad_kib,
    /// Scratchpad of a channel, of OP.
    channel_pad_kib,
    /// Scratchpad of the device for Bloom filters, of OP.
    device_pad_kib,
    /// Area of a splitter.
    splitter_mm2,
    /// Area of eight hashers.
    hasher_mm2,
    /// Leakage of a splitter.
    splitter_mw,
    /// Leakage of eight hashers.
    hasher_mw,
    /// Energy of a splitter for a letter.
    splitter_nj,
    /// Energy of eight hashers for a k-mer.
    hasher_nj,
    /// Area of a scratchpad of 512 KiB.
    pad_512k_mm2,
    /// Its leakage.
    pad_512k_mw,
    /// Its energy for an access.
    pad_512k_nj,
    /// Area of a scratchpad of 2 MiB.
    pad_2m_mm2,
    /// Its leakage.
    pad_2m_mw,
    /// Its energy for an access.
    pad_2m_nj,
    /// Area of a scratchpad of 4 MiB.
    pad_4m_mm2,
    /// Its leakage.
    pad_4m_mw,
    /// Power of a chip that reads or writes.
    chip_busy_mw,
    /// Energy of a channel.
    channel_pj_per_bit,
    /// Energy of DRAM.
    dram_pj_per_bit,
    /// Power of the rest of the device.
    idle_watts,
    /// What the host reads from its drive.
    link_gb_per_second,
    /// k-mers that Gerbil counts on the processor alone.
    cpu_mkmers_per_second,
    /// Power of that.
    cpu_watts,
    /// k-mers that Gerbil counts with the graphics card.
    gpu_mkmers_per_second,
    /// Power of that.
    gpu_watts,
    /// Nanoseconds of NEST for a distinct k-mer in its memory.
    nest_ns_per_distinct,
    /// Power of that.
    nest_watts,
    /// What the accelerator of a SmartSSD reads of its flash.
    smart_gb_per_second,
    /// What its DRAM carries.
    smart_dram_gb_per_second,
    /// Power of that.
    smart_watts,
}

impl SsdConstants {
    /// Those of Gyrase.
    pub fn standard() -> SsdConstants {
        serde_json::from_str(include_str!("constants.json")).expect("a test reads the same file")
    }

    /// Those of a file.
    ///
    /// # Errors
    /// The text is no JSON, or has other fields.
    pub fn parse(path: &Path, text: &str) -> Result<SsdConstants, SsdError> {
        serde_json::from_str(text).map_err(|source| SsdError::Constants {
            path: path.to_path_buf(),
            source,
        })
    }

    /// The text of a file.
    pub fn text(&self) -> String {
        let line = |(name, constant): (&str, &Constant)| {
            let Constant {
                value,
                unit,
                source,
            } = constant;
            let [unit, source] = [unit, source].map(|text| serde_json::json!(text));
            format!("  \"{name}\": {{\"value\": {value}, \"unit\": {unit}, \"source\": {source}}}")
        };
        let lines: Vec<String> = self.each().into_iter().map(line).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_whole_and_says_where_numbers_come_from() {
        let constants = SsdConstants::standard();
        assert_eq!(constants.text(), include_str!("constants.json"));
        for (name, Constant { value, source, .. }) in constants.each() {
            let known = ["Wu et al.", "assumed", "fitted"];
            assert!(
                known.iter().any(|word| source.starts_with(word)),
                "{name}: {source}"
            );
            assert!(value.is_finite() && *value >= 0.0, "{name}");
        }
    }

    #[test]
    fn other_fields_are_refused() {
        let text = SsdConstants::standard()
            .text()
            .replace("core_ns", "core_us");
        let error = SsdConstants::parse(Path::new("c.json"), &text).unwrap_err();
        assert!(error.to_string().contains("c.json"), "{error}");
    }
}
