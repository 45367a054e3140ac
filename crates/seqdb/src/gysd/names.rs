//! Finding sequences by name: words of 64 bits, sorted, the upper half the CRC-32 of a name, the
//! lower half the number of its sequence.

use std::io;

use super::spool::Spool;

/// Words that are sorted at a time.
const AT_ONCE: u64 = 32 << 20;

/// Letters of a part of a name that sequences are looked up by: shorter ones say what database a
/// name is of.
const PART: usize = 4;

/// What a sequence is looked up by: the first word of its title, and of each title where it has
/// several; and the longer parts of a word that has bars, as in `sp|P12345|AATM_RABIT`.
pub(super) fn names_of(title: &[u8]) -> impl Iterator<Item = &[u8]> {
    let titles = title.split(|&byte| byte == 1);
    titles.map(name_of).flat_map(|name| {
        let parts = name.split(|&byte| byte == b'|');
        let is_whole = |part: &&[u8]| part.len() == name.len();
        let parts = parts.filter(move |part| part.len() >= PART && !is_whole(part));
        std::iter::once(name).chain(parts)
    })
}

/// The first word of a title.
pub fn name_of(title: &[u8]) -> &[u8] {
    let mut words = title.split(|byte| byte.is_ascii_whitespace() || *byte == 1);
    words.next().unwrap_or_default()
}

/// The word of a name and a sequence.
pub(super) fn word(name: &[u8], number: u32) -> u64 {
    u64::from(crc32fast::hash(name)) << 32 | u64::from(number)
}

/// Hands the `count` words of a spool to `each`, sorted, in as many passes as memory asks for.
pub(super) fn sorted(
    spool: &mut Spool,
    count: u64,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let passes = count.div_ceil(AT_ONCE).max(1).next_power_of_two();
    let shift = 64 - passes.trailing_zeros();
    for pass in 0..passes {
        let mut words = Vec::new();
        spool.replay(|piece| {
            let all = piece.chunks_exact(8);
            let all = all.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
            words.extend(all.filter(|word| word.checked_shr(shift).unwrap_or(0) == pass));
            Ok(())
        })?;
        words.sort_unstable();
        for some in words.chunks(1 << 13) {
            let bytes: Vec<u8> = some.iter().flat_map(|word| word.to_le_bytes()).collect();
            each(&bytes)?;
        }
    }
    Ok(())
}
