// The counts of k-mers.
#pragma once

#include <algorithm>
#include <vector>

#include "count_steps.cuh"
#include "numbers.h"

// k-mers of a super-k-mer, at most.
constexpr uint64_t MOST_KMERS = 60;

// Counts the k-mers of super-k-mers, of many at a time, with buffers that stay for the next.
class KmerCount {
  public:
    explicit KmerCount(uint64_t bytes) : budget(bytes) { total.reserve(1, budget); }

    // Counts; where the rows of each part begin, and where those of the last end.
    void count(const gyrase_gpu_super_kmers &given, uint32_t *row_begins) {
        row_count = 0;
        const uint64_t super_kmers = uint64_t(given.tasks) * LANES;
        if (super_kmers * MOST_KMERS > UINT32_MAX) throw Declined();
        part_count = given.part_count;
        std::fill(row_begins, row_begins + part_count + 1, 0);
        if (given.tasks == 0) return;
        const SuperKmers all = copy_in(given);
        list_keys(all, given.tasks);
        if (key_count == 0) return;
        sort_parts();
        make_rows(given);
        stream.copy_out(row_begins, begins.data(), part_count + 1);
        stream.wait();
    }

    // Some of the rows.
    void rows(uint64_t first, uint64_t count, uint64_t *to_keys, uint32_t *to_counts) {
        if (first > row_count || count > row_count - first) throw Failure("there is no such row");
        stream.copy_out(to_keys, row_keys.data() + first, count);
        stream.copy_out(to_counts, row_counts.data() + first, count);
        stream.wait();
    }

  private:
    // Launches are nearly alike: with a little more, most need nothing new.
    template <class T>
    void reserve(backend::Buffer<T> &buffer, uint64_t count) {
        buffer.reserve(count + count / 8 + 2, budget);
    }

    SuperKmers copy_in(const gyrase_gpu_super_kmers &given) {
        const uint64_t super_kmers = uint64_t(given.tasks) * LANES;
        reserve(records, super_kmers);
        reserve(record_weights, super_kmers);
        reserve(parts_of_tasks, given.tasks);
        reserve(parts, part_count);
        stream.copy_in(records.data(), given.super_kmers, super_kmers);
        stream.copy_in(record_weights.data(), given.weights, super_kmers);
        stream.copy_in(parts_of_tasks.data(), given.parts_of_tasks, given.tasks);
        stream.copy_in(parts.data(), given.parts, part_count);
        return {records.data(), record_weights.data(), parts_of_tasks.data(), parts.data(),
                given.k,        given.stranded};
    }

    void list_keys(const SuperKmers &all, uint32_t tasks) {
        reserve(keys_before, tasks);
        reserve(begins, part_count);
        stream.launch(CountKeys{all, keys_before.data()}, tasks);
        // One more, so that the last sum is that of all.
        stream.zero(keys_before.data() + tasks, 1);
        stream.sums_before(keys_before.data(), tasks + 1, budget);
        stream.launch(
            BeginParts{parts.data(), part_count, tasks, keys_before.data(), begins.data()},
            tasks_of(uint64_t(part_count) + 1));
        host_begins.resize(part_count + 1);
        stream.copy_out(host_begins.data(), begins.data(), part_count + 1);
        stream.wait();
        key_count = host_begins[part_count];
        reserve(keys, key_count);
        reserve(other_keys, key_count);
        reserve(weights, key_count);
        reserve(other_weights, key_count);
        stream.launch(ListKeys{all, keys_before.data(), keys.data(), weights.data()}, tasks);
    }

    // Parts are sorted one by one, so that no pass goes over the number of the part.
    void sort_parts() {
        for (uint32_t part = 0; part < part_count; ++part) {
            const uint32_t begin = host_begins[part], count = host_begins[part + 1] - begin;
            if (count < 2) continue;
            const auto [by_key, by_weight] = stream.sort_pairs(
                keys.data() + begin, other_keys.data() + begin, weights.data() + begin,
                other_weights.data() + begin, count, 64, budget);
            if (by_key == keys.data() + begin) continue;
            stream.copy_within(keys.data() + begin, by_key, count);
            stream.copy_within(weights.data() + begin, by_weight, count);
        }
    }

    void make_rows(const gyrase_gpu_super_kmers &given) {
        // The buffers of the sort are free now.
        uint32_t *numbers = other_weights.data(), *starts = weights.data();
        uint64_t *sums = other_keys.data();
        const uint32_t tasks = tasks_of(key_count), of_parts = tasks_of(uint64_t(part_count) + 1);
        stream.launch(MarkRows{keys.data(), weights.data(), key_count, numbers, sums}, tasks);
        stream.launch(MarkParts{begins.data(), part_count, key_count, numbers}, of_parts);
        stream.sums_with(numbers, key_count, budget);
        stream.sums_with(sums, key_count, budget);
        stream.copy_out(total.data(), numbers + (key_count - 1), 1);
        stream.launch(BeginRows{numbers, key_count, starts}, tasks);
        stream.launch(RowsOfParts{numbers, key_count, part_count, begins.data()}, of_parts);
        stream.wait();
        const Rows all = {starts, sums, total.data()[0], key_count};
        // The numbers are done with too.
        uint32_t *kept = numbers;
        const uint32_t of_rows = tasks_of(all.rows);
        stream.launch(KeepRows{all, given.least_count, given.most_count, kept}, of_rows);
        stream.zero(kept + all.rows, 1);
        stream.sums_before(kept, all.rows + 1, budget);
        stream.copy_out(total.data(), kept + all.rows, 1);
        stream.wait();
        row_count = total.data()[0];
        reserve(row_keys, row_count);
        reserve(row_counts, row_count);
        stream.launch(ListRows{all, keys.data(), kept, row_keys.data(), row_counts.data()},
                      of_rows);
        stream.launch(KeptOfParts{kept, part_count, begins.data()}, of_parts);
    }

    Budget budget;
    uint32_t part_count = 0, key_count = 0, row_count = 0;
    std::vector<uint32_t> host_begins;
    backend::Pinned<uint32_t> total;
    backend::Buffer<gyrase_gpu_super_kmer> records;
    backend::Buffer<gyrase_gpu_part> parts;
    backend::Buffer<uint32_t> record_weights, parts_of_tasks, keys_before, begins;
    backend::Buffer<uint64_t> keys, other_keys, row_keys;
    backend::Buffer<uint32_t> weights, other_weights, row_counts;
    // The last to go is the first to be waited for.
    backend::Stream stream;
};
