// The functions of abi.h. A CUDA compiler makes the library of it, and a C++ compiler its host
// twin, with which everything but the device itself is tested.
#include "abi.h"
#ifdef __CUDACC__
#include "backend_cuda.cuh"
#else
#include "backend_host.h"
#endif
#include "counts.h"
#include "group.h"
#include "lists.h"
#include "pipeline.h"
#include "records.h"
#include "suffixes.h"
#include "suffixes_among.h"

#include <new>
#include <string>

#define GYRASE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

thread_local std::string error;

// Calls; what is thrown becomes a code.
template <class Call>
int32_t attempt(Call call) {
    try {
        call();
        return GYRASE_GPU_FINE;
    } catch (const Declined &) {
        error = "the memory of the GPU is too little";
        return GYRASE_GPU_DECLINED;
    } catch (const Damaged &) {
        error = "a bucket points outside of its partition";
        return GYRASE_GPU_DAMAGED;
    } catch (const std::bad_alloc &) {
        error = "there is no memory";
        return GYRASE_GPU_DECLINED;
    } catch (const std::exception &failure) {
        error = failure.what();
        return GYRASE_GPU_FAILED;
    }
}

struct OpenPipeline {
    OpenPipeline(Index &index, uint64_t bytes, uint64_t host_bytes)
        : device(index.device), pipeline(index, bytes, host_bytes) {}
    const int device;
    Pipeline pipeline;
};

struct OpenSketcher {
    OpenSketcher(Records &records, const gyrase_gpu_shape &shape, uint64_t bytes,
                 uint64_t host_bytes)
        : device(records.device), sketch(records, shape, bytes, host_bytes) {}
    const int device;
    BatchSketch sketch;
};

struct OpenReader {
    OpenReader(const Records &records, uint64_t host_bytes)
        : device(records.device), reader(records, host_bytes) {}
    const int device;
    RecordReader reader;
};

struct OpenLister {
    OpenLister(const Records &records, uint32_t taxa, uint32_t most, uint64_t bytes,
               uint64_t host_bytes)
        : device(records.device), lists(records, taxa, most, bytes, host_bytes) {}
    const int device;
    ListMaker lists;
};

struct OpenCounter {
    OpenCounter(int device, uint64_t bytes) : device(device), count(bytes) {}
    const int device;
    KmerCount count;
};

}  // namespace

GYRASE_EXPORT int32_t gyrase_gpu_version(void) { return GYRASE_GPU_VERSION; }

GYRASE_EXPORT const char *gyrase_gpu_error(void) { return error.c_str(); }

GYRASE_EXPORT int32_t gyrase_gpu_devices(void) {
    int count = -1;
    attempt([&] { count = backend::devices(); });
    return count;
}

GYRASE_EXPORT int32_t gyrase_gpu_describe(int32_t device, gyrase_gpu_device *to) {
    return attempt([&] {
        *to = {};
        backend::describe(device, *to);
    });
}

GYRASE_EXPORT void *gyrase_gpu_open(int32_t device, const gyrase_gpu_database *database) {
    Index *index = nullptr;
    attempt([&] {
        backend::use(device);
        index = new Index(device, *database);
    });
    return index;
}

GYRASE_EXPORT void gyrase_gpu_close(void *index) {
    attempt([&] {
        backend::use(static_cast<Index *>(index)->device);
        delete static_cast<Index *>(index);
    });
}

GYRASE_EXPORT void *gyrase_gpu_pipeline(void *index, uint64_t bytes, uint64_t host_bytes) {
    OpenPipeline *pipeline = nullptr;
    attempt([&] {
        backend::use(static_cast<Index *>(index)->device);
        pipeline = new OpenPipeline(*static_cast<Index *>(index), bytes, host_bytes);
    });
    return pipeline;
}

