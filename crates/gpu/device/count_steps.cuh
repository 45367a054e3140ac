// The steps of counting k-mers: super-k-mers become keys, which are sorted, and equal ones become a
// row. Each is a body that a warp takes for 32 super-k-mers or for 32 neighbours.
#pragma once

#include "abi.h"
#include "kmers.cuh"
#include "lanes.cuh"

// On the device; see `gyrase_gpu_super_kmers`.
struct SuperKmers {
    const gyrase_gpu_super_kmer *all;
    const uint32_t *weights;
    const uint32_t *parts_of_tasks;
    const gyrase_gpu_part *parts;
    uint32_t k;
    uint32_t stranded;
};

// How many k-mers a super-k-mer has.
GYRASE_DEVICE uint32_t kmers_in(uint64_t low) { return uint32_t(low & 0xff); }

// The bases of a super-k-mer from that of a number on, up to 32 of them.
GYRASE_DEVICE uint64_t bases_from(uint64_t low, uint64_t high, uint32_t number) {
    const uint32_t bit = 8 + 2 * number;
    return bit < 64 ? low >> bit | (high << 1) << (63 - bit) : high >> (bit - 64);
}

// Calls `each` with the keys of a task's super-k-mers, as many as there are lanes at a time, each
// with its weight; a bit of the first number is set for a lane that has one, if its part wants it.
template <class Each>
GYRASE_DEVICE void each_key(Warp warp, const SuperKmers &given, uint32_t task, Each each) {
    const gyrase_gpu_part part = given.parts[given.parts_of_tasks[task]];
    Lanes<uint64_t> low, high;
    Lanes<uint32_t> weight, kmers, begin;
    warp.each([&](uint32_t lane) {
        const uint64_t at = uint64_t(task) * LANES + lane;
        low[lane] = given.all[at].low;
        high[lane] = given.all[at].high;
        weight[lane] = given.weights[at];
        kmers[lane] = kmers_in(low[lane]);
    });
    const Lanes<uint32_t> end = sums_of_lanes(warp, kmers);
    warp.each([&](uint32_t lane) { begin[lane] = end[lane] - kmers[lane]; });
    const uint32_t sum = last_of_lanes(warp, end);
    for (uint32_t done = 0; done < sum; done += LANES) {
        const Lanes<uint32_t> owner = owners_of_places(warp, begin, done);
        const auto of_owner = [&](uint32_t lane) { return owner[lane]; };
        const Lanes<uint64_t> lows = warp.shuffle(low, of_owner);
        const Lanes<uint64_t> highs = warp.shuffle(high, of_owner);
        const Lanes<uint32_t> begins = warp.shuffle(begin, of_owner);
        const Lanes<uint32_t> weights = warp.shuffle(weight, of_owner);
        Lanes<uint64_t> key;
        warp.each([&](uint32_t lane) {
            key[lane] = 0;
            if (done + lane >= sum) return;
            const uint32_t number = done + lane - begins[lane];
            const uint64_t bases = bases_from(lows[lane], highs[lane], number);
            key[lane] = key_of_bases(bases, given.k, given.stranded != 0);
        });
        const uint32_t wanted = warp.ballot([&](uint32_t lane) {
            return done + lane < sum && key[lane] - part.first <= part.last - part.first;
        });
        each(wanted, key, weights);
    }
}

// How many keys of its super-k-mers each task wants.
struct CountKeys {
    using Scratch = NoScratch;

    SuperKmers given;
    uint32_t *keys;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        uint32_t count = 0;
        each_key(warp, given, task,
                 [&](uint32_t wanted, const Lanes<uint64_t> &, const Lanes<uint32_t> &) {
                     count += ones(wanted);
                 });
        warp.each([&](uint32_t lane) {
            if (lane == 0) keys[task] = count;
        });
    }
};

// Where the keys of each part begin, and at last where those of all end.
struct BeginParts {
    using Scratch = NoScratch;

    const gyrase_gpu_part *parts;
    uint32_t count;
    uint32_t tasks;
    const uint32_t *keys_before;
    uint32_t *begins;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count + 1, [&](uint32_t part) {
            begins[part] = keys_before[part < count ? parts[part].first_task : tasks];
        });
    }
};

