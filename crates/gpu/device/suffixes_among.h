// Suffix arrays on several devices.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "among_steps.cuh"
#include "messages.h"
#include "suffixes.h"

// Keys of which each device gives samples, so that all get about as many suffixes.
constexpr uint32_t SAMPLES = 1024;
// Of a device and of the host: samples, and keys between those of devices, in words of 32 bits.
constexpr uint32_t FEW_NUMBERS = 4 * SAMPLES;
// Lists of suffixes: those of rounds, and what is sent by owners: the owners, the order, and what
// comes back.
constexpr uint32_t LISTS = 7;

// A device's part: a block of the text, and a range of the suffixes.
struct SuffixPart : Buckets {
    SuffixPart(uint32_t device, uint64_t bytes, uint32_t rank_bits)
        : Buckets(bytes, rank_bits, FEW_NUMBERS), device(device) {}
    // What it has goes before the stream of its base.
    ~SuffixPart() { stream.finish(); }

    const uint32_t device;
    // Where its block begins, and letters of it.
    uint32_t first = 0, letters = 0;
    // The first of its ranks.
    uint32_t start = 0;
    uint64_t room = 0;
    backend::Buffer<uint8_t> text;
    // Of the suffixes that begin in the block.
    backend::Buffer<uint32_t> ranks;

    // What goes to others, and what comes from them.
    uint32_t *sent() const { return reinterpret_cast<uint32_t *>(by_key); }
    uint32_t *came() const { return sent() + room; }
    uint32_t *owners() const { return lists.data() + 4 * room; }
    uint32_t *order() const { return lists.data() + 5 * room; }
    uint32_t *answers() const { return lists.data() + 6 * room; }
};

// Sorts the suffixes of one text. Those with equal first letters are of one device, so that each
// sorts its own then: it asks others for the ranks of suffixes further on, and tells them those
// that it finds.
class SuffixSortAmong {
  public:
    SuffixSortAmong(const int32_t *numbers, const uint64_t *bytes, uint32_t count,
                    const gyrase_gpu_routes &routes, const gyrase_gpu_text &given)
        : given(given),
          length(length_of(given)),
          block((length - 1) / count + 1),
          key(given.codes),
          group(numbers, count),
          parts(made(bytes)),
          messages(group, routes, budgets()) {
        if (count > SAMPLES) throw Declined();
    }

    void run(uint32_t *positions, uint32_t *common) {
        sort_blocks();
        deal_out();
        finish_round();
        // Where letters end no suffix is unresolved, so it never goes beyond the text.
        for (uint32_t further = key.letters; is_unresolved(); further *= 2) {
            fetch([](const SuffixPart &part) { return unresolved(part); }, further,
                  [](const SuffixPart &part) { return part.ranks.data(); });
            each([](SuffixPart &part) {
                const uint32_t *ranks = part.answers();
                part.refine({ranks, 0, true}, {ranks + part.small, 0, true});
            });
            finish_round();
        }
        backend::expect_large_pages(positions, uint64_t(length) * sizeof *positions);
        each([&](SuffixPart &part) {
            part.stream.copy_out(positions + part.start, part.sorted, part.count);
        });
        share(common);
        wait();
    }

  private:
    using Parts = std::vector<std::unique_ptr<SuffixPart>>;

    // Numbers of the text, each by the place that it is for.
    struct Listed {
        TwoLists places;
        TwoLists values;
        uint32_t count;
    };

    Parts made(const uint64_t *bytes) {
        Parts parts;
        for (uint32_t device = 0; device < group.size(); ++device) {
            group.use(device);
            parts.push_back(std::make_unique<SuffixPart>(device, bytes[device], bits_of(length)));
            SuffixPart &part = *parts.back();
            part.first = uint32_t(std::min(uint64_t(block) * device, uint64_t(length)));
            part.letters = std::min(block, length - part.first);
            bring_text(part, part.first, part.letters);
        }
        return parts;
    }

    std::vector<Budget *> budgets() {
        std::vector<Budget *> all;
        for (auto &part : parts) all.push_back(&part->budget);
        return all;
    }

    template <class Step>
    void each(Step step) {
        for (auto &part : parts) {
            group.use(part->device);
            step(*part);
        }
    }

    void wait() {
        each([](SuffixPart &part) { part.stream.wait(); });
    }

    // A stretch of the text, and what keys and words read behind it.
    void bring_text(SuffixPart &part, uint64_t first, uint64_t letters) {
        const uint64_t all = letters + TEXT_SLACK, there = std::min(all, length - first);
        part.text.reserve(all, part.budget);
        part.stream.copy_in(part.text.data(), given.letters + first, there);
        part.stream.zero(part.text.data() + there, all - there);
    }

