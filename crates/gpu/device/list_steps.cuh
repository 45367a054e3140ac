// The steps from the sorted records of a partition to lists: the windows that have a feature, up to
// so many of them. Each is a body that a warp takes for 32 neighbours, or for long lists.
#pragma once

#include "abi.h"
#include "kmers.cuh"
#include "lookup.cuh"
#include "targets.cuh"

// What windows are chosen by, and what features are counted for.
struct ListedTargets {
    Targets targets;
    // Of each target the checksum of its name, and the number of its taxon.
    const uint64_t *names;
    const uint32_t *taxa;
};

GYRASE_DEVICE uint32_t place_in_partition(uint64_t record) {
    return uint32_t(record >> (64 - PLACE_BITS));
}

GYRASE_DEVICE uint32_t window_of(uint64_t record) { return uint32_t(record); }

// `Cap::rank` of crates/classify/src/cap.rs.
GYRASE_DEVICE uint64_t rank_of(const ListedTargets &of, uint64_t record) {
    const uint32_t window = window_of(record), target = target_at(of.targets, window);
    return mix(of.names[target] ^ (window - of.targets.first_windows[target]));
}

// Marks the first record of each list.
struct MarkLists {
    using Scratch = NoScratch;

    const uint64_t *records;
    uint32_t count;
    uint32_t *marks;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const bool first = at == 0 || place_in_partition(records[at]) !=
                                              place_in_partition(records[at - 1]);
            marks[at] = first ? 1 : 0;
        });
    }
};

// Where lists begin, by their numbers from 1 on, and where the last ends. All records are kept.
struct BeginLists {
    using Scratch = NoScratch;

    const uint32_t *numbers;
    uint32_t count;
    uint32_t *begins;
    uint32_t *kept;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const uint32_t number = numbers[at];
            if (at == 0 || numbers[at - 1] != number) begins[number - 1] = at;
            if (at + 1 == count) begins[number] = count;
            kept[at] = 1;
        });
    }
};

// Finds the lists that are too long, in any order.
struct FindLong {
    using Scratch = NoScratch;

    const uint32_t *begins;
    uint32_t lists;
    uint32_t most;
    uint32_t *found;
    uint32_t *found_count;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, lists, [&](uint32_t list) {
            if (begins[list + 1] - begins[list] > most) found[add_to(found_count, 1)] = list;
        });
    }
};

// Keeps of each list that is too long the records of the smallest ranks, of equal ones the first.
struct KeepSmallest {
    using Scratch = NoScratch;

    const uint64_t *records;
    ListedTargets of;
    const uint32_t *begins;
    const uint32_t *found;
    const uint32_t *found_count;
    uint32_t most;
    // As many warps share them.
    uint32_t tasks;
    uint32_t *kept;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for (uint32_t at = task; at < *found_count; at += tasks) {
            const uint32_t begin = begins[found[at]], count = begins[found[at] + 1] - begin;
            keep(warp, records + begin, count, kept + begin);
        }
    }

    GYRASE_DEVICE void keep(Warp warp, const uint64_t *list, uint32_t count,
                            uint32_t *marks) const {
        // The rank of the last that is kept, bit by bit, and how many have a smaller one.
        uint64_t last = 0;
        uint32_t smaller = 0;
        for (uint32_t bit = 64; bit-- > 0;) {
            last <<= 1;
            const uint32_t more = count_with(warp, list, count, bit, last);
            if (smaller + more < most) {
                smaller += more;
                last |= 1;
            }
        }
        uint32_t equal = most - smaller;
        for (uint32_t begin = 0; begin < count; begin += LANES) {
            const Lanes<uint64_t> ranks = ranks_from(warp, list, count, begin);
            const uint32_t same = warp.ballot(
                [&](uint32_t lane) { return begin + lane < count && ranks[lane] == last; });
            warp.each([&](uint32_t lane) {
                if (begin + lane >= count) return;
                const bool first = (same >> lane & 1) && ones(same & before(lane)) < equal;
                marks[begin + lane] = ranks[lane] < last || first ? 1 : 0;
            });
            equal -= least(equal, ones(same));
        }
    }

    GYRASE_DEVICE Lanes<uint64_t> ranks_from(Warp warp, const uint64_t *list, uint32_t count,
                                             uint32_t begin) const {
        Lanes<uint64_t> ranks;
        warp.each([&](uint32_t lane) {
            ranks[lane] = begin + lane < count ? rank_of(of, list[begin + lane]) : 0;
        });
        return ranks;
    }

    // How many ranks are these bits from a bit on.
    GYRASE_DEVICE uint32_t count_with(Warp warp, const uint64_t *list, uint32_t count, uint32_t bit,
                                      uint64_t bits) const {
        uint32_t found = 0;
        for (uint32_t begin = 0; begin < count; begin += LANES) {
            const Lanes<uint64_t> ranks = ranks_from(warp, list, count, begin);
            found += ones(warp.ballot([&](uint32_t lane) {
                return begin + lane < count && ranks[lane] >> bit == bits;
            }));
        }
        return found;
    }
};

// Brings the windows of the records that are kept together.
struct PackWindows {
    using Scratch = NoScratch;

    const uint64_t *records;
    const uint32_t *kept_before;
    uint32_t count;
    uint32_t *windows;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const uint32_t put = kept_before[at];
            if (kept_before[at + 1] > put) windows[put] = window_of(records[at]);
        });
    }
};

// Tells of each list its place and how many windows it has, and counts its feature once for each
// taxon of them.
struct TellLists {
    using Scratch = NoScratch;

    const uint64_t *records;
    ListedTargets of;
    const uint32_t *begins;
    const uint32_t *kept_before;
    const uint32_t *windows;
    uint32_t lists;
    uint32_t partition;
    uint32_t most;
    uint32_t *places;
    uint8_t *counts;
    uint32_t *full;
    uint64_t *distinct;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, lists, [&](uint32_t list) {
            const uint32_t from = kept_before[begins[list]], to = kept_before[begins[list + 1]];
            places[list] = partition << PLACE_BITS | place_in_partition(records[begins[list]]);
            counts[list] = uint8_t(to - from);
            if (to - from == most) add_to(full, 1);
            for (uint32_t at = from; at < to; at = behind_target(at, to)) {
                const uint32_t taxon = taxon_at(at);
                if (!is_among(taxon, from, at)) add_to(distinct + taxon, 1);
            }
        });
    }

    GYRASE_DEVICE uint32_t taxon_at(uint32_t at) const {
        return of.taxa[target_at(of.targets, windows[at])];
    }

    // The first window, of those up to one, that is of another target.
    GYRASE_DEVICE uint32_t behind_target(uint32_t at, uint32_t to) const {
        const uint32_t target = target_at(of.targets, windows[at]);
        return up_to(windows, at, to, of.targets.first_windows[target + 1] - 1);
    }

    GYRASE_DEVICE bool is_among(uint32_t taxon, uint32_t from, uint32_t to) const {
        for (uint32_t at = from; at < to; at = behind_target(at, to))
            if (taxon_at(at) == taxon) return true;
        return false;
    }
};
