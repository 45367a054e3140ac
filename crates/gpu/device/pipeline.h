// A pipeline: what one batch at a time goes through, with buffers that stay for the next.
#pragma once

#include <algorithm>
#include <vector>

#include "record_steps.cuh"
#include "sketches.h"
#include "targets.h"

// Windows of a region, at most: hits name them in 16 bits.
constexpr uint32_t MOST_SPAN = 1 << 16;

// Slices of databases on a device. Pipelines share them.
class Index {
  public:
    Index(int device, const gyrase_gpu_database &database)
        : device(device),
          shape(database.shape),
          window_bits(bits_of(database.all_windows)),
          slice_count(uint32_t(database.slice_count)),
          budget(UINT64_MAX) {
        std::vector<gyrase_gpu_partition> all_partitions;
        std::vector<uint32_t> of_slices;
        put_slices(database, all_partitions, of_slices);
        table.bring(database.first_windows, database.targets, database.all_windows, stream, budget);
    }

    Targets targets() const { return table.get(); }
    Slices slices() const {
        return {words.data(), partitions.data(), slice_windows.data(), slice_count};
    }

    const int device;
    const gyrase_gpu_shape shape;
    // Bits that a window of the references has.
    const uint32_t window_bits;
    const uint32_t slice_count;

  private:
    // Brings the words of all slices one behind the other. What is copied from `all` and
    // `of_slices` stays there until the stream is waited for.
    void put_slices(const gyrase_gpu_database &database, std::vector<gyrase_gpu_partition> &all,
                    std::vector<uint32_t> &of_slices) {
        const gyrase_gpu_slice *const end = database.slices + slice_count;
        uint64_t word_count = 0;
        for (const gyrase_gpu_slice *slice = database.slices; slice < end; ++slice) {
            for (uint32_t at = 0; at < PARTITIONS; ++at) {
                gyrase_gpu_partition partition = slice->partitions[at];
                partition.start += word_count;
                all.push_back(partition);
            }
            of_slices.push_back(slice->first_window);
            word_count += slice->word_count;
        }
        words.reserve(std::max<uint64_t>(word_count, 1), budget);
        uint32_t *to = words.data();
        for (const gyrase_gpu_slice *slice = database.slices; slice < end; ++slice) {
            stream.copy_in(to, slice->words, slice->word_count);
            to += slice->word_count;
        }
        put(partitions, all.data(), all.size());
        put(slice_windows, of_slices.data(), of_slices.size());
    }

    template <class T>
    void put(backend::Buffer<T> &buffer, const T *from, uint64_t count) {
        buffer.reserve(std::max<uint64_t>(count, 1), budget);
        stream.copy_in(buffer.data(), from, count);
    }

    backend::Buffer<uint32_t> words, slice_windows;
    backend::Buffer<gyrase_gpu_partition> partitions;
    TargetTable table;
    Budget budget;
    backend::Stream stream;
};

class Pipeline {
  public:
    Pipeline(Index &index, uint64_t bytes, uint64_t host_bytes)
        : index(index), budget(bytes), host(host_bytes), sketches(index.shape) {
        totals.reserve(3, host);
        status.reserve(1, budget);
    }

    // Copies a batch, and sends it as far as the size of what follows is not needed.
    void submit(const gyrase_gpu_batch &batch) {
        measure(batch);
        sketches.reserve(batch.sequences, batch.sequence_count, budget, host);
        reserve_windows();
        copy_in(batch);
        stream.zero(status.data(), 1);
        sketches.sketch(stream);
        const uint32_t window_count = sketches.window_count;
        const uint32_t *features_before = sketches.features_before.data();
        stream.launch(LookUpWindows{index.slices(), sketches.slots.data(), features_before,
                                    sketches.room, firsts.data(), lists.data(),
                                    hits_before.data(), status.data()},
                      window_count);
        sketches.sum(stream, budget);
        // One more, so that the last sum is that of all.
        stream.zero(hits_before.data() + window_count, 1);
        stream.sums_before(hits_before.data(), window_count + 1, budget);
        stream.launch(BeginReads{read_windows.data(), features_before, hits_before.data(), reads,
                                 feature_begins.data(), hit_begins.data()},
                      tasks_of(reads + 1));
        stream.copy_out(totals.data(), features_before + window_count, 1);
        stream.copy_out(totals.data() + 1, hits_before.data() + window_count, 1);
        stream.copy_out(totals.data() + 2, status.data(), 1);
    }

