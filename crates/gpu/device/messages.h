// Messages of all devices of a group for all, along a plan.
#pragma once

#include <algorithm>
#include <vector>

#include "group.h"

// How many numbers each device has for each, by source and target.
using Counts = std::vector<std::vector<uint64_t>>;

inline Counts transposed(const Counts &counts) {
    Counts turned = counts;
    for (size_t source = 0; source < counts.size(); ++source)
        for (size_t target = 0; target < counts.size(); ++target)
            turned[target][source] = counts[source][target];
    return turned;
}

// How many numbers a device gets.
inline uint32_t received(const Counts &counts, uint32_t target) {
    uint64_t sum = 0;
    for (const std::vector<uint64_t> &row : counts) sum += row[target];
    if (sum > UINT32_MAX) throw Declined();
    return uint32_t(sum);
}

class Messages {
  public:
    Messages(DeviceGroup &group, const gyrase_gpu_routes &routes, std::vector<Budget *> budgets)
        : group(group), routes(routes), budgets(std::move(budgets)), passing(group.size()) {}

    // Each device has numbers by their targets, and gets others by their sources.
    template <class Number>
    void exchange(const std::vector<const Number *> &from, const std::vector<Number *> &to,
                  const Counts &counts) {
        std::vector<const uint8_t *> sources;
        std::vector<uint8_t *> targets;
        for (const Number *one : from) sources.push_back(reinterpret_cast<const uint8_t *>(one));
        for (Number *one : to) targets.push_back(reinterpret_cast<uint8_t *>(one));
        Counts bytes = counts;
        for (std::vector<uint64_t> &row : bytes)
            for (uint64_t &one : row) one *= sizeof(Number);
        move(sources, targets, bytes);
    }

  private:
    void move(const std::vector<const uint8_t *> &from, const std::vector<uint8_t *> &to,
              const Counts &bytes) {
        const Counts starts = begins(bytes), ends = transposed(begins(transposed(bytes)));
        const std::vector<uint64_t> places = make_way(bytes);
        std::vector<Transfer> transfers;
        for (uint32_t at = 0; at < routes.hop_count; ++at) {
            const gyrase_gpu_hop &hop = routes.hops[at];
            const uint64_t begin = until(hop, hop.first_chunk, bytes);
            const uint8_t *source = hop.after == GYRASE_GPU_NONE
                                        ? from[hop.source] + starts[hop.source][hop.target] + begin
                                        : transfers[hop.after].target;
            uint8_t *target = hop.to == hop.target
                                  ? to[hop.target] + ends[hop.source][hop.target] + begin
                                  : passing[hop.to].data() + places[at];
            transfers.push_back({hop.from, hop.to, source, target, length(hop, bytes), hop.after});
        }
        for (uint32_t own = 0; own < group.size(); ++own)
            transfers.push_back({own, own, from[own] + starts[own][own], to[own] + ends[own][own],
                                 bytes[own][own], GYRASE_GPU_NONE});
        group.move(transfers);
    }

    // Room for what passes devices that it is not for: where each transfer puts it.
    std::vector<uint64_t> make_way(const Counts &bytes) {
        std::vector<uint64_t> places(routes.hop_count), taken(group.size());
        for (uint32_t at = 0; at < routes.hop_count; ++at) {
            const gyrase_gpu_hop &hop = routes.hops[at];
            if (hop.to == hop.target) continue;
            places[at] = taken[hop.to];
            taken[hop.to] += length(hop, bytes);
        }
        for (uint32_t device = 0; device < group.size(); ++device) {
            group.use(device);
            passing[device].reserve(taken[device], *budgets[device]);
        }
        return places;
    }

    uint64_t length(const gyrase_gpu_hop &hop, const Counts &bytes) const {
        return until(hop, hop.end_chunk, bytes) - until(hop, hop.first_chunk, bytes);
    }

    // Bytes of the first chunks of a message.
    uint64_t until(const gyrase_gpu_hop &hop, uint32_t chunks, const Counts &bytes) const {
        const uint64_t all = bytes[hop.source][hop.target];
        return std::min((all + routes.chunks - 1) / routes.chunks * chunks, all);
    }

    // Where the message for each begins among those of its source.
    static Counts begins(const Counts &bytes) {
        Counts begins = bytes;
        for (std::vector<uint64_t> &row : begins) {
            uint64_t sum = 0;
            for (uint64_t &one : row) {
                sum += one;
                one = sum - one;
            }
        }
        return begins;
    }

    DeviceGroup &group;
    const gyrase_gpu_routes &routes;
    const std::vector<Budget *> budgets;
    std::vector<backend::Buffer<uint8_t>> passing;
};