    // Sorts the suffixes that begin in each block by their first letters. The lists of rounds make
    // room for it.
    void sort_blocks() {
        each([&](SuffixPart &part) {
            part.lists.reserve(6 * uint64_t(block), part.budget);
            uint64_t *keys = reinterpret_cast<uint64_t *>(part.lists.data());
            uint32_t *suffixes = reinterpret_cast<uint32_t *>(keys + 2 * uint64_t(block));
            part.stream.launch(FirstKeys{part.text.data(), part.first, part.letters, given.codes,
                                         key.letters, keys, suffixes},
                               tasks_of(part.letters));
            const auto sorted =
                part.stream.sort_pairs(keys, keys + block, suffixes, suffixes + block, part.letters,
                                       bits_of(key.most), part.budget);
            keys_of_blocks.push_back(sorted.first);
            suffixes_of_blocks.push_back(sorted.second);
        });
    }

    // Gives each device the suffixes of a range of keys, those of each block in the order of the
    // text, and begins to sort them.
    void deal_out() {
        std::vector<uint64_t *> keys;
        std::vector<uint32_t *> suffixes;
        const Counts counts = counts_by_keys(keys_between());
        uint32_t start = 0;
        each([&](SuffixPart &part) {
            part.start = start;
            const uint32_t count = received(counts, part.device);
            start += count;
            part.room = uint64_t(std::max(block, count)) + 1;
            part.reserve_keys(part.room);
            keys.push_back(part.by_key);
            suffixes.push_back(part.sorted);
        });
        messages.exchange<uint64_t>(keys_of_blocks, keys, counts);
        messages.exchange<uint32_t>(suffixes_of_blocks, suffixes, counts);
        each([&](SuffixPart &part) {
            part.reserve_lists(part.room, LISTS);
            part.ranks.reserve(block, part.budget);
            part.begin(received(counts, part.device), given.codes, key.most);
        });
    }

    // The first key of each device: zero, and others so that the samples are as many for each.
    std::vector<uint64_t> keys_between() {
        const auto number = [&](const SuffixPart &part) {
            return uint32_t(uint64_t(SAMPLES) * part.letters / block);
        };
        each([&](SuffixPart &part) {
            uint64_t *samples = reinterpret_cast<uint64_t *>(part.counts.data());
            part.stream.launch(
                Samples{keys_of_blocks[part.device], part.letters, number(part), samples},
                tasks_of(number(part)));
            part.stream.copy_out(reinterpret_cast<uint64_t *>(part.totals.data()), samples,
                                 number(part));
        });
        wait();
        std::vector<uint64_t> all;
        each([&](SuffixPart &part) {
            const uint64_t *samples = reinterpret_cast<uint64_t *>(part.totals.data());
            all.insert(all.end(), samples, samples + number(part));
        });
        std::sort(all.begin(), all.end());
        std::vector<uint64_t> between{0};
        for (uint64_t device = 1; device < group.size(); ++device)
            between.push_back(all[device * all.size() / group.size()]);
        return between;
    }

    Counts counts_by_keys(const std::vector<uint64_t> &between) {
        each([&](SuffixPart &part) {
            uint64_t *others = reinterpret_cast<uint64_t *>(part.counts.data()) + SAMPLES;
            part.stream.copy_in(others, between.data(), group.size());
            count_before(part, NumbersBefore<uint64_t>{keys_of_blocks[part.device], part.letters,
                                                       others, group.size(), part.counts.data()});
        });
        return counts([](const SuffixPart &part) { return part.letters; });
    }

    // Brings numbers into the order of the devices whose block each place is of, or that which is
    // so far behind it.
    Counts group_by_owner(const std::vector<Listed> &lists, uint32_t further) {
        each([&](SuffixPart &part) {
            const Listed &list = lists[part.device];
            part.stream.launch(
                Owners{list.places, list.count, further, block, part.sent(), part.came()},
                tasks_of(list.count));
            if (list.count > 0)
                part.stream.group_pairs(part.sent(), part.came(), part.owners(), part.order(),
                                        list.count, 0, bits_of(group.size() - 1), part.budget);
            count_before(part, NumbersBefore<uint32_t>{part.owners(), list.count, nullptr,
                                                       group.size(), part.counts.data()});
        });
        return counts([&](const SuffixPart &part) { return lists[part.device].count; });
    }

    template <class Before>
    void count_before(SuffixPart &part, const Before &before) {
        part.stream.launch(before, tasks_of(group.size()));
        part.stream.copy_out(part.totals.data(), part.counts.data(), group.size());
    }

    // How many numbers each device has for each: where those of each begin is known.
    template <class All>
    Counts counts(All all) {
        wait();
        Counts counts;
        each([&](SuffixPart &part) {
            const uint32_t *begins = part.totals.data();
            counts.emplace_back();
            for (uint32_t target = 0; target < group.size(); ++target)
                counts.back().push_back(begins[target]);
            for (uint32_t target = 0; target + 1 < group.size(); ++target)
                counts.back()[target] = begins[target + 1] - begins[target];
            counts.back().back() = all(part) - begins[group.size() - 1];
        });
        return counts;
    }