    // Waits for what was submitted, takes it on to the end, and says where the answers are.
    gyrase_gpu_answers collect() {
        stream.wait();
        heed(totals.data()[2]);
        feature_count = totals.data()[0];
        hit_count = totals.data()[1];
        reserve_hits();
        stream.launch(ListHits{index.slices(), sketches.windows.data(), sketches.slots.data(),
                               firsts.data(), lists.data(), sketches.room,
                               sketches.features_before.data(), hits_before.data(),
                               feature_begins.data(), bits, features.data(), hits.data(),
                               status.data()},
                      sketches.window_count);
        return with_regions ? regions_out() : hits_out();
    }

  private:
    void measure(const gyrase_gpu_batch &batch) {
        with_regions = batch.spans != nullptr;
        const auto too_long = [](uint32_t span) { return span > MOST_SPAN; };
        if (with_regions && std::any_of(batch.spans, batch.spans + batch.reads, too_long))
            throw Declined();
        bits = {index.window_bits, bits_of(batch.reads)};
        if (!fits(bits)) throw Declined();
        reads = batch.reads;
    }

    void reserve_windows() {
        const uint64_t windows = sketches.window_count;
        const uint64_t slots = std::max<uint64_t>(windows * sketches.room * index.slice_count, 1);
        if (slots > MOST_SLOTS) throw Declined();
        const uint64_t more_windows = windows + windows / 8 + 2;
        const uint64_t more_reads = reads + reads / 8 + 2;
        host_read_windows.reserve(more_reads, host);
        read_windows.reserve(more_reads, budget);
        firsts.reserve(slots + slots / 8, budget);
        lists.reserve(slots + slots / 8, budget);
        hits_before.reserve(more_windows, budget);
        feature_begins.reserve(more_reads, budget);
        hit_begins.reserve(more_reads, budget);
        host_feature_begins.reserve(more_reads, host);
        if (!with_regions) {
            host_hit_begins.reserve(more_reads, host);
            return;
        }
        host_spans.reserve(more_reads, host);
        spans.reserve(more_reads, budget);
        region_begins.reserve(more_reads, budget);
        host_region_begins.reserve(more_reads, host);
    }

    void copy_in(const gyrase_gpu_batch &batch) {
        sketches.copy_in(batch.sequences, batch.sequence_count, stream);
        uint32_t window = 0, read = 0;
        for (uint32_t at = 0; at < batch.sequence_count; ++at) {
            while (read <= batch.sequences[at].read) host_read_windows.data()[read++] = window;
            window += batch.sequences[at].windows;
        }
        while (read <= reads) host_read_windows.data()[read++] = window;
        stream.copy_in(read_windows.data(), host_read_windows.data(), reads + 1);
        if (!with_regions) return;
        std::copy(batch.spans, batch.spans + reads, host_spans.data());
        stream.copy_in(spans.data(), host_spans.data(), reads);
    }

    void heed(uint32_t status) {
        if (status & STATUS_DAMAGED) throw Damaged();
        if (status & STATUS_TOO_LONG) throw Declined();
    }

    void reserve_hits() {
        const uint64_t more_features = feature_count + feature_count / 8 + 1;
        const uint64_t more_hits = uint64_t(hit_count) + hit_count / 8 + 1;
        features.reserve(more_features, budget);
        host_features.reserve(more_features, host);
        hits.reserve(more_hits, budget);
        other_hits.reserve(more_hits, budget);
        if (!with_regions) {
            host_hits.reserve(more_hits, host);
            return;
        }
        numbers.reserve(more_hits, budget);
        shares.reserve(more_hits, budget);
        best.reserve(more_hits, budget);
        regions.reserve(more_hits, budget);
        region_hits.reserve(more_hits, budget);
        packed.reserve(more_hits, budget);
    }

    // Brings the hits of each read together, by windows and within a window by features.
    uint64_t *sort_hits() {
        const uint32_t end = FEATURE_BITS + bits.window + bits.read;
        return stream.sort(hits.data(), other_hits.data(), hit_count, FEATURE_BITS, end, budget);
    }

