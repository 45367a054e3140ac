// Suffix arrays, and what neighbours in them share.
#pragma once

#include <algorithm>
#include <utility>

#include "numbers.h"
#include "suffix_steps.cuh"

// Letters of a text, at most: positions have 32 bits.
constexpr uint64_t MOST_TEXT = UINT32_MAX - TEXT_SLACK;

// Sorts the suffixes of one text.
class SuffixSort {
  public:
    SuffixSort(const gyrase_gpu_text &given, uint64_t bytes) : budget(bytes) {
        if (given.length > MOST_TEXT) throw Declined();
        length = uint32_t(given.length);
        letter_bits = given.letter_bits;
        totals.reserve(1, budget);
        text.reserve(given.length + TEXT_SLACK, budget);
        stream.copy_in(text.data(), given.letters, given.length);
        stream.zero(text.data() + given.length, TEXT_SLACK);
        keys.reserve(given.length, budget);
        other_keys.reserve(given.length, budget);
        suffixes.reserve(given.length, budget);
        other_suffixes.reserve(given.length, budget);
        places.reserve(given.length, budget);
        other_places.reserve(given.length, budget);
        numbers.reserve(given.length + 1, budget);
        bucket_places.reserve(given.length, budget);
        ranks.reserve(given.length, budget);
        sorted.reserve(given.length, budget);
    }

    void run(uint32_t *positions, uint32_t *common) {
        sort();
        // The buffers of the sort are free now.
        uint32_t *previous = ranks.data(), *by_position = suffixes.data();
        const uint32_t tasks = tasks_of(length);
        stream.launch(Predecessors{sorted.data(), length, previous}, tasks);
        stream.launch(Common{text.data(), length, previous, by_position},
                      tasks_of((uint64_t(length) + STRETCH - 1) / STRETCH));
        stream.launch(InOrder{sorted.data(), length, by_position, numbers.data()}, tasks);
        stream.copy_out(positions, sorted.data(), length);
        stream.copy_out(common, numbers.data(), length);
        stream.wait();
    }

  private:
    void sort() {
        const uint32_t letters = 64 / letter_bits, rank_bits = bits_of(length);
        uint32_t *unsorted = suffixes.data(), *in_order = other_suffixes.data();
        uint32_t *own = places.data(), *kept = other_places.data();
        uint32_t count = length, further = letters;
        stream.launch(
            FirstKeys{text.data(), length, letter_bits, letters, keys.data(), unsorted, own},
            tasks_of(length));
        uint32_t bits = letters * letter_bits, ends = letter_bits;
        while (count > 0) {
            const auto [by_key, by_suffix] = stream.sort_pairs(
                keys.data(), other_keys.data(), unsorted, in_order, count, bits, budget);
            if (by_suffix == unsorted) std::swap(unsorted, in_order);
            const uint32_t tasks = tasks_of(count);
            stream.launch(MarkBuckets{by_key, count, ends, numbers.data()}, tasks);
            stream.sums_with(numbers.data(), count, budget);
            stream.launch(PlaceBuckets{numbers.data(), count, own, bucket_places.data()}, tasks);
            uint32_t *unresolved = reinterpret_cast<uint32_t *>(
                by_key == keys.data() ? other_keys.data() : keys.data());
            stream.launch(RankSuffixes{numbers.data(), in_order, count, own, bucket_places.data(),
                                       ranks.data(), sorted.data(), unresolved},
                          tasks);
            stream.zero(unresolved + count, 1);
            stream.sums_before(unresolved, count + 1, budget);
            stream.launch(KeepUnresolved{unresolved, in_order, own, count, unsorted, kept}, tasks);
            stream.copy_out(totals.data(), unresolved + count, 1);
            stream.wait();
            std::swap(own, kept);
            count = totals.data()[0];
            stream.launch(NextKeys{unsorted, count, ranks.data(), rank_bits, further, keys.data()},
                          tasks_of(count));
            // Where letters end no suffix is unresolved, so it never goes beyond the text.
            further *= 2;
            bits = 2 * rank_bits;
            ends = 0;
        }
    }

    Budget budget;
    uint32_t length = 0, letter_bits = 0;
    backend::Pinned<uint32_t> totals;
    backend::Buffer<uint8_t> text;
    backend::Buffer<uint64_t> keys, other_keys;
    backend::Buffer<uint32_t> suffixes, other_suffixes, places, other_places, numbers;
    backend::Buffer<uint32_t> bucket_places, ranks, sorted;
    backend::Stream stream;
};
