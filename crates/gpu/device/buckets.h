// Suffixes that a device brings into order, round by round.
#pragma once

#include <utility>

#include "numbers.h"
#include "suffix_steps.cuh"

// Ranks that a round has found.
struct RankList {
    const uint32_t *suffixes;
    const uint32_t *heads;
    uint32_t count;
};

// Suffixes whose buckets are split, each by the rank of the suffix so many letters further on. What
// is known of ranks is for whoever has them.
class Buckets {
  public:
    // With up to so many bytes of the device, and so many numbers that go to the host and back.
    Buckets(uint64_t bytes, uint32_t rank_bits, uint32_t few_numbers)
        : budget(bytes), rank_bits(rank_bits) {
        totals.reserve(few_numbers, budget);
        counts.reserve(few_numbers, budget);
    }

    // Room for keys of so many suffixes.
    void reserve_keys(uint64_t room) {
        for (backend::Buffer<uint64_t> &one : keys) one.reserve(room, budget);
        for (backend::Buffer<uint32_t> &one : suffixes) one.reserve(room, budget);
        by_key = keys[0].data();
        other_keys = keys[1].data();
        sorted = suffixes[0].data();
        spare = suffixes[1].data();
    }

    // Room for lists of so many suffixes: four, and others behind them.
    void reserve_lists(uint64_t room, uint32_t all) {
        lists.reserve(all * room, budget);
        uint32_t *const list = lists.data();
        now = {list, list + room};
        next = {list + 2 * room, list + 3 * room};
    }

    // Sorts suffixes by their first letters, which are their keys, up to the largest.
    void begin(uint32_t suffixes_there, uint32_t codes, uint64_t most) {
        count = suffixes_there;
        sort_by_key(sorted, spare, count, bits_of(most));
        stream.zero(counts.data(), ROUND_COUNTS);
        split(sorted, count, codes);
    }

    // Splits the buckets that are left. Suffixes of small ones are first in the list of those that
    // are unresolved, and those of large ones last.
    void refine(NextRanks of_small, NextRanks of_large) {
        stream.zero(counts.data(), ROUND_COUNTS);
        uint32_t *in_order = now.suffixes + (count - large), *other = spare;
        if (large > 0) {
            const Ranked list = {in_order, now.heads + (count - large)};
            stream.launch(RankKeys{list, large, of_large, rank_bits, by_key}, tasks_of(large));
            sort_by_key(in_order, other, large, 2 * rank_bits);
        }
        split(in_order, large, 0);
        stream.launch(SortSmall{now, small, of_small, sorted, changes(), left()},
                      tasks_of_buckets(small));
    }

    // Waits for a round; what it found stays until the next one.
    void finish() {
        stream.copy_out(totals.data(), counts.data(), ROUND_COUNTS);
        stream.wait();
        moved_ranks = {changes().suffixes, changes().heads, totals.data()[OF_CHANGED]};
        small = totals.data()[OF_SMALL];
        large = totals.data()[OF_LARGE];
        std::swap(now, next);
    }

    Budget budget;
    const uint32_t rank_bits;
    // How many suffixes there are, and how many of them are unresolved.
    uint32_t count = 0, small = 0, large = 0;
    backend::Pinned<uint32_t> totals;
    backend::Buffer<uint32_t> counts, lists;
    // Those that are sorted lose their meaning with the end of a round.
    uint64_t *by_key = nullptr;
    // All suffixes, in order as far as they are resolved; and as much room.
    uint32_t *sorted = nullptr, *spare = nullptr;
    Ranked now = {};
    // Of suffixes that were split, and of those that moved within a small bucket.
    RankList split_ranks = {}, moved_ranks = {};

  private:
    // Sorts by keys; the sorted suffixes are where the first points to then.
    void sort_by_key(uint32_t *&in_order, uint32_t *&other, uint32_t number, uint32_t bits) {
        const auto [sorted_keys, by_suffix] =
            stream.sort_pairs(by_key, other_keys, in_order, other, number, bits, budget);
        if (sorted_keys != by_key) std::swap(by_key, other_keys);
        if (by_suffix != in_order) std::swap(in_order, other);
    }

    void split(const uint32_t *in_order, uint32_t number, uint32_t of_letters) {
        stream.launch(
            SplitBuckets{by_key, in_order, number, of_letters, rank_bits, heads(), sorted, left()},
            tasks_of_buckets(number));
        split_ranks = {in_order, heads(), number};
    }

    static uint32_t tasks_of_buckets(uint32_t number) {
        return uint32_t((uint64_t(number) + BUCKET_STRIDE - 1) / BUCKET_STRIDE);
    }

    // The keys that are not sorted make room for ranks: of suffixes that are split, at its front,
    // and of those of small buckets that change. There are no more than suffixes of both together.
    uint32_t *heads() const { return reinterpret_cast<uint32_t *>(other_keys); }
    Ranked changes() const { return {heads() + (count - small), heads() + count}; }
    Unresolved left() const { return {next, count, counts.data()}; }

    backend::Buffer<uint64_t> keys[2];
    backend::Buffer<uint32_t> suffixes[2];
    uint64_t *other_keys = nullptr;
    Ranked next = {};

  public:
    // The last to go is the first to be waited for.
    backend::Stream stream;
};
