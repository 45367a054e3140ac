// The sketch of a window by one warp: the same features as crates/kmer/src/sketch.rs.
//
// Letters become three rows of bits, one bit a base: the two bits of its code, and whether it is a
// base. A word of bases is then two shifts of neighbouring row words, whichever lane makes it.
#pragma once

#include "abi.h"
#include "kmers.cuh"
#include "warp.cuh"

// Letters of a window, at most.
constexpr uint32_t MOST_LETTERS = 256;
constexpr uint32_t ROW_WORDS = MOST_LETTERS / LANES + 1;

// What a warp keeps of a window.
struct SketchScratch {
    uint32_t low[ROW_WORDS];
    uint32_t high[ROW_WORDS];
    uint32_t sound[ROW_WORDS];
    // Hashes of s-mers; afterwards, sorted features.
    uint32_t hashes[MOST_LETTERS];
    uint32_t chosen[MOST_LETTERS];
};

// The code of a letter in either case, or 4.
GYRASE_DEVICE uint32_t code_of(uint32_t letter) {
    const uint32_t upper = letter & ~0x20u;
    const uint32_t code = upper >> 1 & 3;
    const bool base = upper == 'A' || upper == 'C' || upper == 'G' || upper == 'T' || upper == 'U';
    return base ? code ^ code >> 1 : 4;
}

// So many bits of a row, from place `at` on.
GYRASE_DEVICE uint32_t row_bits(const uint32_t *row, uint32_t at, uint32_t bits) {
    const uint32_t word = at / LANES;
    const uint64_t two = uint64_t(row[word + 1]) << 32 | row[word];
    return uint32_t(two >> at % LANES) & low_bits(bits);
}

// The lower 16 bits, each followed by a zero.
GYRASE_DEVICE uint32_t spread_half(uint32_t word) {
    word &= 0xffff;
    word = (word | word << 8) & 0x00ff00ff;
    word = (word | word << 4) & 0x0f0f0f0f;
    word = (word | word << 2) & 0x33333333;
    return (word | word << 1) & 0x55555555;
}

// The smaller of a word of up to 16 bases and its reverse complement; bit i of each row is of base
// i.
GYRASE_DEVICE uint32_t canonical_short(uint32_t low, uint32_t high, uint32_t bases) {
    const uint32_t turn = 32 - bases, mask = low_bits(bases);
    const uint32_t forward =
        spread_half(reversed(low) >> turn) | spread_half(reversed(high) >> turn) << 1;
    const uint32_t back = spread_half(~low & mask) | spread_half(~high & mask) << 1;
    return least(forward, back);
}

GYRASE_DEVICE uint64_t interleaved(uint32_t low, uint32_t high) {
    const uint32_t first = spread_half(low) | spread_half(high) << 1;
    const uint32_t second = spread_half(low >> 16) | spread_half(high >> 16) << 1;
    return uint64_t(second) << 32 | first;
}

// The same of up to 32 bases.
GYRASE_DEVICE uint64_t canonical(uint32_t low, uint32_t high, uint32_t bases) {
    const uint32_t turn = 32 - bases, mask = low_bits(bases);
    const uint64_t forward = interleaved(reversed(low) >> turn, reversed(high) >> turn);
    return least(forward, interleaved(~low & mask, ~high & mask));
}

// `feature_of` of crates/kmer/src/feature.rs.
GYRASE_DEVICE uint32_t feature_of(uint32_t canonical) {
    const uint32_t word = (canonical ^ 0x741b8175u) * 0x21f0aaadu;
    return (word ^ word >> 15) * 0x735a2d97u;
}

// `key_of` of the same file.
GYRASE_DEVICE uint64_t key_of(uint64_t canonical) { return mix(canonical ^ 0x78defe41708db555ull); }

