// Whose windows are whose.
#pragma once

#include "warp.cuh"

// A table of every so many windows leaves few targets to search among.
struct Targets {
    // And that behind the windows of the last.
    const uint32_t *first_windows;
    // Of every `1 << shift` windows, the targets that begin before or with the first.
    const uint32_t *begun;
    uint32_t shift;
};

GYRASE_DEVICE uint32_t target_at(const Targets &targets, uint32_t location) {
    const uint32_t block = location >> targets.shift;
    return up_to(targets.first_windows, targets.begun[block], targets.begun[block + 1], location) -
           1;
}
