// From the hits of reads to the best region of every target, as crates/classify/src/candidates.rs
// finds it: of the stretches of up to `span` windows the one with the most hits, the first of
// equals.
//
// All hits of a batch are taken as one list, sorted within each read, so that a long read keeps as
// many lanes busy as many short ones.
#pragma once

#include "abi.h"
#include "targets.cuh"

// Features of a read are named in so many bits.
constexpr uint32_t FEATURE_BITS = 16;

// How a hit is written in a word: from the highest bit on its read, its window, and the number of
// the feature within the read. Windows and reads have as many bits as those of the batch need: a
// sort by them then takes few passes.
struct HitBits {
    uint32_t window;
    uint32_t read;
};

GYRASE_BOTH bool fits(HitBits bits) { return FEATURE_BITS + bits.window + bits.read <= 64; }

GYRASE_DEVICE uint64_t hit_of(HitBits bits, uint32_t read, uint32_t window, uint32_t feature) {
    // A number that is too large is told by the status; here it must not name other windows.
    return (uint64_t(read) << bits.window | window) << FEATURE_BITS |
           (feature & low_bits(FEATURE_BITS));
}

GYRASE_DEVICE uint32_t location_of(HitBits bits, uint64_t hit) {
    return uint32_t(hit >> FEATURE_BITS & ((uint64_t(1) << bits.window) - 1));
}

GYRASE_DEVICE uint32_t read_of(HitBits bits, uint64_t hit) {
    return uint32_t(hit >> FEATURE_BITS >> bits.window);
}

GYRASE_DEVICE uint32_t number_of(uint64_t hit) { return uint32_t(hit) & low_bits(FEATURE_BITS); }

// All hits of a batch, by read and window, and within a window by feature.
struct SortedHits {
    const uint64_t *hits;
    uint32_t count;
    HitBits bits;
};

GYRASE_DEVICE uint32_t location_at(const SortedHits &all, uint32_t at) {
    return location_of(all.bits, all.hits[at]);
}

// The first hit, from `start` on, that is less than `span` windows before hit `to`.
GYRASE_DEVICE uint32_t reaches_back(const SortedHits &all, uint32_t start, uint32_t to,
                                    uint32_t span) {
    const uint32_t location = location_at(all, to);
    if (location - location_at(all, start) < span) return start;
    uint32_t from = start + 1, until = to;
    while (from < until) {
        const uint32_t middle = from + (until - from) / 2;
        if (location - location_at(all, middle) < span) {
            until = middle;
        } else {
            from = middle + 1;
        }
    }
    return from;
}

// A stretch by its number of hits and its last one, so that the largest is the first with the most.
GYRASE_DEVICE uint64_t stretch(uint32_t count, uint32_t to) {
    return uint64_t(count) << 32 | uint32_t(~to);
}
GYRASE_DEVICE uint32_t count_of(uint64_t stretch) { return uint32_t(stretch >> 32); }
GYRASE_DEVICE uint32_t last_of(uint64_t stretch) { return ~uint32_t(stretch); }
GYRASE_DEVICE uint32_t first_of(uint64_t stretch) {
    return last_of(stretch) + 1 - count_of(stretch);
}