    // Asks for a number of each place that is so far behind a listed one.
    template <class List, class Numbers>
    void fetch(List list, uint32_t further, Numbers numbers) {
        std::vector<Listed> lists;
        for (auto &part : parts) lists.push_back(list(*part));
        const Counts counts = group_by_owner(lists, further);
        each([&](SuffixPart &part) {
            const Listed &one = lists[part.device];
            part.stream.launch(ByOwner{one.places, one.count, part.order(), part.owners(), further,
                                       block, part.sent()},
                               tasks_of(one.count));
        });
        wait();
        exchange(&SuffixPart::sent, &SuffixPart::came, counts);
        each([&](SuffixPart &part) {
            const uint32_t asked = received(counts, part.device);
            part.stream.launch(ReadValues{part.came(), asked, numbers(part), part.came()},
                               tasks_of(asked));
        });
        wait();
        exchange(&SuffixPart::came, &SuffixPart::sent, transposed(counts));
        each([&](SuffixPart &part) {
            const uint32_t count = lists[part.device].count;
            part.stream.launch(WriteValues{part.order(), part.sent(), count, part.answers()},
                               tasks_of(count));
        });
    }

    // Tells the owner of each place its number, which is the rank of the first suffix of the device
    // and more, or a place.
    template <class List>
    void deliver(List list, bool are_ranks) {
        std::vector<Listed> lists;
        for (auto &part : parts) lists.push_back(list(*part));
        const Counts counts = group_by_owner(lists, 0);
        each([&](SuffixPart &part) {
            const Listed &one = lists[part.device];
            part.stream.launch(
                ByOwner{one.places, one.count, part.order(), part.owners(), 0, block, part.sent()},
                tasks_of(one.count));
            part.stream.launch(ByOwner{one.values, one.count, part.order(), part.owners(),
                                       are_ranks ? part.start : 0, 0, part.owners()},
                               tasks_of(one.count));
        });
        wait();
        exchange(&SuffixPart::sent, &SuffixPart::came, counts);
        exchange(&SuffixPart::owners, &SuffixPart::answers, counts);
        each([&](SuffixPart &part) {
            const uint32_t count = received(counts, part.device);
            part.stream.launch(WriteValues{part.came(), part.answers(), count, part.ranks.data()},
                               tasks_of(count));
        });
    }

    using Place = uint32_t *(SuffixPart::*)() const;

    void exchange(Place from, Place to, const Counts &counts) {
        std::vector<const uint32_t *> sources;
        std::vector<uint32_t *> targets;
        for (auto &part : parts) {
            sources.push_back((*part.*from)());
            targets.push_back((*part.*to)());
        }
        messages.exchange<uint32_t>(sources, targets, counts);
    }

    static Listed unresolved(const SuffixPart &part) {
        const uint32_t *large = part.now.suffixes + (part.count - part.large);
        return {{part.now.suffixes, part.small, large}, {}, part.small + part.large};
    }

    bool is_unresolved() const {
        return std::any_of(parts.begin(), parts.end(), [](const std::unique_ptr<SuffixPart> &part) {
            return part->small + part->large > 0;
        });
    }

    // Takes what a round leaves, and tells its ranks.
    void finish_round() {
        each([](SuffixPart &part) { part.finish(); });
        deliver(
            [](const SuffixPart &part) -> Listed {
                const RankList &one = part.split_ranks, &other = part.moved_ranks;
                return {{one.suffixes, one.count, other.suffixes},
                        {one.heads, one.count, other.heads},
                        one.count + other.count};
            },
            true);
    }

    // What suffixes share is found by each device for its block, in the whole text, and told in
    // their order. The ranks make room for the suffix before each.
    void share(uint32_t *common) {
        uint32_t last = 0;
        each([&](SuffixPart &part) {
            part.stream.copy_in(part.spare, &last, 1);
            part.stream.copy_within(part.spare + 1, part.sorted, part.count);
            if (part.count > 0) part.stream.copy_out(&last, part.sorted + part.count - 1, 1);
            part.stream.wait();
        });
        deliver(
            [](const SuffixPart &part) -> Listed {
                return {{part.sorted, part.count, nullptr},
                        {part.spare, part.count, nullptr},
                        part.count};
            },
            false);
        each([&](SuffixPart &part) {
            bring_text(part, 0, length);
            part.stream.launch(Common{part.text.data(), part.first, part.letters, part.ranks.data(),
                                      part.now.suffixes},
                               tasks_of((uint64_t(part.letters) + STRETCH - 1) / STRETCH));
        });
        fetch(
            [](const SuffixPart &part) -> Listed {
                return {{part.sorted, part.count, nullptr}, {}, part.count};
            },
            0, [](const SuffixPart &part) { return part.now.suffixes; });
        backend::expect_large_pages(common, uint64_t(length) * sizeof *common);
        each([&](SuffixPart &part) {
            part.stream.copy_out(common + part.start, part.answers(), part.count);
        });
    }

    const gyrase_gpu_text &given;
    const uint32_t length, block;
    const KeyOfLetters key;
    DeviceGroup group;
    Parts parts;
    // Sorted, until they are dealt out.
    std::vector<const uint64_t *> keys_of_blocks;
    std::vector<const uint32_t *> suffixes_of_blocks;
    Messages messages;
};
