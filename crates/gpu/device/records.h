// The records of a build, which stay on the device until all are there.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>

#include "list_steps.cuh"
#include "record_steps.cuh"
#include "sketches.h"
#include "targets.h"

// Bytes that a record takes to be sorted: its own, as many for the other order, and a share of what
// the sort counts with.
constexpr uint64_t RECORD_BYTES = 17;
// Bytes for where the records of partitions begin, and of some batches.
constexpr uint64_t TABLE_BYTES = 1 << 18;

// Records of features from one partition on to that from which on they are too many.
class Records {
  public:
    Records(int device, uint64_t bytes, uint32_t first_partition)
        : device(device), first(first_partition), budget(bytes) {
        const uint64_t room = bytes - std::min(bytes, TABLE_BYTES);
        capacity = uint32_t(std::min<uint64_t>(room / RECORD_BYTES, UINT32_MAX));
        records.reserve(std::max<uint64_t>(capacity, 1), budget);
        others.reserve(std::max<uint64_t>(capacity, 1), budget);
        all = records.data();
        spare = others.data();
    }

    // Room for so many; null where there is none. Who holds `writing` writes to it.
    uint64_t *claim(uint32_t count) {
        uint64_t begin = used.load();
        do {
            if (begin + count > capacity) return nullptr;
        } while (!used.compare_exchange_weak(begin, begin + count));
        return all + begin;
    }

    // Leaves the lower half of the partitions, unless there is room for so many more.
    void make_room(uint32_t count) {
        const std::unique_lock<std::shared_mutex> nobody_else(writing);
        if (used + count <= capacity) return;
        if (end - first < 2) throw Declined();
        const uint32_t middle = first + (end - first) / 2;
        const uint64_t limit = uint64_t(middle) << (32 + PLACE_BITS);
        used = stream.select_below(all, spare, uint32_t(used), limit, budget);
        end = middle;
        std::swap(all, spare);
    }

    // Sorts them by places, and by windows, which get their numbers of the database.
    void sort(const uint32_t *came, const uint32_t *numbers, uint32_t batches, uint32_t *begins) {
        const std::unique_lock<std::shared_mutex> nobody_else(writing);
        const uint32_t count = uint32_t(used);
        backend::Buffer<uint32_t> tables[2], found;
        for (backend::Buffer<uint32_t> &table : tables) table.reserve(batches + 1, budget);
        found.reserve(PARTITIONS + 1, budget);
        stream.copy_in(tables[0].data(), came, batches);
        stream.copy_in(tables[1].data(), numbers, batches);
        stream.launch(NumberWindows{tables[0].data(), tables[1].data(), batches, count, all},
                      tasks_of(count));
        if (count > 1 && stream.sort(all, spare, count, 0, 64, budget) != all)
            std::swap(all, spare);
        stream.launch(BeginPartitions{all, count, found.data()}, tasks_of(PARTITIONS + 1));
        stream.launch(PlaceInPartition{count, all}, tasks_of(count));
        stream.copy_out(begins, found.data(), PARTITIONS + 1);
        stream.wait();
    }

    // Brings what lists are made by.
    void bring_targets(const gyrase_gpu_targets &given) {
        names.reserve(uint64_t(given.count) + 1, budget);
        taxa.reserve(uint64_t(given.count) + 1, budget);
        stream.copy_in(names.data(), given.names, given.count);
        stream.copy_in(taxa.data(), given.taxa, given.count);
        table.bring(given.first_windows, given.count, given.all_windows, stream, budget);
    }

    const int device;
    const uint32_t first;
    // Shared by those who write records, of partitions before `end`.
    std::shared_mutex writing;
    uint32_t end = PARTITIONS;
    const uint64_t *sorted() const { return all; }
    ListedTargets listed() const { return {table.get(), names.data(), taxa.data()}; }
    bool has_all() const { return first == 0 && end == PARTITIONS; }

  private:
    Budget budget;
    uint32_t capacity = 0;
    std::atomic<uint64_t> used{0};
    backend::Buffer<uint64_t> records, others;
    uint64_t *all = nullptr, *spare = nullptr;
    backend::Buffer<uint64_t> names;
    backend::Buffer<uint32_t> taxa;
    TargetTable table;
    backend::Stream stream;
};

// Sketches batches of sequences, and keeps records of their features.
class BatchSketch {
  public:
    BatchSketch(Records &records, const gyrase_gpu_shape &shape, uint64_t bytes,
                uint64_t host_bytes)
        : records(records), budget(bytes), host(host_bytes), sketches(shape) {
        total.reserve(1, host);
    }

    // The windows have numbers from that of the first on.
    void run(const gyrase_gpu_sequence *sequences, uint32_t count, uint32_t first_window) {
        sketches.reserve(sequences, count, budget, host);
        sketches.copy_in(sequences, count, stream);
        while (!keep(first_window)) records.make_room(total.data()[0]);
    }

  private:
    // False where there is no room for so many.
    bool keep(uint32_t first_window) {
        const std::shared_lock<std::shared_mutex> none_goes(records.writing);
        const uint32_t windows = sketches.window_count, room = sketches.room;
        uint32_t *slots = sketches.slots.data(), *before = sketches.features_before.data();
        sketches.sketch(stream);
        if (!records.has_all())
            stream.launch(KeepPartitions{records.first, records.end, room, slots, before}, windows);
        sketches.sum(stream, budget);
        stream.copy_out(total.data(), before + windows, 1);
        stream.wait();
        uint64_t *to = records.claim(total.data()[0]);
        if (to == nullptr) return false;
        stream.launch(ListRecords{slots, room, before, first_window, to}, windows);
        stream.wait();
        return true;
    }

    Records &records;
    Budget budget, host;
    WindowSketches sketches;
    backend::Pinned<uint32_t> total;
    // The last to go is the first to be waited for.
    backend::Stream stream;
};

// Reads sorted records.
class RecordReader {
  public:
    RecordReader(const Records &records, uint64_t host_bytes) : records(records), host(host_bytes) {}

    // Some of them, which stay until the next are read.
    const uint64_t *read(uint64_t first, uint32_t count) {
        if (count > GYRASE_GPU_MOST_READ) throw Declined();
        words.reserve(GYRASE_GPU_MOST_READ + GYRASE_GPU_READ_SLACK, host);
        stream.copy_out(words.data(), records.sorted() + first, count);
        stream.wait();
        return words.data();
    }

  private:
    const Records &records;
    Budget host;
    backend::Pinned<uint64_t> words;
    backend::Stream stream;
};