// The keys that are wanted, and the weight of each.
struct ListKeys {
    using Scratch = NoScratch;

    SuperKmers given;
    const uint32_t *keys_before;
    uint64_t *keys;
    uint32_t *weights;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        uint32_t put = keys_before[task];
        const auto list = [&](uint32_t wanted, const Lanes<uint64_t> &key,
                              const Lanes<uint32_t> &weight) {
            warp.each([&](uint32_t lane) {
                if ((wanted >> lane & 1) == 0) return;
                const uint32_t to = put + ones(wanted & before(lane));
                keys[to] = key[lane];
                weights[to] = weight[lane];
            });
            put += ones(wanted);
        };
        each_key(warp, given, task, list);
    }
};

// Marks the first of equal keys, and makes room for the sum of weights.
struct MarkRows {
    using Scratch = NoScratch;

    const uint64_t *keys;
    const uint32_t *weights;
    uint32_t count;
    uint32_t *marks;
    uint64_t *sums;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            marks[at] = at == 0 || keys[at] != keys[at - 1] ? 1 : 0;
            sums[at] = weights[at];
        });
    }
};

// Marks the first key of each part: no row is of two.
struct MarkParts {
    using Scratch = NoScratch;

    const uint32_t *begins;
    uint32_t parts;
    uint32_t count;
    uint32_t *marks;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, parts, [&](uint32_t part) {
            if (begins[part] < count) marks[begins[part]] = 1;
        });
    }
};

// Where each row begins. `numbers` has the number of its row for each key, from 1.
struct BeginRows {
    using Scratch = NoScratch;

    const uint32_t *numbers;
    uint32_t count;
    uint32_t *starts;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            if (at == 0 || numbers[at] != numbers[at - 1]) starts[numbers[at] - 1] = at;
        });
    }
};

// The first row of each part, and how many all have, instead of their first key.
struct RowsOfParts {
    using Scratch = NoScratch;

    const uint32_t *numbers;
    uint32_t count;
    uint32_t parts;
    uint32_t *begins;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, parts + 1, [&](uint32_t part) {
            const uint32_t at = begins[part];
            begins[part] = at < count ? numbers[at] - 1 : numbers[count - 1];
        });
    }
};

// What rows are made of: where each starts among the keys, and the sums of the weights up to each
// key.
struct Rows {
    const uint32_t *starts;
    const uint64_t *sums;
    uint32_t rows;
    uint32_t keys;
};

// How often the k-mer of a row came; so many and no more can be told.
GYRASE_DEVICE uint32_t count_of_row(const Rows &all, uint32_t row) {
    const uint32_t start = all.starts[row];
    const uint32_t end = row + 1 < all.rows ? all.starts[row + 1] : all.keys;
    const uint64_t count = all.sums[end - 1] - (start > 0 ? all.sums[start - 1] : 0);
    return uint32_t(least<uint64_t>(count, 0xffffffffu));
}

// Marks the rows whose counts are wanted.
struct KeepRows {
    using Scratch = NoScratch;

    Rows all;
    uint32_t least_count;
    uint32_t most_count;
    uint32_t *kept;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, all.rows, [&](uint32_t row) {
            const uint32_t count = count_of_row(all, row);
            kept[row] = count >= least_count && count <= most_count ? 1 : 0;
        });
    }
};

// Brings the rows that are kept together. `kept` has how many of them come before each, and at last
// how many there are.
struct ListRows {
    using Scratch = NoScratch;

    Rows all;
    const uint64_t *keys;
    const uint32_t *kept;
    uint64_t *row_keys;
    uint32_t *row_counts;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, all.rows, [&](uint32_t row) {
            const uint32_t to = kept[row];
            if (kept[row + 1] == to) return;
            row_keys[to] = keys[all.starts[row]];
            row_counts[to] = count_of_row(all, row);
        });
    }
};

// The first row of each part among those that are kept, instead of among all.
struct KeptOfParts {
    using Scratch = NoScratch;

    const uint32_t *kept;
    uint32_t parts;
    uint32_t *begins;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, parts + 1, [&](uint32_t part) { begins[part] = kept[begins[part]]; });
    }
};
