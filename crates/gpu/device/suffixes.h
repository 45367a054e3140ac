// Suffix arrays, and what neighbours in them share.
#pragma once

#include "buckets.h"

// Letters of a text, at most: positions have 32 bits.
constexpr uint64_t MOST_TEXT = UINT32_MAX - TEXT_SLACK;
// The part of a text's letters whose ranks are written as they come. More are grouped before by
// some of their bits, so that those written at a time are near each other.
constexpr uint32_t FEW_RANKS = 16;
constexpr uint32_t GROUP_BITS = 8;

// First letters as a number of 64 bits: as many as it has digits.
struct KeyOfLetters {
    uint32_t letters = 0;
    // The largest.
    uint64_t most = 0;

    explicit KeyOfLetters(uint32_t codes) {
        const uint32_t last = codes - 1;
        for (; most <= (UINT64_MAX - last) / codes; ++letters) most = most * codes + last;
    }
};

inline uint32_t length_of(const gyrase_gpu_text &given) {
    if (given.length > MOST_TEXT) throw Declined();
    return uint32_t(given.length);
}

// Sorts the suffixes of one text.
class SuffixSort {
  public:
    SuffixSort(const gyrase_gpu_text &given, uint64_t bytes)
        : length(length_of(given)), codes(given.codes), all(bytes, bits_of(length), ROUND_COUNTS) {
        text.reserve(given.length + TEXT_SLACK, all.budget);
        all.stream.copy_in(text.data(), given.letters, given.length);
        all.stream.zero(text.data() + given.length, TEXT_SLACK);
        all.reserve_keys(given.length);
        all.reserve_lists(given.length, 4);
        ranks.reserve(given.length, all.budget);
    }

    // `common` may be null.
    void run(uint32_t *positions, uint32_t *common) {
        const KeyOfLetters key(codes);
        all.stream.launch(
            FirstKeys{text.data(), 0, length, codes, key.letters, all.by_key, all.sorted},
            tasks_of(length));
        all.begin(length, codes, key.most);
        finish_round();
        // Where letters end no suffix is unresolved, so it never goes beyond the text.
        for (uint32_t further = key.letters; all.small + all.large > 0; further *= 2) {
            // Ranks are read by all of a round before they are written.
            const NextRanks next = {ranks.data(), further, false};
            all.refine(next, next);
            finish_round();
        }
        backend::expect_large_pages(positions, uint64_t(length) * sizeof *positions);
        all.stream.copy_out(positions, all.sorted, length);
        if (common != nullptr) share(common);
        all.stream.wait();
    }

  private:
    // Takes what a round leaves, and writes its ranks.
    void finish_round() {
        all.finish();
        for (const RankList &one : {all.split_ranks, all.moved_ranks})
            write(one.suffixes, one.heads, one.count, ranks.data());
    }

    // Writes values to their places; the sorted keys are lost.
    void write(const uint32_t *places, const uint32_t *values, uint32_t count, uint32_t *to) {
        if (count > length / FEW_RANKS) {
            uint32_t *places_to = reinterpret_cast<uint32_t *>(all.by_key);
            uint32_t *values_to = places_to + length;
            const uint32_t bits = bits_of(length);
            all.stream.group_pairs(places, values, places_to, values_to, count,
                                   bits > GROUP_BITS ? bits - GROUP_BITS : 0, bits, all.budget);
            places = places_to;
            values = values_to;
        }
        all.stream.launch(WriteValues{places, values, count, to}, tasks_of(count));
    }

    // The buffers of the sort are free now.
    void share(uint32_t *common) {
        uint32_t *previous = ranks.data(), *by_position = all.spare, *ordered = all.now.suffixes;
        write(all.sorted + 1, all.sorted, length - 1, previous);
        all.stream.launch(Common{text.data(), 0, length, previous, by_position},
                          tasks_of((uint64_t(length) + STRETCH - 1) / STRETCH));
        all.stream.launch(ReadValues{all.sorted, length, by_position, ordered}, tasks_of(length));
        backend::expect_large_pages(common, uint64_t(length) * sizeof *common);
        all.stream.copy_out(common, ordered, length);
    }

    const uint32_t length, codes;
    backend::Buffer<uint8_t> text;
    backend::Buffer<uint32_t> ranks;
    Buckets all;
};
