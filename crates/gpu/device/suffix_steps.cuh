// The steps of sorting the suffixes of a text by prefix doubling. Each is a body that a warp takes
// for 32 neighbours.
//
// Letters are codes from 1 on; 0 is a sentinel, which is smaller than every letter and unlike every
// other sentinel: of two the first is smaller. The text ends with one.
#pragma once

#include "lanes.cuh"

// Positions of the text that a lane takes one after the other for what suffixes have in common.
constexpr uint32_t STRETCH = 32;
// Zeros behind a text, which may be read: a key has 64 letters at most, and whole words are read.
constexpr uint32_t TEXT_SLACK = 80;
// Suffixes of a small bucket, at most: a warp sorts it within a tile. It takes the buckets that
// begin at the first places of its tile, and the others are for the end of the last of them.
constexpr uint32_t SMALL_BUCKET = 32;
constexpr uint32_t BUCKET_STRIDE = TILE - SMALL_BUCKET;

// Suffixes, and for each its bucket by the place where the first of it stands, which is its rank.
struct Ranked {
    uint32_t *suffixes;
    uint32_t *heads;
};

// How much the lists have that a round makes.
enum RoundCount : uint32_t { OF_SMALL, OF_LARGE, OF_CHANGED, ROUND_COUNTS };

// What a round leaves unresolved. Small buckets are at the front, whole, one after the other in no
// order. Suffixes of large ones are at the back in no order: they are brought together by a sort.
struct Unresolved {
    Ranked list;
    uint32_t length;
    uint32_t *counts;

    GYRASE_DEVICE void put_small(uint32_t number, uint32_t suffix, uint32_t head) const {
        list.suffixes[number] = suffix;
        list.heads[number] = head;
    }

    GYRASE_DEVICE void put_large(uint32_t number, uint32_t suffix, uint32_t head) const {
        put_small(length - 1 - number, suffix, head);
    }
};

// Eight letters from a place of a text on, the first in the lowest byte; the text begins at a word.
GYRASE_DEVICE uint64_t eight_letters(const uint8_t *text, uint64_t at) {
    const uint64_t *words = reinterpret_cast<const uint64_t *>(text) + at / 8;
    const uint32_t shift = uint32_t(at % 8) * 8;
    return shift == 0 ? words[0] : words[0] >> shift | words[1] << (64 - shift);
}

// The first letters of each suffix as a number; behind a sentinel come zeros.
struct FirstKeys {
    using Scratch = NoScratch;

    // A stretch of the text: where it begins, and how many suffixes do so there.
    const uint8_t *text;
    uint32_t first;
    uint32_t length;
    // The number of codes, which is the base of the number, and of digits.
    uint32_t codes;
    uint32_t letters;
    uint64_t *keys;
    uint32_t *suffixes;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, length, [&](uint32_t at) {
            uint64_t key = 0, word = 0;
            bool ended = false;
            for (uint32_t i = 0; i < letters; ++i) {
                word = i % 8 == 0 ? eight_letters(text, uint64_t(at) + i) : word >> 8;
                const uint32_t letter = ended ? 0 : uint32_t(word & 0xff);
                ended = letter == 0;
                key = key * codes + letter;
            }
            keys[at] = key;
            suffixes[at] = first + at;
        });
    }
};

// The ranks of suffixes so many letters further on than those of a list: of all suffixes, or in the
// order of the list.
struct NextRanks {
    const uint32_t *ranks;
    uint32_t further;
    bool in_order;

    // There is no sentinel among the letters before: else the suffix would be resolved.
    GYRASE_DEVICE uint32_t of(uint64_t at, uint32_t suffix) const {
        return ranks[in_order ? at : suffix + further];
    }
};

// The bucket of each suffix of large buckets, and that of the suffix so many letters further on.
struct RankKeys {
    using Scratch = NoScratch;

    Ranked large;
    uint32_t count;
    NextRanks next;
    uint32_t rank_bits;
    uint64_t *keys;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) {
            const uint32_t further_on = next.of(at, large.suffixes[at]);
            keys[at] = uint64_t(large.heads[at]) << rank_bits | further_on;
        });
    }
};

// The first of sorted keys that is equal to the one at a place, but for so many of their bits.
GYRASE_DEVICE uint32_t first_equal(const uint64_t *keys, uint32_t at, uint32_t but) {
    const uint64_t key = keys[at] >> but;
    const auto reaches = [&](uint32_t step) { return step <= at && keys[at - step] >> but == key; };
    uint32_t step = 1;
    for (; reaches(step); step *= 2) at -= step;
    for (; step > 0; step /= 2)
        if (reaches(step)) at -= step;
    return at;
}

// Finds the buckets of suffixes whose keys are sorted: the rank of each, and what is unresolved.
struct SplitBuckets {
    struct Scratch {
        uint32_t begins[TILE_ROWS];
        uint32_t groups[TILE_ROWS];
        uint32_t small[TILE_ROWS];
        uint32_t large[TILE_ROWS];
    };

