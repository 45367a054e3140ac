// What the lanes of a warp work out together.
#pragma once

#include "warp.cuh"

// To each lane the sum of its number and of those of the lanes before it.
GYRASE_DEVICE Lanes<uint32_t> sums_of_lanes(Warp warp, Lanes<uint32_t> numbers) {
    for (uint32_t step = 1; step < LANES; step *= 2) {
        const Lanes<uint32_t> others = warp.shuffle(
            numbers, [&](uint32_t lane) { return lane >= step ? lane - step : lane; });
        warp.each([&](uint32_t lane) { numbers[lane] += lane >= step ? others[lane] : 0; });
    }
    return numbers;
}

// What the last lane has.
GYRASE_DEVICE uint32_t last_of_lanes(Warp warp, const Lanes<uint32_t> &numbers) {
    const Lanes<uint32_t> all = warp.shuffle(numbers, [](uint32_t) { return LANES - 1; });
    uint32_t last = 0;
    warp.each([&](uint32_t lane) { last = all[lane]; });
    return last;
}

// Each lane has a list, which begins there in the line of all. To each lane whose list its place is
// in, of the places from `first` on: that of the last lane that begins there or before, for those
// without any come before it.
GYRASE_DEVICE Lanes<uint32_t> owners_of_places(Warp warp, const Lanes<uint32_t> &begin,
                                               uint32_t first) {
    Lanes<uint32_t> owner;
    warp.each([&](uint32_t lane) { owner[lane] = 0; });
    for (uint32_t step = LANES / 2; step > 0; step /= 2) {
        const Lanes<uint32_t> begins =
            warp.shuffle(begin, [&](uint32_t lane) { return owner[lane] + step; });
        warp.each([&](uint32_t lane) {
            if (begins[lane] <= first + lane) owner[lane] += step;
        });
    }
    return owner;
}

// A tile is what a warp sees of a list at once. A lane has one place of each row, and a mark of a
// place is a bit of a word.
constexpr uint32_t TILE_ROWS = 8;
constexpr uint32_t TILE = TILE_ROWS * LANES;
constexpr uint32_t NO_MARK = UINT32_MAX;

template <class T>
using Tile = Lanes<T>[TILE_ROWS];

// Runs a step for each row and lane.
template <class Step>
GYRASE_DEVICE void for_tile(Warp warp, Step step) {
    GYRASE_UNROLL
    for (uint32_t row = 0; row < TILE_ROWS; ++row)
        warp.each([&](uint32_t lane) { step(row, lane); });
}

// Marks the places of a tile that are said to be; other marks are seen after `sync` too.
GYRASE_DEVICE void mark(Warp warp, const Tile<bool> &said, uint32_t *marks) {
    GYRASE_UNROLL
    for (uint32_t row = 0; row < TILE_ROWS; ++row) {
        const uint32_t bits = warp.ballot([&](uint32_t lane) { return said[row][lane]; });
        warp.each([&](uint32_t lane) {
            if (lane == 0) marks[row] = bits;
        });
    }
    warp.sync();
}

// The last mark at a place or before it, if there is one.
GYRASE_DEVICE uint32_t last_mark(const uint32_t *marks, uint32_t at) {
    uint32_t row = at / LANES, bits = marks[row] & low_bits(at % LANES + 1);
    while (bits == 0) {
        if (row == 0) return NO_MARK;
        bits = marks[--row];
    }
    return row * LANES + LANES - 1 - first_bit(reversed(bits));
}

// The first mark behind a place; the end of the tile where there is none.
GYRASE_DEVICE uint32_t next_mark(const uint32_t *marks, uint32_t at) {
    uint32_t row = at / LANES, bits = marks[row] & ~low_bits(at % LANES + 1);
    while (bits == 0) {
        if (++row == TILE_ROWS) return TILE;
        bits = marks[row];
    }
    return row * LANES + first_bit(bits);
}

// How many marks there are before a place.
GYRASE_DEVICE uint32_t marks_before(const uint32_t *marks, uint32_t at) {
    uint32_t count = ones(marks[at / LANES] & before(at % LANES));
    for (uint32_t row = 0; row < at / LANES; ++row) count += ones(marks[row]);
    return count;
}

// Makes room for what is marked of a tile in a list of which so much is used: where it begins.
GYRASE_DEVICE uint32_t claim(Warp warp, const uint32_t *marks, uint32_t *used) {
    uint32_t count = 0;
    for (uint32_t row = 0; row < TILE_ROWS; ++row) count += ones(marks[row]);
    if (count == 0) return 0;
    Lanes<uint32_t> begin;
    warp.each([&](uint32_t lane) { begin[lane] = lane + 1 == LANES ? add_to(used, count) : 0; });
    return last_of_lanes(warp, begin);
}

// Runs a step for what is marked of a tile, with a place of such a list for each, in their order.
template <class Step>
GYRASE_DEVICE void append(Warp warp, const uint32_t *marks, uint32_t *used, Step step) {
    const uint32_t begin = claim(warp, marks, used);
    for_tile(warp, [&](uint32_t row, uint32_t lane) {
        if ((marks[row] >> lane & 1) == 0) return;
        step(row, lane, begin + marks_before(marks, row * LANES + lane));
    });
}
