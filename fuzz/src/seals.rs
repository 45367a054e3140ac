//! Fits the checksums of changed files to what they hold now: what they protect must not be trusted
//! either, since a program with a fault seals nonsense too.

/// Bytes of a `.gyk` header, whose last four are its checksum.
const GYK_HEADER: usize = 4096;
/// Bytes of an entry of its directory, and how many there are.
const ENTRY: usize = 32;
const BINS: usize = 4096;

/// Seals a `.gyk` file of version 1 (`docs/formats.md`): bins, directory, metadata, header. What
/// points outside the file stays as it is.
pub(crate) fn gyk(file: &mut [u8]) {
    if file.len() < GYK_HEADER {
        return;
    }
    let words = u64::from(u32_at(file, 24));
    let directory = u64_at(file, 88) as usize;
    for bin in 0..BINS {
        let entry = directory.saturating_add(ENTRY * bin);
        if entry.saturating_add(ENTRY) > file.len() {
            break;
        }
        let [offset, kmers, overflows] = [0, 8, 16].map(|at| u64_at(file, entry + at));
        let counts = kmers.saturating_add(7) & !7;
        let length = kmers.saturating_mul(8 * words).saturating_add(counts);
        let length = length.saturating_add(overflows.saturating_mul(8));
        seal(file, offset, length, entry + 24);
    }
    seal(file, directory as u64, (ENTRY * BINS) as u64, 120);
    seal(file, u64_at(file, 96), u64_at(file, 104), 124);
    seal(file, 0, GYK_HEADER as u64 - 4, GYK_HEADER - 4);
}

/// Seals a `.gyc` file of version 1: blocks, their table, the catalogue, the header.
pub(crate) fn gyc(file: &mut [u8]) {
    let Some(trailer) = file.len().checked_sub(32).filter(|&at| at >= 32) else {
        return;
    };
    let [table, blocks] = [0, 8].map(|at| u64_at(file, trailer + at));
    for block in 0..blocks.min(1000) {
        let place = table.saturating_add(24 * block);
        if place.saturating_add(24) > file.len() as u64 {
            break;
        }
        let place = place as usize;
        let packed = u64::from(u32_at(file, place + 8));
        seal(file, u64_at(file, place), packed, place + 20);
    }
    seal(file, table, blocks.saturating_mul(24), trailer + 16);
    seal(file, 32, u64_at(file, 16), 12);
    seal(file, 0, 28, 28);
}

/// Seals a `.gysa` file of version 1: sections, their table, the header.
pub(crate) fn gysa(file: &mut [u8]) {
    const HEADER: usize = 4096;
    const ENTRY: u64 = 64;
    if file.len() < HEADER {
        return;
    }
    let (sections, table) = (u64::from(u32_at(file, 24)), u64_at(file, 48));
    for section in 0..sections.min(8) {
        let entry = table.saturating_add(ENTRY * section);
        if entry.saturating_add(ENTRY) > file.len() as u64 {
            break;
        }
        let entry = entry as usize;
        let [offset, length] = [40, 48].map(|at| u64_at(file, entry + at));
        seal(file, offset, length, entry + 56);
    }
    seal(file, table, ENTRY.saturating_mul(sections), 28);
    seal(file, 0, HEADER as u64 - 4, HEADER - 4);
}

/// Writes the CRC-32 of some bytes to `at`.
fn seal(file: &mut [u8], offset: u64, length: u64, at: usize) {
    let end = offset.saturating_add(length).min(usize::MAX as u64) as usize;
    let crc = file.get(offset as usize..end).map(crc32fast::hash);
    if let (Some(crc), Some(place)) = (crc, file.get_mut(at..at + 4)) {
        place.copy_from_slice(&crc.to_le_bytes());
    }
}

fn u64_at(file: &[u8], at: usize) -> u64 {
    let bytes = file.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

fn u32_at(file: &[u8], at: usize) -> u32 {
    u64_at(file, at) as u32
}
