// A warp: 32 lanes that take every step together. On a device a lane is a thread. In the host twin
// a warp is one thread, and what a lane has is an element of an array: a step is a loop over lanes.
//
// Code between two steps sees what all lanes wrote before. Where that goes through memory of the
// block, a device needs `sync` there, which the twin cannot miss.
#pragma once

#include <stdint.h>

constexpr uint32_t LANES = 32;

#ifdef __CUDACC__

#define GYRASE_DEVICE __device__ __forceinline__
#define GYRASE_BOTH __host__ __device__ __forceinline__
// Of a loop whose count is known: arrays that it goes over stay in registers.
#define GYRASE_UNROLL _Pragma("unroll")

// A value of each lane.
template <class T>
struct Lanes {
    T own;
    __device__ __forceinline__ T &operator[](uint32_t) { return own; }
    __device__ __forceinline__ const T &operator[](uint32_t) const { return own; }
};

struct Warp {
    static constexpr uint32_t ALL = 0xffffffffu;

    __device__ __forceinline__ static uint32_t lane() { return threadIdx.x % LANES; }

    template <class F>
    __device__ __forceinline__ void each(F step) const {
        step(lane());
    }

    // A bit for each lane that says so.
    template <class F>
    __device__ __forceinline__ uint32_t ballot(F says) const {
        return __ballot_sync(ALL, says(lane()));
    }

    // To each lane the value of the lane that it names.
    template <class T, class F>
    __device__ __forceinline__ Lanes<T> shuffle(const Lanes<T> &values, F from) const {
        return {__shfl_sync(ALL, values.own, static_cast<int>(from(lane())))};
    }

    __device__ __forceinline__ void sync() const { __syncwarp(); }
};

GYRASE_DEVICE uint32_t ones(uint32_t word) { return static_cast<uint32_t>(__popc(word)); }
GYRASE_DEVICE uint32_t reversed(uint32_t word) { return __brev(word); }

// The number of the lowest bit of a word that is set; there is one.
GYRASE_DEVICE uint32_t first_bit(uint32_t word) { return static_cast<uint32_t>(__ffs(word)) - 1; }

GYRASE_DEVICE void raise_to(uint64_t *to, uint64_t value) {
    atomicMax(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(value));
}

GYRASE_DEVICE void set_bits(uint32_t *to, uint32_t bits) { atomicOr(to, bits); }

// What there was before.
GYRASE_DEVICE uint32_t add_to(uint32_t *to, uint32_t number) { return atomicAdd(to, number); }

GYRASE_DEVICE void add_to(uint64_t *to, uint64_t number) {
    atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(number));
}

// Four neighbouring words; in one load where their address allows it.
struct Words {
    uint32_t all[4];
};

GYRASE_DEVICE Words four_words(const uint32_t *at) {
    if (reinterpret_cast<uintptr_t>(at) % 16 == 0) {
        const uint4 four = __ldg(reinterpret_cast<const uint4 *>(at));
        return {{four.x, four.y, four.z, four.w}};
    }
    return {{__ldg(at), __ldg(at + 1), __ldg(at + 2), __ldg(at + 3)}};
}

#else

#define GYRASE_DEVICE inline
#define GYRASE_BOTH inline
#define GYRASE_UNROLL

template <class T>
struct Lanes {
    T all[LANES];
    T &operator[](uint32_t lane) { return all[lane]; }
    const T &operator[](uint32_t lane) const { return all[lane]; }
};

struct Warp {
    // Lanes of a device have no order: here it turns with every step, so that a step which depends
    // on it does not pass the tests.
    template <class F>
    void each(F step) const {
        static thread_local bool backwards = false;
        backwards = !backwards;
        for (uint32_t at = 0; at < LANES; ++at) step(backwards ? LANES - 1 - at : at);
    }

    template <class F>
    uint32_t ballot(F says) const {
        uint32_t bits = 0;
        for (uint32_t lane = 0; lane < LANES; ++lane) bits |= uint32_t(says(lane) ? 1 : 0) << lane;
        return bits;
    }

    template <class T, class F>
    Lanes<T> shuffle(const Lanes<T> &values, F from) const {
        Lanes<T> given;
        for (uint32_t lane = 0; lane < LANES; ++lane) given[lane] = values[from(lane) % LANES];
        return given;
    }

    void sync() const {}
};

inline uint32_t ones(uint32_t word) {
    uint32_t count = 0;
    for (; word; word &= word - 1) ++count;
    return count;
}

inline uint32_t reversed(uint32_t word) {
    uint32_t turned = 0;
    for (int bit = 0; bit < 32; ++bit) turned |= (word >> bit & 1u) << (31 - bit);
    return turned;
}

inline uint32_t first_bit(uint32_t word) {
    uint32_t bit = 0;
    while ((word >> bit & 1) == 0) ++bit;
    return bit;
}

inline void raise_to(uint64_t *to, uint64_t value) {
    if (value > *to) *to = value;
}

inline void set_bits(uint32_t *to, uint32_t bits) { *to |= bits; }

inline uint32_t add_to(uint32_t *to, uint32_t number) {
    const uint32_t there = *to;
    *to += number;
    return there;
}

inline void add_to(uint64_t *to, uint64_t number) { *to += number; }

struct Words {
    uint32_t all[4];
};

inline Words four_words(const uint32_t *at) { return {{at[0], at[1], at[2], at[3]}}; }

#endif

// What a step keeps that needs nothing of the block.
struct NoScratch {};

// The bits of the lanes before a lane.
GYRASE_DEVICE uint32_t before(uint32_t lane) { return (1u << lane) - 1; }

// So many bits from the lowest on, 1 to 32.
GYRASE_DEVICE uint32_t low_bits(uint32_t bits) { return 0xffffffffu >> (32 - bits); }

template <class T>
GYRASE_DEVICE T least(T one, T other) {
    return other < one ? other : one;
}
template <class T>
GYRASE_DEVICE T most(T one, T other) {
    return one < other ? other : one;
}

// Runs a step for each of so many, of which a warp takes 32 neighbours for a task.
template <class Step>
GYRASE_DEVICE void for_each(Warp warp, uint32_t task, uint32_t count, Step step) {
    warp.each([&](uint32_t lane) {
        const uint64_t at = uint64_t(task) * LANES + lane;
        if (at < count) step(uint32_t(at));
    });
}

// How many of ascending numbers are at most `value`, counted in a range of them.
template <class T>
GYRASE_DEVICE uint32_t up_to(const T *numbers, uint32_t from, uint32_t to, T value) {
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (numbers[middle] <= value) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}
