// Suffix arrays, and what neighbours in them share.
#pragma once

#include <utility>

#include "numbers.h"
#include "suffix_steps.cuh"

// Letters of a text, at most: positions have 32 bits.
constexpr uint64_t MOST_TEXT = UINT32_MAX - TEXT_SLACK;
// The part of a text's letters whose ranks are written as they come. More are grouped before by
// some of their bits, so that those written at a time are near each other.
constexpr uint32_t FEW_RANKS = 16;
constexpr uint32_t GROUP_BITS = 8;

// Sorts the suffixes of one text.
class SuffixSort {
  public:
    SuffixSort(const gyrase_gpu_text &given, uint64_t bytes) : budget(bytes) {
        if (given.length > MOST_TEXT) throw Declined();
        length = uint32_t(given.length);
        codes = given.codes;
        rank_bits = bits_of(length);
        totals.reserve(ROUND_COUNTS, budget);
        counts.reserve(ROUND_COUNTS, budget);
        text.reserve(given.length + TEXT_SLACK, budget);
        stream.copy_in(text.data(), given.letters, given.length);
        stream.zero(text.data() + given.length, TEXT_SLACK);
        for (backend::Buffer<uint64_t> &one : keys) one.reserve(given.length, budget);
        for (backend::Buffer<uint32_t> &one : lists) one.reserve(given.length, budget);
        for (backend::Buffer<uint32_t> &one : suffixes) one.reserve(given.length, budget);
        ranks.reserve(given.length, budget);
        by_key = keys[0].data();
        other_keys = keys[1].data();
        now = {lists[0].data(), lists[1].data()};
        next = {lists[2].data(), lists[3].data()};
    }

    // `common` may be null.
    void run(uint32_t *positions, uint32_t *common) {
        first_round();
        while (small + large > 0) next_round();
        backend::expect_large_pages(positions, uint64_t(length) * sizeof *positions);
        stream.copy_out(positions, sorted, length);
        if (common != nullptr) share(common);
        stream.wait();
    }

  private:
    void first_round() {
        uint32_t letters = 0;
        uint64_t most = 0;
        // As many as a number of 64 bits has digits.
        const uint32_t last = codes - 1;
        for (; most <= (UINT64_MAX - last) / codes; ++letters) most = most * codes + last;
        sorted = suffixes[0].data();
        spare = suffixes[1].data();
        stream.launch(FirstKeys{text.data(), length, codes, letters, by_key, sorted},
                      tasks_of(length));
        sort_by_key(sorted, spare, length, bits_of(most));
        stream.zero(counts.data(), ROUND_COUNTS);
        split(sorted, length, codes);
        finish_round(sorted, length);
        further = letters;
    }

    // Ranks are read by all of a round before they are written.
    void next_round() {
        stream.zero(counts.data(), ROUND_COUNTS);
        const uint32_t begin = length - large, of_large = large;
        uint32_t *in_order = now.suffixes + begin, *other = spare;
        if (large > 0) {
            stream.launch(
                RankKeys{
                    {in_order, now.heads + begin}, large, ranks.data(), rank_bits, further, by_key},
                tasks_of(large));
            sort_by_key(in_order, other, large, 2 * rank_bits);
            split(in_order, large, 0);
        }
        stream.launch(SortSmall{now, small, ranks.data(), further, sorted, changes(), left()},
                      tasks_of_buckets(small));
        finish_round(in_order, of_large);
        // Where letters end no suffix is unresolved, so it never goes beyond the text.
        further *= 2;
    }

    // Sorts by keys; the sorted suffixes are where the first points to then.
    void sort_by_key(uint32_t *&in_order, uint32_t *&other, uint32_t count, uint32_t bits) {
        const auto [sorted_keys, by_suffix] =
            stream.sort_pairs(by_key, other_keys, in_order, other, count, bits, budget);
        if (sorted_keys != by_key) std::swap(by_key, other_keys);
        if (by_suffix != in_order) std::swap(in_order, other);
    }

    void split(const uint32_t *in_order, uint32_t count, uint32_t of_letters) {
        stream.launch(
            SplitBuckets{by_key, in_order, count, of_letters, rank_bits, heads(), sorted, left()},
            tasks_of_buckets(count));
    }

    // Takes what a round leaves, and writes its ranks: those of so many suffixes that were split,
    // and those that changed.
    void finish_round(const uint32_t *split_suffixes, uint32_t split_count) {
        stream.copy_out(totals.data(), counts.data(), ROUND_COUNTS);
        stream.wait();
        const Ranked changed = changes();
        small = totals.data()[OF_SMALL];
        large = totals.data()[OF_LARGE];
        write(split_suffixes, heads(), split_count, ranks.data());
        write(changed.suffixes, changed.heads, totals.data()[OF_CHANGED], ranks.data());
        std::swap(now, next);
    }

    // Writes values to their places; the sorted keys are lost.
    void write(const uint32_t *places, const uint32_t *values, uint32_t count, uint32_t *to) {
        if (count > length / FEW_RANKS) {
            uint32_t *places_to = reinterpret_cast<uint32_t *>(by_key);
            uint32_t *values_to = places_to + length;
            const uint32_t bits = bits_of(length);
            stream.group_pairs(places, values, places_to, values_to, count,
                               bits > GROUP_BITS ? bits - GROUP_BITS : 0, bits, budget);
            places = places_to;
            values = values_to;
        }
        stream.launch(WriteValues{places, values, count, to}, tasks_of(count));
    }

    // The buffers of the sort are free now.
    void share(uint32_t *common) {
        uint32_t *previous = ranks.data(), *by_position = spare, *ordered = now.suffixes;
        write(sorted + 1, sorted, length - 1, previous);
        stream.launch(Common{text.data(), length, previous, by_position},
                      tasks_of((uint64_t(length) + STRETCH - 1) / STRETCH));
        stream.launch(InOrder{sorted, length, by_position, ordered}, tasks_of(length));
        backend::expect_large_pages(common, uint64_t(length) * sizeof *common);
        stream.copy_out(common, ordered, length);
    }

    static uint32_t tasks_of_buckets(uint32_t count) {
        return uint32_t((uint64_t(count) + BUCKET_STRIDE - 1) / BUCKET_STRIDE);
    }

    // The keys that are not sorted make room for ranks: of suffixes that are split, at its front,
    // and of those of small buckets that change. There are no more than letters of both together.
    uint32_t *heads() const { return reinterpret_cast<uint32_t *>(other_keys); }
    Ranked changes() const { return {heads() + (length - small), heads() + length}; }
    Unresolved left() const { return {next, length, counts.data()}; }

    Budget budget;
    uint32_t length = 0, codes = 0, rank_bits = 0;
    // Letters by which suffixes are sorted so far, and how many are unresolved.
    uint32_t further = 0, small = 0, large = 0;
    backend::Pinned<uint32_t> totals;
    backend::Buffer<uint32_t> counts;
    backend::Buffer<uint8_t> text;
    backend::Buffer<uint64_t> keys[2];
    backend::Buffer<uint32_t> lists[4], suffixes[2], ranks;
    uint64_t *by_key = nullptr, *other_keys = nullptr;
    uint32_t *sorted = nullptr, *spare = nullptr;
    Ranked now = {}, next = {};
    backend::Stream stream;
};
