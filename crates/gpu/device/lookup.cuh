// Looks features up in the unchanged bytes of a database: crates/table/src/gydb/bucket.rs.
//
// Four lanes read the 64 bytes of a bucket's line, 16 bytes each, so that a warp waits for eight
// lines at a time. Words 1 to 10 have the rests, two in each; words 11 to 15 the counts, four in
// each.
#pragma once

#include "abi.h"
#include "warp.cuh"

constexpr uint32_t PARTITIONS = 4096;
constexpr uint32_t PLACE_BITS = 20;
constexpr uint32_t LINE_WORDS = 16;
constexpr uint32_t FEATURES_OF_LINE = 20;
constexpr uint32_t GOES_ON = 1u << 31;
// Lanes of a feature, and features of a warp.
constexpr uint32_t QUAD = 4;
constexpr uint32_t QUADS = LANES / QUAD;
constexpr uint32_t FIRST_COUNTS = 11;

// `place_of` of crates/table/src/gydb/layout.rs.
GYRASE_DEVICE uint32_t place_of(uint32_t feature) {
    uint32_t x = (feature ^ feature >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// The number of the first feature of the line that has this rest, as far as this lane's words tell.
GYRASE_DEVICE uint32_t match_of(const Words &words, uint32_t part, uint32_t rest) {
    uint32_t match = FEATURES_OF_LINE;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t word = QUAD * part + i;
        if (word == 0 || word >= FIRST_COUNTS) continue;
        const uint32_t number = 2 * (word - 1);
        if (words.all[i] >> 16 == rest) match = least(match, number + 1);
        if ((words.all[i] & 0xffff) == rest) match = least(match, number);
    }
    return match;
}

// The sum of the counts before a feature, as far as this lane's words tell; in the upper half its
// own.
GYRASE_DEVICE uint32_t counts_of(const Words &words, uint32_t part, uint32_t match) {
    uint32_t sums = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t word = QUAD * part + i;
        if (word < FIRST_COUNTS) continue;
        const uint32_t first = 4 * (word - FIRST_COUNTS);
        for (uint32_t byte = 0; byte < 4; ++byte) {
            const uint32_t count = words.all[i] >> 8 * byte & 0xff;
            sums += first + byte < match ? count : 0;
            sums += first + byte == match ? count << 16 : 0;
        }
    }
    return sums;
}

// A feature on its way, the same in the lanes of a quad.
struct Sought {
    // Of its partition.
    uint64_t start;
    uint32_t words;
    uint32_t rest;
    // The line that is read next.
    uint32_t line;
    bool active;
    // What was found: the first word of the locations, and how many there are.
    uint64_t first;
    uint32_t count;
    bool damaged;
};

GYRASE_DEVICE Sought sought(const gyrase_gpu_partition *partitions, uint32_t feature, bool active) {
    const uint32_t place = place_of(feature);
    const gyrase_gpu_partition partition = partitions[place >> PLACE_BITS];
    const uint64_t below = place & low_bits(PLACE_BITS);
    const uint32_t scaled = uint32_t(below * partition.buckets >> (PLACE_BITS - 16));
    return {partition.start,
            partition.words,
            scaled & 0xffff,
            LINE_WORDS * (scaled >> 16),
            active && partition.words > 0,
            0,
            0,
            false};
}

// What follows from a line: its first word, and the sums of `counts_of`.
GYRASE_DEVICE void take_line(Sought &one, uint32_t head, uint32_t sums) {
    const uint32_t count = sums >> 16, next = head & ~GOES_ON;
    const bool goes_on = (head & GOES_ON) != 0;
    one.active = false;
    if (count > 0) {
        const uint64_t first = uint64_t(next) + (goes_on ? LINE_WORDS : 0) + (sums & 0xffff);
        one.damaged = first + count > one.words;
        one.first = one.start + first;
        one.count = one.damaged ? 0 : count;
    } else if (goes_on) {
        one.damaged = next <= one.line || uint64_t(next) + LINE_WORDS > one.words;
        one.active = !one.damaged;
        one.line = next;
    }
}

// Looks up a feature for each quad of lanes.
GYRASE_DEVICE void look_up(Warp warp, const uint32_t *words, Lanes<Sought> &all) {
    while (warp.ballot([&](uint32_t lane) { return all[lane].active; }) != 0) {
        Lanes<Words> line;
        Lanes<uint32_t> match, sums, head;
        warp.each([&](uint32_t lane) {
            const Sought &one = all[lane];
            const uint32_t part = lane % QUAD;
            line[lane] =
                one.active ? four_words(words + one.start + one.line + QUAD * part) : Words{};
            match[lane] = match_of(line[lane], part, one.rest);
            head[lane] = line[lane].all[0];
        });
        for (uint32_t step = 1; step < QUAD; step *= 2) {
            const Lanes<uint32_t> others =
                warp.shuffle(match, [&](uint32_t lane) { return lane ^ step; });
            warp.each([&](uint32_t lane) { match[lane] = least(match[lane], others[lane]); });
        }
        warp.each(
            [&](uint32_t lane) { sums[lane] = counts_of(line[lane], lane % QUAD, match[lane]); });
        for (uint32_t step = 1; step < QUAD; step *= 2) {
            const Lanes<uint32_t> others =
                warp.shuffle(sums, [&](uint32_t lane) { return lane ^ step; });
            warp.each([&](uint32_t lane) { sums[lane] += others[lane]; });
        }
        head = warp.shuffle(head, [](uint32_t lane) { return lane - lane % QUAD; });
        warp.each([&](uint32_t lane) {
            if (all[lane].active) take_line(all[lane], head[lane], sums[lane]);
        });
    }
}