    void find_regions() {
        const SortedHits all = {sort_hits(), hit_count, bits};
        const Targets targets = index.targets();
        const uint32_t tasks = tasks_of(hit_count);
        stream.launch(MarkRegions{all, targets, numbers.data()}, tasks);
        stream.sums_with(numbers.data(), hit_count, budget);
        stream.launch(BeginRegions{all, targets, numbers.data(), spans.data(), hit_begins.data(),
                                   reads, shares.data(), region_begins.data()},
                      tasks_of(std::max<uint64_t>(hit_count, reads + 1)));
        stream.zero(best.data(), hit_count);
        stream.zero(region_hits.data(), hit_count + 1);
        stream.launch(FindBest{all, numbers.data(), shares.data(), best.data()}, tasks);
        stream.launch(EndRegions{all, numbers.data(), shares.data(), best.data(), regions.data(),
                                 region_hits.data()},
                      tasks);
        // One more, so that the last sum is that of all; behind the last region there are none.
        stream.sums_before(region_hits.data(), hit_count + 1, budget);
        stream.launch(PackHits{all, numbers.data(), best.data(), regions.data(), region_hits.data(),
                               packed.data()},
                      tasks);
    }

    // Sends what regions and all hits have in common on its way back.
    void features_out() {
        stream.copy_out(totals.data() + 2, status.data(), 1);
        stream.copy_out(host_features.data(), features.data(), feature_count);
        stream.copy_out(host_feature_begins.data(), feature_begins.data(), reads + 1);
    }

    gyrase_gpu_answers answers() const {
        gyrase_gpu_answers answers = {};
        answers.features = host_features.data();
        answers.feature_begins = host_feature_begins.data();
        answers.feature_count = feature_count;
        return answers;
    }

    gyrase_gpu_answers hits_out() {
        if (hit_count > 0) {
            uint64_t *const sorted = sort_hits();
            stream.launch(ShowHits{bits, hit_count, sorted}, tasks_of(hit_count));
            stream.copy_out(host_hits.data(), sorted, hit_count);
        }
        stream.copy_out(host_hit_begins.data(), hit_begins.data(), reads + 1);
        features_out();
        stream.wait();
        heed(totals.data()[2]);
        gyrase_gpu_answers all = answers();
        all.all_hits = host_hits.data();
        all.hit_begins = host_hit_begins.data();
        all.all_hit_count = hit_count;
        return all;
    }

    gyrase_gpu_answers regions_out() {
        stream.zero(region_begins.data(), reads + 1);
        totals.data()[0] = totals.data()[1] = 0;
        if (hit_count > 0) {
            find_regions();
            stream.copy_out(totals.data(), numbers.data() + hit_count - 1, 1);
            stream.copy_out(totals.data() + 1, region_hits.data() + hit_count, 1);
        }
        stream.copy_out(host_region_begins.data(), region_begins.data(), reads + 1);
        features_out();
        stream.wait();
        heed(totals.data()[2]);
        const uint32_t region_count = totals.data()[0], packed_count = totals.data()[1];
        host_regions.reserve(region_count + region_count / 8 + 1, host);
        host_packed.reserve(packed_count + packed_count / 8 + 1, host);
        stream.copy_out(host_regions.data(), regions.data(), region_count);
        stream.copy_out(host_packed.data(), packed.data(), packed_count);
        stream.wait();
        gyrase_gpu_answers all = answers();
        all.regions = host_regions.data();
        all.hits = host_packed.data();
        all.region_begins = host_region_begins.data();
        all.region_count = region_count;
        all.hit_count = packed_count;
        return all;
    }

    Index &index;
    Budget budget, host;
    HitBits bits = {};
    bool with_regions = true;
    uint32_t reads = 0, feature_count = 0, hit_count = 0;
    WindowSketches sketches;

    backend::Pinned<uint32_t> host_read_windows, host_spans, totals, host_features;
    backend::Pinned<uint32_t> host_feature_begins, host_region_begins, host_hit_begins, host_packed;
    backend::Pinned<uint64_t> host_hits;
    backend::Pinned<gyrase_gpu_region> host_regions;

    backend::Buffer<uint8_t> lists;
    backend::Buffer<uint32_t> read_windows, spans, hits_before, feature_begins;
    backend::Buffer<uint32_t> hit_begins, region_begins, features, numbers, region_hits, packed,
        status;
    backend::Buffer<uint64_t> firsts, hits, other_hits, best;
    backend::Buffer<Share> shares;
    backend::Buffer<gyrase_gpu_region> regions;

    // The last to go is the first to be waited for.
    backend::Stream stream;
};
