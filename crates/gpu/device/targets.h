// The targets of a database on a device.
#pragma once

#include <algorithm>
#include <vector>

#include "targets.cuh"

class TargetTable {
  public:
    // Of each target its first window, ascending; all of them have so many. Waits for the stream.
    void bring(const uint32_t *first, uint32_t targets, uint32_t all_windows,
               backend::Stream &stream, Budget &budget) {
        const std::vector<uint32_t> table = table_of(first, first + targets, all_windows);
        first_windows.reserve(uint64_t(targets) + 1, budget);
        begun.reserve(table.size(), budget);
        stream.copy_in(first_windows.data(), first, targets);
        stream.copy_in(first_windows.data() + targets, &all_windows, 1);
        stream.copy_in(begun.data(), table.data(), table.size());
        stream.wait();
    }

    Targets get() const { return {first_windows.data(), begun.data(), shift}; }

  private:
    // See `Targets`; with so many entries the table stays in the caches.
    std::vector<uint32_t> table_of(const uint32_t *first, const uint32_t *end,
                                   uint32_t all_windows) {
        shift = 0;
        while (all_windows >> shift >= 1u << 15) ++shift;
        std::vector<uint32_t> table((all_windows >> shift) + 2);
        for (uint64_t block = 0; block < table.size(); ++block) {
            const uint64_t start = std::min<uint64_t>(block << shift, UINT32_MAX);
            table[block] = uint32_t(std::upper_bound(first, end, uint32_t(start)) - first);
        }
        return table;
    }

    backend::Buffer<uint32_t> first_windows, begun;
    uint32_t shift = 0;
};
