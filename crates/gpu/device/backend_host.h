// The host twin of a device: memory is memory, a launch is a loop over warps, and a sort is that of
// the standard library.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "budget.h"
#include "warp.cuh"

namespace backend {

inline int devices() { return 1; }

inline void describe(int, gyrase_gpu_device &to) {
    std::string("host twin").copy(to.name, sizeof to.name - 1);
    to.memory = to.free = uint64_t(1) << 30;
    to.major = to.minor = 0;
}

inline void use(int) {}

inline void expect_large_pages(void *, uint64_t) {}

template <class T>
class Buffer {
  public:
    T *data() const { return memory.get(); }

    void reserve(uint64_t count, Budget &budget) {
        if (count <= capacity) return;
        budget.exchange(capacity * sizeof(T), count * sizeof(T));
        memory.reset(new T[count]);
        capacity = count;
    }

  private:
    std::unique_ptr<T[]> memory;
    uint64_t capacity = 0;
};

template <class T>
using Pinned = Buffer<T>;

class Stream {
  public:
    template <class T>
    void copy_in(T *to, const T *from, uint64_t count) {
        copy(to, from, count);
    }
    template <class T>
    void copy_out(T *to, const T *from, uint64_t count) {
        copy(to, from, count);
    }
    template <class T>
    void copy_within(T *to, const T *from, uint64_t count) {
        copy(to, from, count);
    }
    template <class T>
    void zero(T *to, uint64_t count) {
        std::memset(to, 0, count * sizeof(T));
    }
    void wait() {}
    void finish() {}

    template <class Body>
    void launch(const Body &body, uint32_t tasks) {
        // As with lanes, the order of warps means nothing.
        backwards = !backwards;
        typename Body::Scratch scratch;
        for (uint32_t at = 0; at < tasks; ++at)
            body(Warp(), scratch, backwards ? tasks - 1 - at : at);
    }

    // Before each number the sum of those before it.
    void sums_before(uint32_t *numbers, uint32_t count, Budget &) {
        uint32_t sum = 0;
        for (uint32_t at = 0; at < count; ++at) {
            const uint32_t own = numbers[at];
            numbers[at] = sum;
            sum += own;
        }
    }

    // The same with its own.
    template <class T>
    void sums_with(T *numbers, uint32_t count, Budget &) {
        std::partial_sum(numbers, numbers + count, numbers);
    }

    // Copies the words below a limit: how many they are.
    uint32_t select_below(const uint64_t *words, uint64_t *to, uint32_t count, uint64_t limit,
                          Budget &) {
        const auto is_below = [=](uint64_t word) { return word < limit; };
        return uint32_t(std::copy_if(words, words + count, to, is_below) - to);
    }

    // Sorts by some bits, and leaves the order of equals; the sorted keys are where it says, in one
    // of the two.
    uint64_t *sort(uint64_t *keys, uint64_t *, uint32_t count, uint32_t begin_bit, uint32_t end_bit,
                   Budget &) {
        const uint64_t mask = ~uint64_t(0) >> (64 - (end_bit - begin_bit));
        std::stable_sort(keys, keys + count, [=](uint64_t one, uint64_t other) {
            return (one >> begin_bit & mask) < (other >> begin_bit & mask);
        });
        return keys;
    }

    // The same by the lowest bits of keys that have a number each.
    std::pair<uint64_t *, uint32_t *> sort_pairs(uint64_t *keys, uint64_t *other_keys,
                                                 uint32_t *numbers, uint32_t *other_numbers,
                                                 uint32_t count, uint32_t end_bit, Budget &) {
        order(keys, numbers, other_keys, other_numbers, count, 0, end_bit);
        return {other_keys, other_numbers};
    }

    // Sorts pairs of numbers by some bits of the first, and leaves the order of equals; what is
    // given stays as it is.
    void group_pairs(const uint32_t *numbers, const uint32_t *values, uint32_t *numbers_to,
                     uint32_t *values_to, uint32_t count, uint32_t begin_bit, uint32_t end_bit,
                     Budget &) {
        order(numbers, values, numbers_to, values_to, count, begin_bit, end_bit);
    }

  private:
    bool backwards = false;

    template <class Key>
    void order(const Key *keys, const uint32_t *numbers, Key *keys_to, uint32_t *numbers_to,
               uint32_t count, uint32_t begin_bit, uint32_t end_bit) {
        const uint64_t mask = ~uint64_t(0) >> (64 - (end_bit - begin_bit));
        std::vector<uint32_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [=](uint32_t one, uint32_t other) {
            return (keys[one] >> begin_bit & mask) < (keys[other] >> begin_bit & mask);
        });
        for (uint32_t at = 0; at < count; ++at) {
            keys_to[at] = keys[order[at]];
            numbers_to[at] = numbers[order[at]];
        }
    }

    template <class T>
    void copy(T *to, const T *from, uint64_t count) {
        if (count > 0) std::memcpy(to, from, count * sizeof(T));
    }
};

class CopyStream;

// A moment of a stream. One that nobody has recorded is over, as on a device.
class Event {
  public:
    explicit Event(int) {}

  private:
    friend class CopyStream;
    CopyStream *of = nullptr;
    uint64_t moment = 0;
};

// A stream of copies from a device to another. Nothing is copied before somebody waits for it: so
// copies of different streams that no event orders come too early or too late.
class CopyStream {
  public:
    CopyStream(int, int) {}

    void copy(uint8_t *to, const uint8_t *from, uint64_t bytes) {
        asked.push_back([=] { std::memcpy(to, from, bytes); });
    }

    void record(Event &event) {
        event.of = this;
        event.moment = done + asked.size();
    }

    // What comes behind begins when the event is over.
    void follow(const Event &event) {
        asked.push_back([=] {
            if (event.of != nullptr) event.of->reach(event.moment);
        });
    }

    void wait() { reach(done + asked.size()); }
    void finish() { wait(); }

  private:
    void reach(uint64_t moment) {
        while (done < moment) {
            asked.front()();
            asked.pop_front();
            ++done;
        }
    }

    std::deque<std::function<void()>> asked;
    uint64_t done = 0;
};

}  // namespace backend
