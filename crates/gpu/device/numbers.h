// Bits and tasks that numbers need.
#pragma once

#include "warp.cuh"

// Bits that numbers up to this one have.
inline uint32_t bits_of(uint64_t most) {
    uint32_t bits = 1;
    while (bits < 64 && most >> bits > 0) ++bits;
    return bits;
}

// Warps that so many items take, a lane each.
inline uint32_t tasks_of(uint64_t items) { return uint32_t((items + LANES - 1) / LANES); }