// Whether the s-mers of a k-mer, whose hashes these are, allow that it is chosen.
GYRASE_DEVICE bool allows(const uint32_t *hashes, uint32_t smers) {
    const uint32_t first = (smers - 1) / 4, second = smers - 1 - first;
    uint32_t others = 0xffffffffu;
    for (uint32_t i = 0; i < smers; ++i) {
        if (i != first && i != second) others = least(others, hashes[i]);
    }
    return hashes[first] != hashes[second] && least(hashes[first], hashes[second]) < others;
}

// Fills the rows of so many letters, and an empty word behind them.
GYRASE_DEVICE void fill_rows(Warp warp, const uint8_t *letters, uint32_t count,
                             SketchScratch &scratch) {
    for (uint32_t word = 0; word <= (count + LANES - 1) / LANES; ++word) {
        Lanes<uint32_t> code;
        warp.each([&](uint32_t lane) {
            const uint32_t at = word * LANES + lane;
            code[lane] = at < count ? code_of(letters[at]) : 4;
        });
        const uint32_t low = warp.ballot([&](uint32_t lane) { return (code[lane] & 1) != 0; });
        const uint32_t high = warp.ballot([&](uint32_t lane) { return (code[lane] & 2) != 0; });
        const uint32_t sound = warp.ballot([&](uint32_t lane) { return code[lane] < 4; });
        warp.each([&](uint32_t lane) {
            if (lane == 0) {
                scratch.low[word] = low;
                scratch.high[word] = high;
                scratch.sound[word] = sound;
            }
        });
    }
    warp.sync();
}

GYRASE_DEVICE void hash_smers(Warp warp, uint32_t count, const gyrase_gpu_shape &shape,
                              SketchScratch &scratch) {
    const uint32_t smers = count + 1 - shape.s;
    warp.each([&](uint32_t lane) {
        for (uint32_t at = lane; at < smers; at += LANES) {
            const uint32_t low = row_bits(scratch.low, at, shape.s);
            const uint32_t high = row_bits(scratch.high, at, shape.s);
            scratch.hashes[at] = feature_of(canonical_short(low, high, shape.s));
        }
    });
    warp.sync();
}

// Writes the feature of a k-mer; whether the k-mer is chosen.
GYRASE_DEVICE bool choose(uint32_t at, const gyrase_gpu_shape &shape, const SketchScratch &scratch,
                          uint32_t &feature) {
    if (row_bits(scratch.sound, at, shape.k) != low_bits(shape.k)) return false;
    const uint32_t low = row_bits(scratch.low, at, shape.k);
    const uint32_t high = row_bits(scratch.high, at, shape.k);
    if (shape.smallest > 0) {
        feature = feature_of(canonical_short(low, high, shape.k));
        return true;
    }
    if (shape.smers > 0 && !allows(scratch.hashes + at + shape.margin, shape.smers)) return false;
    const uint64_t key = key_of(canonical(low, high, shape.k));
    feature = uint32_t(key ^ key >> 32);
    return uint32_t(key >> 32) <= shape.limit;
}

// Brings the features of the chosen k-mers together; how many they are.
GYRASE_DEVICE uint32_t choose_all(Warp warp, uint32_t count, const gyrase_gpu_shape &shape,
                                  SketchScratch &scratch) {
    const uint32_t kmers = count + 1 - shape.k;
    uint32_t found = 0;
    for (uint32_t first = 0; first < kmers; first += LANES) {
        Lanes<uint32_t> feature;
        const uint32_t chosen = warp.ballot([&](uint32_t lane) {
            return first + lane < kmers && choose(first + lane, shape, scratch, feature[lane]);
        });
        warp.each([&](uint32_t lane) {
            if (chosen >> lane & 1)
                scratch.chosen[found + ones(chosen & before(lane))] = feature[lane];
        });
        found += ones(chosen);
    }
    warp.sync();
    return found;
}

