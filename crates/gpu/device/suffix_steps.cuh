// The steps of sorting the suffixes of a text by prefix doubling. Each is a body that a warp takes
// for 32 neighbours.
//
// Letters are codes from 1 on; 0 is a sentinel, which is smaller than every letter and unlike every
// other sentinel: of two the first is smaller. The text ends with one.
#pragma once

#include "warp.cuh"

// Positions of the text that a lane takes one after the other for what suffixes have in common.
constexpr uint32_t STRETCH = 32;
// Zeros behind a text, which may be read.
constexpr uint32_t TEXT_SLACK = 64;

// The first letters of each suffix as a number; behind a sentinel come zeros.
struct FirstKeys {
    using Scratch = NoScratch;

    const uint8_t *text;
    uint32_t length;
    uint32_t letter_bits;
    uint32_t letters;
    uint64_t *keys;
    uint32_t *suffixes;
    uint32_t *places;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, length, [&](uint32_t at) {
            uint64_t key = 0;
            bool ended = false;
            for (uint32_t i = 0; i < letters; ++i) {
                const uint32_t letter = ended ? 0 : text[at + i];
                ended = letter == 0;
                key = key << letter_bits | letter;
            }
            keys[at] = key;
            suffixes[at] = at;
            places[at] = at;
        });
    }
};

// The bucket of each suffix, and that of the suffix so many letters further on.
struct NextKeys {
    using Scratch = NoScratch;

    const uint32_t *suffixes;
    uint32_t count;
    const uint32_t *ranks;
    uint32_t rank_bits;
    uint32_t further;
    uint64_t *keys;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            // There is no sentinel among the letters before: else it would be resolved.
            const uint32_t suffix = suffixes[at];
            keys[at] = uint64_t(ranks[suffix]) << rank_bits | ranks[suffix + further];
        });
    }
};

// Marks the first suffix of each bucket. A key whose lowest bits are zero has a sentinel, so it is
// a bucket of its own; keys of ranks have none.
struct MarkBuckets {
    using Scratch = NoScratch;

    const uint64_t *keys;
    uint32_t count;
    // Of a letter; 0 for keys of ranks.
    uint32_t letter_bits;
    uint32_t *marks;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const bool ends = letter_bits > 0 && (keys[at] & low_bits(letter_bits)) == 0;
            marks[at] = at == 0 || ends || keys[at] != keys[at - 1] ? 1 : 0;
        });
    }
};

// Where the first suffix of each bucket stands. `numbers` has the number of its bucket for each
// suffix, from 1.
struct PlaceBuckets {
    using Scratch = NoScratch;

    const uint32_t *numbers;
    uint32_t count;
    const uint32_t *places;
    uint32_t *bucket_places;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const bool first = at == 0 || numbers[at] != numbers[at - 1];
            if (first) bucket_places[numbers[at] - 1] = places[at];
        });
    }
};

// Puts suffixes where they stand now, and marks those that are not alone in their bucket.
struct RankSuffixes {
    using Scratch = NoScratch;

    const uint32_t *numbers;
    const uint32_t *suffixes;
    uint32_t count;
    const uint32_t *places;
    const uint32_t *bucket_places;
    uint32_t *ranks;
    uint32_t *sorted;
    uint32_t *unresolved;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const uint32_t number = numbers[at], suffix = suffixes[at];
            ranks[suffix] = bucket_places[number - 1];
            sorted[places[at]] = suffix;
            const bool follows = at > 0 && numbers[at - 1] == number;
            const bool is_followed = at + 1 < count && numbers[at + 1] == number;
            unresolved[at] = follows || is_followed ? 1 : 0;
        });
    }
};

// Brings the unresolved suffixes together, in their order. `before` has how many of them come
// before each, and at last how many there are.
struct KeepUnresolved {
    using Scratch = NoScratch;

    const uint32_t *before;
    const uint32_t *suffixes;
    const uint32_t *places;
    uint32_t count;
    uint32_t *suffixes_kept;
    uint32_t *places_kept;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const uint32_t to = before[at];
            if (before[at + 1] == to) return;
            suffixes_kept[to] = suffixes[at];
            places_kept[to] = places[at];
        });
    }
};

// The suffix before each in the order; of the first, itself.
struct Predecessors {
    using Scratch = NoScratch;

    const uint32_t *sorted;
    uint32_t length;
    uint32_t *previous;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, length,
                 [&](uint32_t at) { previous[sorted[at]] = sorted[at > 0 ? at - 1 : 0]; });
    }
};

// Eight letters from a place of a text on, the first in the lowest byte; the text begins at a word.
GYRASE_DEVICE uint64_t eight_letters(const uint8_t *text, uint64_t at) {
    const uint64_t *words = reinterpret_cast<const uint64_t *>(text) + at / 8;
    const uint32_t shift = uint32_t(at % 8) * 8;
    return shift == 0 ? words[0] : words[0] >> shift | words[1] << (64 - shift);
}

// The number of the lowest byte of a word that is not zero; 8 where all are.
GYRASE_DEVICE uint32_t first_byte(uint64_t word) {
    const uint32_t low = uint32_t(word);
    if (low != 0) return first_bit(low) / 8;
    const uint32_t high = uint32_t(word >> 32);
    return high != 0 ? 4 + first_bit(high) / 8 : 8;
}

// How many letters two suffixes share before a sentinel, of which so many are known to be equal.
GYRASE_DEVICE uint32_t shared_letters(const uint8_t *text, uint32_t one, uint32_t other,
                                      uint32_t known) {
    constexpr uint64_t ONES = 0x0101010101010101ull;
    for (;; known += 8) {
        const uint64_t letters = eight_letters(text, uint64_t(one) + known);
        const uint64_t others = eight_letters(text, uint64_t(other) + known);
        const uint64_t sentinels = (letters - ONES) & ~letters & ONES << 7;
        const uint32_t equal = least(first_byte(letters ^ others), first_byte(sentinels));
        if (equal < 8) return known + equal;
    }
}

// What each suffix shares with the one before it, by its position: one letter less than the suffix
// before in the text at least (Kasai and others 2001, doi:10.1007/3-540-48194-X_17).
struct Common {
    using Scratch = NoScratch;

    const uint8_t *text;
    uint32_t length;
    const uint32_t *previous;
    uint32_t *common;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        warp.each([&](uint32_t lane) {
            const uint64_t start = (uint64_t(task) * LANES + lane) * STRETCH;
            uint32_t known = 0;
            for (uint64_t at = start; at < length && at < start + STRETCH; ++at) {
                const uint32_t suffix = uint32_t(at), before = previous[at];
                known = before == suffix ? 0 : shared_letters(text, suffix, before, known);
                common[at] = known;
                known = known > 0 ? known - 1 : 0;
            }
        });
    }
};

// The same by the order of the suffixes.
struct InOrder {
    using Scratch = NoScratch;

    const uint32_t *sorted;
    uint32_t length;
    const uint32_t *common;
    uint32_t *ordered;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, length, [&](uint32_t at) { ordered[at] = common[sorted[at]]; });
    }
};
