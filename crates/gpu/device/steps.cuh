// The steps of a batch. Each is a body that a warp takes for a task: a window, or 32 neighbouring
// hits.
#pragma once

#include "lanes.cuh"
#include "lookup.cuh"
#include "regions.cuh"
#include "sketch.cuh"

// Set where a batch cannot be answered here.
constexpr uint32_t STATUS_DAMAGED = 1;
constexpr uint32_t STATUS_TOO_LONG = 2;
// Features of a read, at most: hits name them in 16 bits.
constexpr uint32_t MOST_FEATURES = 1 << FEATURE_BITS;

// A window of a sequence of the batch.
struct Window {
    uint32_t start;
    uint32_t length;
    uint32_t read;
};

// The features of each window, in slots of `room`.
struct SketchWindows {
    using Scratch = SketchScratch;

    const uint8_t *letters;
    const Window *windows;
    gyrase_gpu_shape shape;
    uint32_t room;
    uint32_t *features;
    uint32_t *counts;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &scratch, uint32_t task) const {
        const Window window = windows[task];
        uint32_t *slot = features + uint64_t(task) * room;
        const uint32_t found =
            sketch_window(warp, letters + window.start, window.length, shape, room, scratch, slot);
        warp.each([&](uint32_t lane) {
            if (lane == 0) counts[task] = found;
        });
    }
};

// The slices that features are looked up in.
struct Slices {
    // Of all, one behind the other.
    const uint32_t *words;
    // 4,096 for each slice.
    const gyrase_gpu_partition *partitions;
    // What the windows of each are counted from.
    const uint32_t *first_windows;
    uint32_t count;

    // Where the first slot of a window is that has `room` of them for each slice.
    GYRASE_DEVICE uint64_t slot_of(uint32_t window, uint32_t slice, uint32_t room) const {
        return (uint64_t(window) * count + slice) * room;
    }
};

// Where the locations of each feature are, in as many slots for each slice, and how many a window
// has.
struct LookUpWindows {
    using Scratch = NoScratch;

    Slices slices;
    const uint32_t *features;
    const uint32_t *counts;
    uint32_t room;
    uint64_t *firsts;
    uint8_t *lists;
    uint32_t *hits;
    uint32_t *status;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        Lanes<uint32_t> sum;
        warp.each([&](uint32_t lane) { sum[lane] = 0; });
        for (uint32_t slice = 0; slice < slices.count; ++slice) look_up_in(warp, slice, task, sum);
        for (uint32_t step = 1; step < LANES; step *= 2) {
            const Lanes<uint32_t> others =
                warp.shuffle(sum, [&](uint32_t lane) { return lane ^ step; });
            warp.each([&](uint32_t lane) { sum[lane] += others[lane]; });
        }
        warp.each([&](uint32_t lane) {
            if (lane == 0) hits[task] = sum[lane];
        });
    }

    // Looks the features of a window up in one slice, and adds what lanes find to their sums.
    GYRASE_DEVICE void look_up_in(Warp warp, uint32_t slice, uint32_t task,
                                  Lanes<uint32_t> &sum) const {
        const gyrase_gpu_partition *partitions = slices.partitions + slice * PARTITIONS;
        const uint32_t *sketch = features + uint64_t(task) * room;
        const uint64_t slot = slices.slot_of(task, slice, room);
        const uint32_t count = counts[task];
        for (uint32_t first = 0; first < count; first += QUADS) {
            Lanes<Sought> all;
            warp.each([&](uint32_t lane) {
                const uint32_t at = first + lane / QUAD;
                all[lane] = sought(partitions, at < count ? sketch[at] : 0, at < count);
            });
            look_up(warp, slices.words, all);
            warp.each([&](uint32_t lane) {
                const uint32_t at = first + lane / QUAD;
                if (at < count && lane % QUAD == 0) {
                    firsts[slot + at] = all[lane].first;
                    lists[slot + at] = uint8_t(all[lane].count);
                    sum[lane] += all[lane].count;
                    if (all[lane].damaged) set_bits(status, STATUS_DAMAGED);
                }
            });
        }
    }
};

// Where the features and hits of reads begin, by those of their windows.
struct BeginReads {
    using Scratch = NoScratch;

