// The steps of sorting suffixes on several devices. Each has the ranks of a block of the text, and
// the order of the suffixes whose keys are in a range.
#pragma once

#include "suffix_steps.cuh"

// Keys at even distances.
struct Samples {
    using Scratch = NoScratch;

    const uint64_t *keys;
    uint32_t count;
    uint32_t samples;
    uint64_t *to;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, samples,
                 [&](uint32_t at) { to[at] = keys[uint64_t(at) * count / samples]; });
    }
};

// How many of some sorted numbers are less than each of others.
template <class Number>
struct NumbersBefore {
    using Scratch = NoScratch;

    const Number *sorted;
    uint32_t count;
    // Null where they are those from 0 on.
    const Number *others;
    uint32_t other_count;
    uint32_t *to;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, other_count, [&](uint32_t at) {
            const Number other = others != nullptr ? others[at] : Number(at);
            to[at] = other > 0 ? up_to(sorted, 0, count, Number(other - 1)) : 0;
        });
    }
};

// A list of two parts.
struct TwoLists {
    const uint32_t *first;
    uint32_t first_count;
    const uint32_t *second;

    GYRASE_DEVICE uint32_t operator[](uint32_t at) const {
        return at < first_count ? first[at] : second[at - first_count];
    }
};

// The device of each place of the text that is so far behind a listed one, by blocks.
struct Owners {
    using Scratch = NoScratch;

    TwoLists places;
    uint32_t count;
    uint32_t further;
    uint32_t block;
    uint32_t *owners;
    uint32_t *numbers;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            owners[at] = (places[at] + further) / block;
            numbers[at] = at;
        });
    }
};

// Listed numbers in the order of their owners, each with a number more, and without the blocks
// before that of its owner.
struct ByOwner {
    using Scratch = NoScratch;

    TwoLists list;
    uint32_t count;
    const uint32_t *order;
    const uint32_t *owners;
    uint32_t more;
    // 0 where the numbers are no places.
    uint32_t block;
    uint32_t *to;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count,
                 [&](uint32_t at) { to[at] = list[order[at]] + more - owners[at] * block; });
    }
};
