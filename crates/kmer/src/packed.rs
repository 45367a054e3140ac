//! Packed bases in wide integers: two bits a base, the first lowest, word 0 least significant.

/// The lowest `bits` bits, the rest cleared.
#[inline(always)]
pub fn masked<const W: usize>(mut words: [u128; W], bits: usize) -> [u128; W] {
    for (i, word) in words.iter_mut().enumerate() {
        *word &= match bits.saturating_sub(128 * i) {
            0 => 0,
            kept @ 1..=127 => u128::MAX >> (128 - kept),
            _ => u128::MAX,
        };
    }
    words
}

/// Shifts right by any number of bits.
#[inline(always)]
pub fn shifted_right<const W: usize>(words: [u128; W], bits: usize) -> [u128; W] {
    if W == 1 {
        return [words[0].checked_shr(bits as u32).unwrap_or(0); W];
    }
    let (skip, bits) = (bits / 128, bits % 128);
    std::array::from_fn(|i| {
        let low = words.get(i + skip).copied().unwrap_or(0);
        let high = words.get(i + skip + 1).copied().unwrap_or(0);
        low >> bits | (high << 1) << (127 - bits)
    })
}

/// Shifts left by less than 128 bits.
#[inline(always)]
pub fn shifted_left<const W: usize>(words: [u128; W], bits: usize) -> [u128; W] {
    std::array::from_fn(|i| {
        let below = if i == 0 { 0 } else { words[i - 1] };
        words[i] << bits | (below >> 1) >> (127 - bits)
    })
}

/// The first `bases` bases in reverse order.
#[inline(always)]
pub fn reversed<const W: usize>(words: [u128; W], bases: usize) -> [u128; W] {
    let mut reversed = words.map(reverse_groups);
    reversed.reverse();
    shifted_right(reversed, 128 * W - 2 * bases)
}

/// Reverses the 64 groups of two bits.
#[inline(always)]
pub fn reverse_groups(word: u128) -> u128 {
    const NIBBLES: u128 = u128::MAX / 0xff * 0x0f;
    const PAIRS: u128 = u128::MAX / 0xf * 0x3;
    let word = word.swap_bytes();
    let word = word >> 4 & NIBBLES | (word & NIBBLES) << 4;
    word >> 2 & PAIRS | (word & PAIRS) << 2
}