    const uint64_t *keys;
    const uint32_t *suffixes;
    uint32_t count;
    // Of keys of letters; 0 for keys of ranks.
    uint32_t codes;
    // Of keys of ranks.
    uint32_t rank_bits;
    uint32_t *heads;
    // Where suffixes that are resolved go. It has all of the first round already.
    uint32_t *sorted;
    Unresolved left;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &scratch, uint32_t task) const {
        const uint64_t first = uint64_t(task) * BUCKET_STRIDE;
        Tile<uint64_t> key;
        mark_begins(warp, scratch, first, key);
        Tile<uint32_t> head;
        Tile<bool> small, large;
        // The bucket and the group that the tile begins within.
        const uint32_t bucket = begin_of(scratch.begins, first, 0);
        const uint32_t group = codes > 0 ? 0 : begin_of(scratch.groups, first, rank_bits);
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint32_t here = row * LANES + lane, mark = last_mark(scratch.begins, here);
            const uint64_t at = first + here;
            const uint64_t begin = mark == NO_MARK ? bucket : first + mark;
            // Or more, where the bucket goes on behind the tile: then it is large.
            const uint64_t size = first + next_mark(scratch.begins, here) - begin;
            const bool is_large = size > SMALL_BUCKET;
            // The suffixes of a large bucket are those of many tasks.
            const bool own = at < count && (is_large ? here : mark) < BUCKET_STRIDE;
            head[row][lane] = uint32_t(begin);
            if (codes == 0) {
                const uint32_t of_group = last_mark(scratch.groups, here);
                const uint64_t start = of_group == NO_MARK ? group : first + of_group;
                head[row][lane] = uint32_t((key[row][lane] >> rank_bits) + (begin - start));
            }
            small[row][lane] = own && size > 1 && !is_large;
            large[row][lane] = own && is_large;
            if (!own) return;
            heads[at] = head[row][lane];
            if (size == 1 && codes == 0) sorted[head[row][lane]] = suffixes[at];
        });
        mark(warp, small, scratch.small);
        mark(warp, large, scratch.large);
        append(warp, scratch.small, left.counts + OF_SMALL,
               [&](uint32_t row, uint32_t lane, uint32_t number) {
                   const uint32_t suffix = suffixes[first + row * LANES + lane];
                   left.put_small(number, suffix, head[row][lane]);
               });
        append(warp, scratch.large, left.counts + OF_LARGE,
               [&](uint32_t row, uint32_t lane, uint32_t number) {
                   const uint32_t suffix = suffixes[first + row * LANES + lane];
                   left.put_large(number, suffix, head[row][lane]);
               });
    }

  private:
    // Marks where buckets begin, and groups of those that were one bucket before.
    GYRASE_DEVICE void mark_begins(Warp warp, Scratch &scratch, uint64_t first,
                                   Tile<uint64_t> &key) const {
        Tile<uint64_t> prior;
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint64_t at = first + row * LANES + lane;
            key[row][lane] = at < count ? keys[at] : 0;
            prior[row][lane] = at > 0 && at < count ? keys[at - 1] : 0;
        });
        Tile<bool> begins, groups;
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint64_t at = first + row * LANES + lane;
            const uint64_t own = key[row][lane], other = prior[row][lane];
            const bool out = at == 0 || at >= count;
            // Letters that end with a zero have a sentinel, so the suffix is alone.
            const bool ends = codes > 0 && own == other && own % codes == 0;
            begins[row][lane] = out || ends || own != other;
            groups[row][lane] = out || own >> rank_bits != other >> rank_bits;
        });
        mark(warp, begins, scratch.begins);
        mark(warp, groups, scratch.groups);
    }

    // Where that begins which has the first place of a tile.
    GYRASE_DEVICE uint32_t begin_of(const uint32_t *marks, uint64_t first, uint32_t but) const {
        const uint32_t at = uint32_t(first);
        return (marks[0] & 1) != 0 ? at : first_equal(keys, at, but);
    }
};

// Sorts the suffixes of each small bucket by the rank of the suffix so many letters further on:
// counts for each those that come before it. Ranks stay as they are for the other buckets; what
// becomes another is listed.
struct SortSmall {
    struct Scratch {
        uint32_t begins[TILE_ROWS];
        uint32_t kept[TILE_ROWS];
        uint32_t changed[TILE_ROWS];
        uint32_t next[TILE];
    };

    Ranked small;
    uint32_t count;
    NextRanks ranks;
    uint32_t *sorted;
    Ranked changes;
    Unresolved left;

    struct Held {
        Tile<uint32_t> suffix;
        Tile<uint32_t> head;
        // Where its bucket begins, if that is the warp's own, and where it stands now, if it is
        // unresolved.
        Tile<uint32_t> begin;
        Tile<uint32_t> place;
    };

