// Logical devices, and transfers among them.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "abi.h"

// Bytes that go from one device to another.
struct Transfer {
    uint32_t from;
    uint32_t to;
    const uint8_t *source;
    uint8_t *target;
    uint64_t bytes;
    // The transfer that brings them, or GYRASE_GPU_NONE.
    uint32_t after;
};

// Several logical devices may be one device.
class DeviceGroup {
  public:
    DeviceGroup(const int32_t *numbers, uint32_t count)
        : numbers(numbers, numbers + count), events(count) {}

    uint32_t size() const { return uint32_t(numbers.size()); }

    void use(uint32_t device) const { backend::use(numbers[device]); }

    // Does all, and waits for it: where something fails, for what was begun. Each pair of devices
    // has a stream, which takes its transfers in their order; what was brought by another goes on
    // behind the event of that.
    void move(const std::vector<Transfer> &transfers) {
        try {
            begin(transfers);
        } catch (...) {
            for (auto &stream : streams) stream.second.finish();
            throw;
        }
        // The last first: in the host twin its copies are the first to be made, if nothing but
        // events keeps them back.
        for (auto stream = streams.rbegin(); stream != streams.rend(); ++stream)
            stream->second.wait();
    }

  private:
    void begin(const std::vector<Transfer> &transfers) {
        std::vector<bool> is_awaited(transfers.size());
        for (const Transfer &one : transfers)
            if (one.after != GYRASE_GPU_NONE) is_awaited[one.after] = true;
        std::vector<backend::Event *> ends(transfers.size());
        std::vector<uint32_t> recorded(size());
        for (size_t at = 0; at < transfers.size(); ++at) {
            const Transfer &one = transfers[at];
            backend::CopyStream &stream = stream_of(one.from, one.to);
            if (one.after != GYRASE_GPU_NONE) stream.follow(*ends[one.after]);
            if (one.bytes > 0) stream.copy(one.target, one.source, one.bytes);
            if (!is_awaited[at]) continue;
            ends[at] = &event_of(one.from, recorded[one.from]++);
            stream.record(*ends[at]);
        }
    }

    backend::CopyStream &stream_of(uint32_t from, uint32_t to) {
        const auto found = streams.find({from, to});
        if (found != streams.end()) return found->second;
        const auto made = streams.emplace(std::piecewise_construct, std::forward_as_tuple(from, to),
                                          std::forward_as_tuple(numbers[from], numbers[to]));
        return made.first->second;
    }

    backend::Event &event_of(uint32_t device, uint32_t number) {
        auto &made = events[device];
        if (number == made.size())
            made.push_back(std::make_unique<backend::Event>(numbers[device]));
        return *made[number];
    }

    const std::vector<int> numbers;
    std::map<std::pair<uint32_t, uint32_t>, backend::CopyStream> streams;
    // Of each device, for one move after the other.
    std::vector<std::vector<std::unique_ptr<backend::Event>>> events;
};

// A group whose devices have a buffer each.
class BufferGroup {
  public:
    BufferGroup(const int32_t *numbers, const uint64_t *bytes, uint32_t count)
        : group(numbers, count) {
        for (uint32_t device = 0; device < group.size(); ++device) {
            group.use(device);
            Budget budget(bytes[device]);
            buffers.push_back(std::make_unique<Held>());
            buffers.back()->bytes.reserve(bytes[device], budget);
        }
    }

    void put(uint32_t device, uint64_t at, const uint8_t *from, uint64_t bytes) {
        group.use(device);
        buffers[device]->stream.copy_in(place(device, at), from, bytes);
        buffers[device]->stream.wait();
    }

    void get(uint32_t device, uint64_t at, uint8_t *to, uint64_t bytes) {
        group.use(device);
        buffers[device]->stream.copy_out(to, place(device, at), bytes);
        buffers[device]->stream.wait();
    }

    void move(const gyrase_gpu_transfer *given, uint32_t count) {
        std::vector<Transfer> transfers;
        for (const gyrase_gpu_transfer *one = given; one < given + count; ++one)
            transfers.push_back({one->from, one->to, place(one->from, one->from_byte),
                                 place(one->to, one->to_byte), one->bytes, one->after});
        group.move(transfers);
    }

  private:
    struct Held {
        backend::Buffer<uint8_t> bytes;
        backend::Stream stream;
    };

    uint8_t *place(uint32_t device, uint64_t at) const {
        return buffers[device]->bytes.data() + at;
    }

    DeviceGroup group;
    std::vector<std::unique_ptr<Held>> buffers;
};