// Writes the first of each that are equal among up to 32 sorted values of a row; how many those
// are.
GYRASE_DEVICE uint32_t put_distinct(Warp warp, const Lanes<uint32_t> &sorted,
                                    const Lanes<uint32_t> &previous, uint32_t count, bool begins,
                                    uint32_t room, uint32_t *to) {
    const uint32_t first = warp.ballot([&](uint32_t lane) {
        return lane < count && ((begins && lane == 0) || sorted[lane] != previous[lane]);
    });
    warp.each([&](uint32_t lane) {
        const uint32_t place = ones(first & before(lane));
        if ((first >> lane & 1) && place < room) to[place] = sorted[lane];
    });
    return least(ones(first), room);
}

// Sorts up to 32 values in registers: Batcher's bitonic network.
GYRASE_DEVICE Lanes<uint32_t> sorted_lanes(Warp warp, Lanes<uint32_t> values) {
    for (uint32_t size = 2; size <= LANES; size *= 2) {
        for (uint32_t stride = size / 2; stride > 0; stride /= 2) {
            const Lanes<uint32_t> others =
                warp.shuffle(values, [&](uint32_t lane) { return lane ^ stride; });
            warp.each([&](uint32_t lane) {
                const bool small = ((lane & size) == 0) == ((lane & stride) == 0);
                values[lane] =
                    small ? least(values[lane], others[lane]) : most(values[lane], others[lane]);
            });
        }
    }
    return values;
}

// Sorts more of them by counting the smaller ones of each: rare, and never many.
GYRASE_DEVICE void sort_by_rank(Warp warp, uint32_t found, SketchScratch &scratch) {
    warp.each([&](uint32_t lane) {
        for (uint32_t at = lane; at < found; at += LANES) {
            const uint32_t own = scratch.chosen[at];
            uint32_t rank = 0;
            for (uint32_t other = 0; other < found; ++other) {
                const uint32_t value = scratch.chosen[other];
                rank += uint32_t(value < own || (value == own && other < at));
            }
            scratch.hashes[rank] = own;
        }
    });
    warp.sync();
}

// Writes the distinct features, ascending, up to `room` of them; how many they are.
GYRASE_DEVICE uint32_t put_sorted(Warp warp, uint32_t found, uint32_t room, SketchScratch &scratch,
                                  uint32_t *to) {
    Lanes<uint32_t> values, previous;
    if (found <= LANES) {
        warp.each([&](uint32_t lane) {
            values[lane] = lane < found ? scratch.chosen[lane] : 0xffffffffu;
        });
        values = sorted_lanes(warp, values);
        previous = warp.shuffle(values, [](uint32_t lane) { return lane == 0 ? 0 : lane - 1; });
        return put_distinct(warp, values, previous, found, true, room, to);
    }
    sort_by_rank(warp, found, scratch);
    uint32_t put = 0;
    for (uint32_t first = 0; first < found && put < room; first += LANES) {
        warp.each([&](uint32_t lane) {
            const uint32_t at = first + lane;
            values[lane] = at < found ? scratch.hashes[at] : 0;
            previous[lane] = at > 0 && at < found ? scratch.hashes[at - 1] : 0;
        });
        const uint32_t count = least(found - first, LANES);
        put += put_distinct(warp, values, previous, count, first == 0, room - put, to + put);
    }
    return put;
}

// The sketch of a window of k to MOST_LETTERS letters: distinct features, ascending, up to `room`
// of them; how many they are.
GYRASE_DEVICE uint32_t sketch_window(Warp warp, const uint8_t *letters, uint32_t count,
                                     const gyrase_gpu_shape &shape, uint32_t room,
                                     SketchScratch &scratch, uint32_t *to) {
    fill_rows(warp, letters, count, scratch);
    if (shape.smers > 0) hash_smers(warp, count, shape, scratch);
    const uint32_t found = choose_all(warp, count, shape, scratch);
    const uint32_t put = put_sorted(warp, found, room, scratch, to);
    // The next window of this warp is written over what others may still read.
    warp.sync();
    return put;
}
