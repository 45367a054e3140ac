// The steps of a build: features become records, which are sorted. A record has the place of a
// feature in its upper half, and a window that has it in its lower.
#pragma once

#include "lanes.cuh"
#include "lookup.cuh"

// Leaves of the features of each window, in slots of `room`, those of some partitions.
struct KeepPartitions {
    using Scratch = NoScratch;

    uint32_t first;
    uint32_t end;
    uint32_t room;
    uint32_t *features;
    uint32_t *counts;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        uint32_t *slot = features + uint64_t(task) * room;
        const uint32_t count = counts[task];
        uint32_t kept = 0;
        for (uint32_t begin = 0; begin < count; begin += LANES) {
            Lanes<uint32_t> feature;
            warp.each([&](uint32_t lane) {
                feature[lane] = begin + lane < count ? slot[begin + lane] : 0;
            });
            const uint32_t bits = warp.ballot([&](uint32_t lane) {
                const uint32_t partition = place_of(feature[lane]) >> PLACE_BITS;
                return begin + lane < count && first <= partition && partition < end;
            });
            // What is written stands before what the other lanes have read.
            warp.each([&](uint32_t lane) {
                if (bits >> lane & 1) slot[kept + ones(bits & before(lane))] = feature[lane];
            });
            warp.sync();
            kept += ones(bits);
        }
        warp.each([&](uint32_t lane) {
            if (lane == 0) counts[task] = kept;
        });
    }
};

// Makes records of the features of all windows, of which the first has that number.
struct ListRecords {
    using Scratch = NoScratch;

    const uint32_t *slots;
    uint32_t room;
    const uint32_t *features_before;
    uint32_t first_window;
    uint64_t *records;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        const uint64_t slot = uint64_t(task) * room;
        const uint32_t start = features_before[task], count = features_before[task + 1] - start;
        warp.each([&](uint32_t lane) {
            for (uint32_t at = lane; at < count; at += LANES)
                records[start + at] = uint64_t(place_of(slots[slot + at])) << 32 |
                                      (first_window + task);
        });
    }
};

// Gives windows their numbers of the database: those of a batch follow each other in both.
struct NumberWindows {
    using Scratch = NoScratch;

    // Of each batch the number of its first window, ascending, and what it becomes.
    const uint32_t *came;
    const uint32_t *numbers;
    uint32_t batches;
    uint32_t count;
    uint64_t *records;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const uint64_t record = records[at];
            const uint32_t window = uint32_t(record);
            const uint32_t batch = up_to(came, 0, batches, window) - 1;
            records[at] = record >> 32 << 32 | (numbers[batch] + (window - came[batch]));
        });
    }
};

// Where the records of each partition begin, and where those of the last end.
struct BeginPartitions {
    using Scratch = NoScratch;

    const uint64_t *records;
    uint32_t count;
    uint32_t *begins;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, PARTITIONS + 1, [&](uint32_t partition) {
            const uint64_t last = (uint64_t(partition) << (32 + PLACE_BITS)) - 1;
            begins[partition] = partition > 0 ? up_to(records, 0, count, last) : 0;
        });
    }
};

// Makes records as a partition has them: the place within it in the upper 20 bits, the window below.
struct PlaceInPartition {
    using Scratch = NoScratch;

    uint32_t count;
    uint64_t *records;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const uint64_t record = records[at];
            records[at] = record >> 32 << (64 - PLACE_BITS) | uint32_t(record);
        });
    }
};
