//! Area and power of what the designs add to a drive (Wu et al. 2024, table 1), and the energy of
//! a run.

use super::constants::SsdConstants;
use super::device::SsdDesign;

/// What a design adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddedHardware {
    /// Square millimetres of one unit with its scratchpad: of a chip, or of a channel with the
    /// splitters and hashers of its chips.
    pub unit_mm2: f64,
    /// Of all units.
    pub area_mm2: f64,
    /// Square millimetres of the scratchpads alone.
    pub pads_mm2: f64,
    /// Watts of leakage, of all units.
    pub leakage_w: f64,
    /// Watts of the scratchpads alone.
    pub pads_w: f64,
    /// Watts where every unit works in every cycle.
    pub peak_w: f64,
}

/// A property of a scratchpad by its bytes: exact at the published sizes, in proportion of
/// logarithms between and beyond them.
fn of_pad(bytes: u64, known: [f64; 3]) -> f64 {
    const SIZES: [f64; 3] = [524_288.0, 2_097_152.0, 4_194_304.0];
    let place = if bytes as f64 <= SIZES[1] { 0 } else { 1 };
    let part = (bytes as f64 / SIZES[place]).ln() / (SIZES[place + 1] / SIZES[place]).ln();
    known[place] * (known[place + 1] / known[place]).powf(part)
}

fn pad_mm2(constants: &SsdConstants, bytes: u64) -> f64 {
    let known = [
        &constants.pad_512k_mm2,
        &constants.pad_2m_mm2,
        &constants.pad_4m_mm2,
    ];
    of_pad(bytes, known.map(|constant| constant.value))
}

fn pad_mw(constants: &SsdConstants, bytes: u64) -> f64 {
    let known = [
        &constants.pad_512k_mw,
        &constants.pad_2m_mw,
        &constants.pad_4m_mw,
    ];
    of_pad(bytes, known.map(|constant| constant.value))
}

/// Leakage of the scratchpad of the device for filters, which table 1 leaves out.
pub(crate) fn device_pad_watts(constants: &SsdConstants) -> f64 {
    pad_mw(constants, (constants.device_pad_kib.value * 1024.0) as u64) / 1e3
}

/// Nanojoules of an access; beyond 2 MiB as it grew up to there.
pub(crate) fn pad_nj(constants: &SsdConstants, bytes: u64) -> f64 {
    let (small, large) = (constants.pad_512k_nj.value, constants.pad_2m_nj.value);
    of_pad(bytes, [small, large, large * (large / small).sqrt()])
}

/// What a design adds to so many chips and channels, with scratchpads of `pad` bytes.
pub fn added_hardware(
    constants: &SsdConstants,
    design: SsdDesign,
    (chips, channels): (usize, usize),
    pad: u64,
) -> AddedHardware {
    let (chips, channels) = (chips as f64, channels as f64);
    let logic_mm2 = constants.splitter_mm2.value + constants.hasher_mm2.value;
    let logic_mw = constants.splitter_mw.value + constants.hasher_mw.value;
    let logic_nj = constants.splitter_nj.value + constants.hasher_nj.value;
    let pads = if design == SsdDesign::Op {
        channels
    } else {
        chips
    };
    let (pads_mm2, pads_mw) = (
        pads * pad_mm2(constants, pad),
        pads * pad_mw(constants, pad),
    );
    let area_mm2 = pads_mm2 + chips * logic_mm2;
    let leakage_w = (pads_mw + chips * logic_mw) / 1e3;
    // A letter, a hash, and a row of the scratchpad that is read and written.
    let cycle_nj = chips * logic_nj + pads * 2.0 * pad_nj(constants, pad);
    AddedHardware {
        unit_mm2: area_mm2 / pads,
        area_mm2,
        pads_mm2,
        leakage_w,
        pads_w: pads_mw / 1e3,
        peak_w: leakage_w + cycle_nj * constants.clock_mhz.value / 1e3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, published: f64) {
        assert!(
            (found / published - 1.0).abs() < 0.01,
            "{found} is not {published}"
        );
    }

    /// Table 1, sections 7.1 and 7.4.3.
    #[test]
    fn areas_and_powers_are_the_published_ones() {
        let constants = SsdConstants::standard();
        let of = |design, pad: u64| added_hardware(&constants, design, (128, 32), pad << 10);
        let basic = of(SsdDesign::Basic, 512);
        near(basic.unit_mm2, 0.51);
        near(basic.area_mm2, 65.9);
        near(basic.peak_w, 8.6);
        let op = of(SsdDesign::Op, 2048);
        near(op.unit_mm2, 1.83);
        near(op.area_mm2, 58.6);
        near(op.pads_w, 19.8);
        near(op.pads_mm2, 54.6);
        let (small, large) = (of(SsdDesign::Op, 512), of(SsdDesign::Op, 4096));
        near(small.pads_mm2, 15.47);
        near(small.pads_w, 2.03);
        near(op.pads_mm2 / small.pads_mm2, 3.53);
        near(op.pads_w / small.pads_w, 9.73);
        near(large.pads_w, 42.7);
        near(large.pads_mm2, 104.2);
    }
}
