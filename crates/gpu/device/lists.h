// Lists of the features of a partition, made of its sorted records.
#pragma once

#include "list_steps.cuh"
#include "records.h"

// Warps that share the lists of a partition that are too long.
constexpr uint32_t LONG_TASKS = 1024;

// Makes the lists of one partition after the other.
class ListMaker {
  public:
    ListMaker(const Records &records, uint32_t taxa, uint32_t most, uint64_t bytes,
              uint64_t host_bytes)
        : records(records), taxa(taxa), most(most), budget(bytes), host(host_bytes) {
        totals.reserve(2, host);
        few.reserve(2, budget);
        distinct.reserve(uint64_t(taxa) + 1, budget);
        stream.zero(distinct.data(), uint64_t(taxa) + 1);
    }

    // Of the partition with so many records from one on. They stay until the next are made.
    gyrase_gpu_lists run(uint32_t partition, uint64_t first, uint32_t count) {
        if (count == 0) return {};
        const uint64_t *own = records.sorted() + first;
        reserve(count);
        const uint32_t lists = begin(own, count);
        keep(own, count, lists);
        stream.launch(PackWindows{own, kept.data(), count, windows.data()}, tasks_of(count));
        stream.launch(TellLists{own, records.listed(), begins.data(), kept.data(), windows.data(),
                                lists, partition, most, places.data(), counts.data(),
                                few.data() + 1, distinct.data()},
                      tasks_of(lists));
        return copy_out(lists, count);
    }

    // Of each taxon, and of none, the features that have windows of it.
    void tell(uint64_t *to) {
        stream.copy_out(to, distinct.data(), uint64_t(taxa) + 1);
        stream.wait();
    }

  private:
    void reserve(uint32_t count) {
        const uint64_t more = uint64_t(count) + count / 8 + 2;
        numbers.reserve(more, budget);
        begins.reserve(more, budget);
        kept.reserve(more, budget);
        found.reserve(more, budget);
        windows.reserve(more, budget);
        places.reserve(more, budget);
        counts.reserve(more, budget);
    }

    // How many lists there are.
    uint32_t begin(const uint64_t *own, uint32_t count) {
        stream.zero(few.data(), 2);
        stream.launch(MarkLists{own, count, numbers.data()}, tasks_of(count));
        stream.sums_with(numbers.data(), count, budget);
        stream.launch(BeginLists{numbers.data(), count, begins.data(), kept.data()},
                      tasks_of(count));
        stream.copy_out(totals.data(), numbers.data() + count - 1, 1);
        stream.wait();
        return totals.data()[0];
    }

    void keep(const uint64_t *own, uint32_t count, uint32_t lists) {
        stream.launch(FindLong{begins.data(), lists, most, found.data(), few.data()},
                      tasks_of(lists));
        stream.launch(KeepSmallest{own, records.listed(), begins.data(), found.data(), few.data(),
                                   most, LONG_TASKS, kept.data()},
                      LONG_TASKS);
        // One more, so that the last sum is that of all.
        stream.zero(kept.data() + count, 1);
        stream.sums_before(kept.data(), count + 1, budget);
    }

    gyrase_gpu_lists copy_out(uint32_t lists, uint32_t count) {
        stream.copy_out(totals.data(), kept.data() + count, 1);
        stream.copy_out(totals.data() + 1, few.data() + 1, 1);
        stream.wait();
        const uint32_t all = totals.data()[0], full = totals.data()[1];
        host_windows.reserve(all + all / 8 + 1, host);
        host_places.reserve(lists + lists / 8 + 1, host);
        host_counts.reserve(lists + lists / 8 + 1, host);
        stream.copy_out(host_windows.data(), windows.data(), all);
        stream.copy_out(host_places.data(), places.data(), lists);
        stream.copy_out(host_counts.data(), counts.data(), lists);
        stream.wait();
        return {host_places.data(), host_counts.data(), host_windows.data(), lists, all, full};
    }

    const Records &records;
    const uint32_t taxa, most;
    Budget budget, host;
    backend::Pinned<uint32_t> totals, host_windows, host_places;
    backend::Pinned<uint8_t> host_counts;
    // How many lists are too long, and how many are full.
    backend::Buffer<uint32_t> few;
    backend::Buffer<uint32_t> numbers, begins, kept, found, windows, places;
    backend::Buffer<uint8_t> counts;
    backend::Buffer<uint64_t> distinct;
    // The last to go is the first to be waited for.
    backend::Stream stream;
};
