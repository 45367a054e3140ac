// A CUDA device: its memory, and streams in which copies and kernels follow each other.
#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <cuda_runtime.h>

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "abi.h"
#include "budget.h"
#include "warp.cuh"

namespace backend {

constexpr uint32_t WARPS_OF_BLOCK = 8;

inline void check(cudaError_t code, const char *what) {
    if (code != cudaSuccess) {
        // What failed once is not told again by the next call.
        cudaGetLastError();
        throw Failure(std::string(what) + ": " + cudaGetErrorString(code));
    }
}

inline int devices() {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cannot count the GPUs");
    return count;
}

inline void use(int device) { check(cudaSetDevice(device), "cannot use the GPU"); }

inline void describe(int device, gyrase_gpu_device &to) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cannot describe the GPU");
    std::string(properties.name).copy(to.name, sizeof to.name - 1);
    to.major = properties.major;
    to.minor = properties.minor;
    use(device);
    size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "cannot tell the memory of the GPU");
    to.memory = all;
    to.free = free;
}

template <class T>
class Buffer {
  public:
    Buffer() = default;
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { cudaFree(memory); }

    T *data() const { return memory; }

    // Room for so many, and some more where it grows: what was there is lost.
    void reserve(uint64_t count, Budget &budget) {
        if (count <= capacity) return;
        budget.exchange(capacity * sizeof(T), count * sizeof(T));
        cudaFree(memory);
        memory = nullptr;
        capacity = 0;
        const cudaError_t code = cudaMalloc(reinterpret_cast<void **>(&memory), count * sizeof(T));
        if (code == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            budget.exchange(count * sizeof(T), 0);
            throw Declined();
        }
        check(code, "no memory of the GPU");
        capacity = count;
    }

  private:
    T *memory = nullptr;
    uint64_t capacity = 0;
};

constexpr uint64_t SMALL_PAGE = 4096, LARGE_PAGE = 2 << 20;

// Memory that is touched for the first time comes in small pages, slower than a copy fills them.
inline void expect_large_pages(void *memory, uint64_t bytes) {
    const uint64_t begin = reinterpret_cast<uint64_t>(memory), end = begin + bytes;
    const uint64_t first = (begin + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    const uint64_t last = end / LARGE_PAGE * LARGE_PAGE;
    // It is a wish: where it is not granted all is as it was.
    if (first < last) madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
}

// Memory of the host that copies go from and to without being copied once more. The driver takes
// long for what it makes itself; for large pages that are there, a tenth of that.
template <class T>
class Pinned {
  public:
    Pinned() = default;
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
    ~Pinned() { release(); }

    T *data() const { return memory; }

    void reserve(uint64_t count, Budget &budget) {
        if (count <= capacity) return;
        budget.exchange(capacity * sizeof(T), count * sizeof(T));
        release();
        const uint64_t page = count * sizeof(T) < LARGE_PAGE ? SMALL_PAGE : LARGE_PAGE;
        const uint64_t bytes = (count * sizeof(T) + page - 1) / page * page;
        void *made = nullptr;
        if (posix_memalign(&made, page, bytes) != 0) {
            budget.exchange(count * sizeof(T), 0);
            throw std::bad_alloc();
        }
        memory = static_cast<T *>(made);
        capacity = count;
        expect_large_pages(made, bytes);
        // Where it cannot be pinned, copies of it are correct and slower.
        is_pinned = cudaHostRegister(made, bytes, cudaHostRegisterDefault) == cudaSuccess;
        if (!is_pinned) cudaGetLastError();
    }

  private:
    void release() {
        if (is_pinned) cudaHostUnregister(memory);
        std::free(memory);
        memory = nullptr;
        capacity = 0;
        is_pinned = false;
    }

    T *memory = nullptr;
    uint64_t capacity = 0;
    bool is_pinned = false;
};

template <class Body>
__global__ void __launch_bounds__(WARPS_OF_BLOCK *LANES) take(const Body body, uint32_t tasks) {
    __shared__ typename Body::Scratch scratch[WARPS_OF_BLOCK];
    const uint32_t warp = threadIdx.x / LANES;
    const uint32_t task = blockIdx.x * WARPS_OF_BLOCK + warp;
    if (task < tasks) body(Warp(), scratch[warp], task);
}

// Whether a word is below a limit.
struct Below {
    uint64_t limit;
    __device__ bool operator()(uint64_t word) const { return word < limit; }
};

class Stream {
  public:
    Stream() {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "no stream");
        check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming),
              "no event");
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() {
        finish();
        cudaEventDestroy(event);
        cudaStreamDestroy(stream);
    }

    template <class T>
    void copy_in(T *to, const T *from, uint64_t count) {
        copy(to, from, count * sizeof(T), cudaMemcpyHostToDevice);
    }

    template <class T>
    void copy_out(T *to, const T *from, uint64_t count) {
        copy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost);
    }

    // The two do not overlap.
    template <class T>
    void copy_within(T *to, const T *from, uint64_t count) {
        copy(to, from, count * sizeof(T), cudaMemcpyDeviceToDevice);
    }

    template <class T>
    void zero(T *to, uint64_t count) {
        check(cudaMemsetAsync(to, 0, count * sizeof(T), stream), "cannot clear memory of the GPU");
    }

    // Waits, whatever fails.
    void finish() { cudaStreamSynchronize(stream); }

    // The thread sleeps meanwhile: others have the processor.
    void wait() {
        check(cudaEventRecord(event, stream), "cannot record an event");
        check(cudaEventSynchronize(event), "the GPU failed");
    }

    template <class Body>
    void launch(const Body &body, uint32_t tasks) {
        if (tasks == 0) return;
        const uint32_t blocks = (tasks - 1) / WARPS_OF_BLOCK + 1;
        take<<<blocks, WARPS_OF_BLOCK * LANES, 0, stream>>>(body, tasks);
        check(cudaGetLastError(), "cannot start a kernel");
    }

    // Before each number the sum of those before it.
    void sums_before(uint32_t *numbers, uint32_t count, Budget &budget) {
        with_scratch(budget, [&](void *scratch, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers, numbers, count, stream);
        });
    }

    // The same with its own.
    template <class T>
    void sums_with(T *numbers, uint32_t count, Budget &budget) {
        with_scratch(budget, [&](void *scratch, size_t &bytes) {
            return cub::DeviceScan::InclusiveSum(scratch, bytes, numbers, numbers, count, stream);
        });
    }

    // Copies the words below a limit, and waits: how many they are.
    uint32_t select_below(const uint64_t *words, uint64_t *to, uint32_t count, uint64_t limit,
                          Budget &budget) {
        found.reserve(1, budget);
        with_scratch(budget, [&](void *scratch, size_t &bytes) {
            return cub::DeviceSelect::If(scratch, bytes, words, to, found.data(), count,
                                         Below{limit}, stream);
        });
        uint32_t below = 0;
        copy_out(&below, found.data(), 1);
        wait();
        return below;
    }

    // Sorts by some bits, and leaves the order of equals; the sorted keys are where it says, in one
    // of the two.
    uint64_t *sort(uint64_t *keys, uint64_t *others, uint32_t count, uint32_t begin_bit,
                   uint32_t end_bit, Budget &budget) {
        cub::DoubleBuffer<uint64_t> both(keys, others);
        with_scratch(budget, [&](void *scratch, size_t &bytes) {
            return cub::DeviceRadixSort::SortKeys(scratch, bytes, both, count,
                                                  static_cast<int>(begin_bit),
                                                  static_cast<int>(end_bit), stream);
        });
        return both.Current();
    }

    // The same by the lowest bits of keys that have a number each.
    std::pair<uint64_t *, uint32_t *> sort_pairs(uint64_t *keys, uint64_t *other_keys,
                                                 uint32_t *numbers, uint32_t *other_numbers,
                                                 uint32_t count, uint32_t end_bit, Budget &budget) {
        cub::DoubleBuffer<uint64_t> by_key(keys, other_keys);
        cub::DoubleBuffer<uint32_t> by_number(numbers, other_numbers);
        with_scratch(budget, [&](void *scratch, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, by_key, by_number, count, 0,
                                                   static_cast<int>(end_bit), stream);
        });
        return {by_key.Current(), by_number.Current()};
    }

    // Sorts pairs of numbers by some bits of the first, and leaves the order of equals; what is
    // given stays as it is.
    void group_pairs(const uint32_t *numbers, const uint32_t *values, uint32_t *numbers_to,
                     uint32_t *values_to, uint32_t count, uint32_t begin_bit, uint32_t end_bit,
                     Budget &budget) {
        with_scratch(budget, [&](void *scratch, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, numbers, numbers_to, values,
                                                   values_to, count, static_cast<int>(begin_bit),
                                                   static_cast<int>(end_bit), stream);
        });
    }

  private:
    void copy(void *to, const void *from, uint64_t bytes, cudaMemcpyKind kind) {
        if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cannot copy");
    }

    // CUB says how much memory it works with when it is first asked.
    template <class Call>
    void with_scratch(Budget &budget, Call call) {
        size_t bytes = 0;
        check(call(nullptr, bytes), "cannot plan a step");
        scratch.reserve(bytes > 0 ? bytes : 1, budget);
        check(call(scratch.data(), bytes), "cannot start a step");
    }

    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    Buffer<uint8_t> scratch;
    Buffer<uint32_t> found;
};