    const uint32_t *first_windows;
    const uint32_t *features_before;
    const uint32_t *hits_before;
    uint32_t reads;
    uint32_t *feature_begins;
    uint32_t *hit_begins;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, reads + 1, [&](uint32_t read) {
            feature_begins[read] = features_before[first_windows[read]];
            hit_begins[read] = hits_before[first_windows[read]];
        });
    }
};

// What a window has becomes part of two lists: its features, and a hit for each location of each.
struct ListHits {
    using Scratch = NoScratch;

    Slices slices;
    const Window *windows;
    const uint32_t *slots;
    const uint64_t *firsts;
    const uint8_t *lists;
    uint32_t room;
    const uint32_t *features_before;
    const uint32_t *hits_before;
    const uint32_t *feature_begins;
    HitBits bits;
    uint32_t *features;
    uint64_t *hits;
    uint32_t *status;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        const uint64_t slot = uint64_t(task) * room;
        const uint32_t start = features_before[task], count = features_before[task + 1] - start;
        const uint32_t read = windows[task].read;
        const uint32_t number = start - feature_begins[read];
        uint32_t put = hits_before[task];
        for (uint32_t first = 0; first < count; first += LANES) {
            warp.each([&](uint32_t lane) {
                const uint32_t at = first + lane;
                if (at < count) features[start + at] = slots[slot + at];
                if (at < count && number + at >= MOST_FEATURES) set_bits(status, STATUS_TOO_LONG);
            });
            for (uint32_t slice = 0; slice < slices.count; ++slice) {
                const uint64_t own = slices.slot_of(task, slice, room);
                Lanes<uint32_t> list;
                Lanes<uint64_t> from;
                warp.each([&](uint32_t lane) {
                    const uint32_t at = first + lane;
                    list[lane] = at < count ? lists[own + at] : 0;
                    from[lane] = at < count ? firsts[own + at] : 0;
                });
                const Lanes<uint32_t> end = sums_of_lanes(warp, list);
                const Common common = {read, number + first, slices.first_windows[slice]};
                put += list_some(warp, common, list, end, from, put);
            }
        }
    }

    // What the hits of neighbouring features have in common: their read, the number of the first
    // feature, and what their windows are counted from.
    struct Common {
        uint32_t read;
        uint32_t number;
        uint32_t first_window;
    };

    // A hit for each location of up to 32 features. Lanes take locations, whichever feature they
    // are of: lists are short, and many are empty.
    GYRASE_DEVICE uint32_t list_some(Warp warp, const Common &common, const Lanes<uint32_t> &list,
                                     const Lanes<uint32_t> &end, const Lanes<uint64_t> &from,
                                     uint32_t put) const {
        Lanes<uint32_t> begin;
        warp.each([&](uint32_t lane) { begin[lane] = end[lane] - list[lane]; });
        const uint32_t sum = last_of_lanes(warp, end);
        for (uint32_t done = 0; done < sum; done += LANES) {
            const Lanes<uint32_t> feature = owners_of_places(warp, begin, done);
            const auto of_feature = [&](uint32_t lane) { return feature[lane]; };
            const Lanes<uint32_t> begins = warp.shuffle(begin, of_feature);
            const Lanes<uint64_t> starts = warp.shuffle(from, of_feature);
            warp.each([&](uint32_t lane) {
                const uint32_t at = done + lane;
                if (at >= sum) return;
                const uint32_t window = slices.words[starts[lane] + (at - begins[lane])];
                hits[put + at] = hit_of(bits, common.read, common.first_window + window,
                                        common.number + feature[lane]);
            });
        }
        return sum;
    }
};

// Leaves of every hit its window and the number of its feature, in a half each.
struct ShowHits {
    using Scratch = NoScratch;

    HitBits bits;
    uint32_t count;
    uint64_t *hits;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            hits[at] = uint64_t(location_of(bits, hits[at])) << 32 | number_of(hits[at]);
        });
    }
};

// Marks the first hit of each read in each target.
struct MarkRegions {
    using Scratch = NoScratch;

    SortedHits all;
    Targets targets;
    uint32_t *marks;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, all.count, [&](uint32_t at) {
            bool first = at == 0 || read_at(at - 1) != read_at(at);
            if (!first) {
                const uint32_t target = target_at(targets, location_at(all, at));
                first = location_at(all, at - 1) < targets.first_windows[target];
            }
            marks[at] = first ? 1 : 0;
        });
    }

    GYRASE_DEVICE uint32_t read_at(uint32_t at) const { return read_of(all.bits, all.hits[at]); }
};