GYRASE_EXPORT void gyrase_gpu_pipeline_close(void *pipeline) {
    attempt([&] {
        backend::use(static_cast<OpenPipeline *>(pipeline)->device);
        delete static_cast<OpenPipeline *>(pipeline);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_submit(void *pipeline, const gyrase_gpu_batch *batch) {
    return attempt([&] {
        backend::use(static_cast<OpenPipeline *>(pipeline)->device);
        static_cast<OpenPipeline *>(pipeline)->pipeline.submit(*batch);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_collect(void *pipeline, gyrase_gpu_answers *to) {
    return attempt([&] {
        backend::use(static_cast<OpenPipeline *>(pipeline)->device);
        *to = static_cast<OpenPipeline *>(pipeline)->pipeline.collect();
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_suffixes(int32_t device, const gyrase_gpu_text *text,
                                          uint64_t bytes, uint32_t *positions, uint32_t *common) {
    return attempt([&] {
        backend::use(device);
        if (text->length > 0) SuffixSort(*text, bytes).run(positions, common);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_suffixes_among(const int32_t *numbers, const uint64_t *bytes,
                                                uint32_t count, const gyrase_gpu_routes *routes,
                                                const gyrase_gpu_text *text, uint32_t *positions,
                                                uint32_t *common) {
    return attempt([&] {
        if (text->length == 0) return;
        SuffixSortAmong(numbers, bytes, count, *routes, *text).run(positions, common);
    });
}

GYRASE_EXPORT void *gyrase_gpu_records(int32_t device, uint64_t bytes, uint32_t first_partition) {
    Records *records = nullptr;
    attempt([&] {
        backend::use(device);
        records = new Records(device, bytes, first_partition);
    });
    return records;
}

GYRASE_EXPORT void gyrase_gpu_records_close(void *records) {
    attempt([&] {
        backend::use(static_cast<Records *>(records)->device);
        delete static_cast<Records *>(records);
    });
}

GYRASE_EXPORT void *gyrase_gpu_sketcher(void *records, const gyrase_gpu_shape *shape,
                                        uint64_t bytes, uint64_t host_bytes) {
    OpenSketcher *sketcher = nullptr;
    attempt([&] {
        Records &to = *static_cast<Records *>(records);
        backend::use(to.device);
        sketcher = new OpenSketcher(to, *shape, bytes, host_bytes);
    });
    return sketcher;
}

GYRASE_EXPORT void gyrase_gpu_sketcher_close(void *sketcher) {
    attempt([&] {
        backend::use(static_cast<OpenSketcher *>(sketcher)->device);
        delete static_cast<OpenSketcher *>(sketcher);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_sketch(void *sketcher, const gyrase_gpu_sequence *sequences,
                                        uint32_t count, uint32_t first_window) {
    return attempt([&] {
        backend::use(static_cast<OpenSketcher *>(sketcher)->device);
        static_cast<OpenSketcher *>(sketcher)->sketch.run(sequences, count, first_window);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_sort(void *records, const uint32_t *came, const uint32_t *numbers,
                                      uint32_t batches, uint32_t *begins,
                                      uint32_t *end_partition) {
    return attempt([&] {
        Records &all = *static_cast<Records *>(records);
        backend::use(all.device);
        all.sort(came, numbers, batches, begins);
        *end_partition = all.end;
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_targets_of(void *records, const gyrase_gpu_targets *targets) {
    return attempt([&] {
        backend::use(static_cast<Records *>(records)->device);
        static_cast<Records *>(records)->bring_targets(*targets);
    });
}

GYRASE_EXPORT void *gyrase_gpu_lister(void *records, uint32_t taxa, uint32_t most, uint64_t bytes,
                                      uint64_t host_bytes) {
    OpenLister *lister = nullptr;
    attempt([&] {
        const Records &from = *static_cast<Records *>(records);
        backend::use(from.device);
        lister = new OpenLister(from, taxa, most, bytes, host_bytes);
    });
    return lister;
}

GYRASE_EXPORT void gyrase_gpu_lister_close(void *lister) {
    attempt([&] {
        backend::use(static_cast<OpenLister *>(lister)->device);
        delete static_cast<OpenLister *>(lister);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_list(void *lister, uint32_t partition, uint64_t first,
                                      uint32_t count, gyrase_gpu_lists *to) {
    return attempt([&] {
        backend::use(static_cast<OpenLister *>(lister)->device);
        *to = static_cast<OpenLister *>(lister)->lists.run(partition, first, count);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_distinct(void *lister, uint64_t *to) {
    return attempt([&] {
        backend::use(static_cast<OpenLister *>(lister)->device);
        static_cast<OpenLister *>(lister)->lists.tell(to);
    });
}

GYRASE_EXPORT void *gyrase_gpu_reader(void *records, uint64_t host_bytes) {
    OpenReader *reader = nullptr;
    attempt([&] {
        const Records &from = *static_cast<Records *>(records);
        backend::use(from.device);
        reader = new OpenReader(from, host_bytes);
    });
    return reader;
}

GYRASE_EXPORT void gyrase_gpu_reader_close(void *reader) {
    attempt([&] {
        backend::use(static_cast<OpenReader *>(reader)->device);
        delete static_cast<OpenReader *>(reader);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_read(void *reader, uint64_t first, uint32_t count,
                                      const uint64_t **to) {
    return attempt([&] {
        backend::use(static_cast<OpenReader *>(reader)->device);
        *to = static_cast<OpenReader *>(reader)->reader.read(first, count);
    });
}

GYRASE_EXPORT void *gyrase_gpu_counter(int32_t device, uint64_t bytes) {
    OpenCounter *counter = nullptr;
    attempt([&] {
        backend::use(device);
        counter = new OpenCounter(device, bytes);
    });
    return counter;
}

GYRASE_EXPORT void gyrase_gpu_counter_close(void *counter) {
    attempt([&] {
        backend::use(static_cast<OpenCounter *>(counter)->device);
        delete static_cast<OpenCounter *>(counter);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_count(void *counter, const gyrase_gpu_super_kmers *given,
                                       uint32_t *row_begins) {
    return attempt([&] {
        backend::use(static_cast<OpenCounter *>(counter)->device);
        static_cast<OpenCounter *>(counter)->count.count(*given, row_begins);
    });
}

GYRASE_EXPORT int32_t gyrase_gpu_rows(void *counter, uint64_t first, uint64_t count,
                                      uint64_t *keys, uint32_t *counts) {
    return attempt([&] {
        backend::use(static_cast<OpenCounter *>(counter)->device);
        static_cast<OpenCounter *>(counter)->count.rows(first, count, keys, counts);
    });
}

GYRASE_EXPORT void *gyrase_gpu_group(const int32_t *numbers, const uint64_t *bytes,
                                     uint32_t count) {
    BufferGroup *group = nullptr;
    attempt([&] { group = new BufferGroup(numbers, bytes, count); });
    return group;
}

GYRASE_EXPORT void gyrase_gpu_group_close(void *group) {
    attempt([&] { delete static_cast<BufferGroup *>(group); });
}

GYRASE_EXPORT int32_t gyrase_gpu_put(void *group, uint32_t device, uint64_t at, const uint8_t *from,
                                     uint64_t bytes) {
    return attempt([&] { static_cast<BufferGroup *>(group)->put(device, at, from, bytes); });
}

GYRASE_EXPORT int32_t gyrase_gpu_get(void *group, uint32_t device, uint64_t at, uint8_t *to,
                                     uint64_t bytes) {
    return attempt([&] { static_cast<BufferGroup *>(group)->get(device, at, to, bytes); });
}

GYRASE_EXPORT int32_t gyrase_gpu_exchange(void *group, const gyrase_gpu_transfer *transfers,
                                          uint32_t count) {
    return attempt([&] { static_cast<BufferGroup *>(group)->move(transfers, count); });
}
