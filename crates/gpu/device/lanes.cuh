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