// A moment of a stream of a device.
class Event {
  public:
    explicit Event(int device) {
        use(device);
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event");
    }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    ~Event() { cudaEventDestroy(event); }

  private:
    friend class CopyStream;
    cudaEvent_t event = nullptr;
};

// A stream of copies from a device to another, which may be the same.
class CopyStream {
  public:
    CopyStream(int from_device, int to_device) : from_device(from_device), to_device(to_device) {
        reach(to_device, from_device);
        reach(from_device, to_device);
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "no stream");
    }
    CopyStream(const CopyStream &) = delete;
    CopyStream &operator=(const CopyStream &) = delete;
    ~CopyStream() {
        finish();
        cudaStreamDestroy(stream);
    }

    void copy(uint8_t *to, const uint8_t *from, uint64_t bytes) {
        use(from_device);
        check(from_device == to_device
                  ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)
                  : cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream),
              "cannot copy between GPUs");
    }

    void record(Event &event) {
        use(from_device);
        check(cudaEventRecord(event.event, stream), "cannot record an event");
    }

    // What comes behind begins when the event is over.
    void follow(const Event &event) {
        use(from_device);
        check(cudaStreamWaitEvent(stream, event.event, 0), "cannot wait for an event");
    }

    void wait() {
        use(from_device);
        check(cudaStreamSynchronize(stream), "the GPU failed");
    }

    // Waits, whatever fails.
    void finish() { cudaStreamSynchronize(stream); }

  private:
    // Lets a device reach the memory of another, where it can. Else copies go through the host.
    static void reach(int one, int other) {
        use(one);
        int can = 0;
        if (one != other)
            check(cudaDeviceCanAccessPeer(&can, one, other), "cannot tell how GPUs are wired");
        if (can == 0) return;
        const cudaError_t code = cudaDeviceEnablePeerAccess(other, 0);
        cudaGetLastError();
        if (code != cudaErrorPeerAccessAlreadyEnabled) check(code, "a GPU cannot reach another");
    }

    const int from_device, to_device;
    cudaStream_t stream = nullptr;
};

}  // namespace backend