    GYRASE_DEVICE void operator()(Warp warp, Scratch &scratch, uint32_t task) const {
        Held held;
        load(warp, scratch, uint64_t(task) * BUCKET_STRIDE, held);
        order(warp, scratch, held);
        append(warp, scratch.changed, left.counts + OF_CHANGED,
               [&](uint32_t row, uint32_t lane, uint32_t number) {
                   changes.suffixes[number] = held.suffix[row][lane];
                   changes.heads[number] = held.head[row][lane];
               });
        keep(warp, scratch, held);
    }

  private:
    GYRASE_DEVICE void load(Warp warp, Scratch &scratch, uint64_t first, Held &held) const {
        Tile<uint32_t> prior;
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint64_t at = first + row * LANES + lane;
            held.head[row][lane] = at < count ? small.heads[at] : 0;
            prior[row][lane] = at > 0 && at < count ? small.heads[at - 1] : 0;
        });
        Tile<bool> begins;
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint64_t at = first + row * LANES + lane;
            const bool out = at == 0 || at >= count;
            begins[row][lane] = out || held.head[row][lane] != prior[row][lane];
        });
        mark(warp, begins, scratch.begins);
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint32_t here = row * LANES + lane, begin = last_mark(scratch.begins, here);
            const bool own = first + here < count && begin < BUCKET_STRIDE;
            held.begin[row][lane] = own ? begin : NO_MARK;
            held.suffix[row][lane] = own ? small.suffixes[first + here] : 0;
        });
        Tile<uint32_t> next;
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const bool own = held.begin[row][lane] != NO_MARK;
            const uint64_t at = first + row * LANES + lane;
            next[row][lane] = own ? ranks.of(at, held.suffix[row][lane]) : 0;
        });
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            scratch.next[row * LANES + lane] = next[row][lane];
            if (lane == 0) scratch.kept[row] = 0;
        });
        warp.sync();
    }

    GYRASE_DEVICE void order(Warp warp, Scratch &scratch, Held &held) const {
        Tile<bool> changed;
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint32_t here = row * LANES + lane, begin = held.begin[row][lane];
            changed[row][lane] = false;
            held.place[row][lane] = NO_MARK;
            if (begin == NO_MARK) return;
            const uint32_t own = scratch.next[here], end = next_mark(scratch.begins, here);
            uint32_t less = 0, equal = 0, equal_before = 0;
            for (uint32_t other = begin; other < end; ++other) {
                const uint32_t next = scratch.next[other];
                less += next < own ? 1 : 0;
                equal += next == own ? 1 : 0;
                equal_before += next == own && other < here ? 1 : 0;
            }
            held.head[row][lane] += less;
            changed[row][lane] = less > 0;
            if (equal == 1) {
                sorted[held.head[row][lane]] = held.suffix[row][lane];
                return;
            }
            const uint32_t place = begin + less + equal_before;
            held.place[row][lane] = place;
            set_bits(&scratch.kept[place / LANES], 1u << place % LANES);
        });
        mark(warp, changed, scratch.changed);
    }

    // Leaves what is unresolved, in its order now.
    GYRASE_DEVICE void keep(Warp warp, Scratch &scratch, Held &held) const {
        const uint32_t begin = claim(warp, scratch.kept, left.counts + OF_SMALL);
        for_tile(warp, [&](uint32_t row, uint32_t lane) {
            const uint32_t place = held.place[row][lane];
            if (place == NO_MARK) return;
            left.put_small(begin + marks_before(scratch.kept, place), held.suffix[row][lane],
                           held.head[row][lane]);
        });
    }
};

// Writes each value to its place.
struct WriteValues {
    using Scratch = NoScratch;

    const uint32_t *places;
    const uint32_t *values;
    uint32_t count;
    uint32_t *to;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) { to[places[at]] = values[at]; });
    }
};

// Reads the value of each place.
struct ReadValues {
    using Scratch = NoScratch;

    const uint32_t *places;
    uint32_t count;
    const uint32_t *values;
    uint32_t *to;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        for_each(warp, task, count, [&](uint32_t at) { to[at] = values[places[at]]; });
    }
};

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

// What each suffix of a stretch of the text shares with the one before it, by its position: one
// letter less than the suffix before in the text at least (Kasai and others 2001,
// doi:10.1007/3-540-48194-X_17).
struct Common {
    using Scratch = NoScratch;

    const uint8_t *text;
    // Where the stretch begins, and how many suffixes do so there.
    uint32_t first;
    uint32_t length;
    // The suffix before each; of the first of all, which is a sentinel, any.
    const uint32_t *previous;
    uint32_t *common;

    GYRASE_DEVICE void operator()(Warp warp, Scratch &, uint32_t task) const {
        warp.each([&](uint32_t lane) {
            const uint64_t start = (uint64_t(task) * LANES + lane) * STRETCH;
            uint32_t known = 0;
            for (uint64_t at = start; at < length && at < start + STRETCH; ++at) {
                known = shared_letters(text, first + uint32_t(at), previous[at], known);
                common[at] = known;
                known = known > 0 ? known - 1 : 0;
            }
        });
    }
};