// A read's share of a target while its best region is sought.
struct Share {
    uint32_t start;
    uint32_t target;
    uint32_t span;
};

// Writes what the first hit of each share tells. `numbers` has for each hit the number of its
// share, from 1.
struct BeginRegions {
    using Scratch = NoScratch;

    SortedHits all;
    Targets targets;
    const uint32_t *numbers;
    const uint32_t *spans;
    // Where the hits of each read begin.
    const uint32_t *hit_begins;
    uint32_t reads;
    Share *shares;
    uint32_t *region_begins;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        warp.each([&](uint32_t lane) {
            const uint32_t at = task * LANES + lane;
            if (at < all.count && (at == 0 || numbers[at] != numbers[at - 1])) {
                const uint32_t target = target_at(targets, location_at(all, at));
                shares[numbers[at] - 1] = {at, target, spans[read_of(all.bits, all.hits[at])]};
            }
            if (at <= reads) {
                const uint32_t begin = hit_begins[at];
                region_begins[at] = begin < all.count ? numbers[begin] - 1 : numbers[all.count - 1];
            }
        });
    }
};

// The best stretch of each share, by the stretches that end with each of its hits.
struct FindBest {
    using Scratch = NoScratch;

    SortedHits all;
    const uint32_t *numbers;
    const Share *shares;
    uint64_t *best;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        Lanes<uint32_t> number;
        Lanes<uint64_t> own;
        warp.each([&](uint32_t lane) {
            const uint32_t at = task * LANES + lane;
            number[lane] = 0;
            own[lane] = 0;
            if (at >= all.count) return;
            number[lane] = numbers[at];
            const Share share = shares[number[lane] - 1];
            own[lane] = stretch(at + 1 - reaches_back(all, share.start, at, share.span), at);
        });
        for (uint32_t step = 1; step < LANES; step *= 2) {
            const auto back = [&](uint32_t lane) { return lane >= step ? lane - step : lane; };
            const Lanes<uint32_t> numbers_back = warp.shuffle(number, back);
            const Lanes<uint64_t> best_back = warp.shuffle(own, back);
            warp.each([&](uint32_t lane) {
                if (numbers_back[lane] == number[lane])
                    own[lane] = most(own[lane], best_back[lane]);
            });
        }
        const Lanes<uint32_t> next =
            warp.shuffle(number, [](uint32_t lane) { return lane + 1 < LANES ? lane + 1 : lane; });
        warp.each([&](uint32_t lane) {
            const bool last = lane + 1 == LANES || next[lane] != number[lane];
            if (number[lane] > 0 && last) raise_to(best + (number[lane] - 1), own[lane]);
        });
    }
};

// Writes the regions, with the last hit of each share.
struct EndRegions {
    using Scratch = NoScratch;

    SortedHits all;
    const uint32_t *numbers;
    const Share *shares;
    const uint64_t *best;
    gyrase_gpu_region *regions;
    uint32_t *region_hits;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, all.count, [&](uint32_t at) {
            const uint32_t number = numbers[at] - 1;
            if (at + 1 < all.count && numbers[at + 1] == numbers[at]) return;
            const uint64_t found = best[number];
            const uint32_t first = location_at(all, first_of(found));
            const uint32_t last = location_at(all, last_of(found));
            regions[number] = {shares[number].target, first, last, count_of(found)};
            region_hits[number] = count_of(found);
        });
    }
};

// Brings the hits of all regions together, in 32 bits each.
struct PackHits {
    using Scratch = NoScratch;

    SortedHits all;
    const uint32_t *numbers;
    const uint64_t *best;
    const gyrase_gpu_region *regions;
    const uint32_t *hits_before;
    uint32_t *packed;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, all.count, [&](uint32_t at) {
            const uint32_t number = numbers[at] - 1;
            const uint64_t found = best[number];
            if (at < first_of(found) || at > last_of(found)) return;
            const uint32_t window = location_at(all, at) - regions[number].first;
            packed[hits_before[number] + (at - first_of(found))] =
                window << FEATURE_BITS | number_of(all.hits[at]);
        });
    }
};
