// k-mers of up to 32 bases, in a word each.
#pragma once

#include "warp.cuh"

// `mix` of crates/kmer/src/key.rs.
GYRASE_DEVICE uint64_t mix(uint64_t word) {
    word = (word ^ word >> 32) * 0x9e3779b97f4a7c15ull;
    return (word ^ word >> 29) * 0xbf58476d1ce4e5b9ull;
}

// The 32 bases of a word in reverse order.
GYRASE_DEVICE uint64_t reversed_bases(uint64_t word) {
    constexpr uint64_t SECOND_BITS = 0x5555555555555555ull;
    const uint64_t bits = uint64_t(reversed(uint32_t(word))) << 32 | reversed(uint32_t(word >> 32));
    return (bits >> 1 & SECOND_BITS) | (bits & SECOND_BITS) << 1;
}

// The key of a k-mer, or of its canonical form unless stranded, whose first base is lowest.
GYRASE_DEVICE uint64_t key_of_bases(uint64_t bases, uint32_t k, bool stranded) {
    const uint32_t unused = 64 - 2 * k;
    const uint64_t forward = reversed_bases(bases << unused);
    // From its first base up, it spells the k-mer backwards.
    const uint64_t reverse = ~bases << unused >> unused;
    return mix(stranded ? forward : least(forward, reverse));
}
