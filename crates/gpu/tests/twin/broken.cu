// The host twin of a device that breaks: it fails when it is asked for rows or to look up once more
// than it bears, and when it is to sketch, sort or list as the environment says.
#define gyrase_gpu_rows rows_of_counter
#define gyrase_gpu_sketch sketch_of_sketcher
#define gyrase_gpu_sort sort_of_records
#define gyrase_gpu_list list_of_lister
#define gyrase_gpu_submit submit_to_pipeline
#include "gyrase_gpu.cu"
#undef gyrase_gpu_rows
#undef gyrase_gpu_sketch
#undef gyrase_gpu_sort
#undef gyrase_gpu_list
#undef gyrase_gpu_submit

#include <atomic>

namespace {

std::atomic<int> bears_rows{7}, bears_sketches{1}, bears_lists{5}, bears_batches{15};

int32_t break_down() {
    error = "it broke";
    return GYRASE_GPU_FAILED;
}

// Whether it breaks when it is asked for that too often.
bool breaks(const char *what) {
    const char *named = std::getenv("BEARS_NO_MORE");
    return named != nullptr && std::string(named) == what;
}

}  // namespace

GYRASE_EXPORT int32_t gyrase_gpu_rows(void *counter, uint64_t first, uint64_t count,
                                      uint64_t *keys, uint32_t *counts) {
    const bool bears = bears_rows-- > 0;
    return bears ? rows_of_counter(counter, first, count, keys, counts) : break_down();
}

GYRASE_EXPORT int32_t gyrase_gpu_sketch(void *sketcher, const gyrase_gpu_sequence *sequences,
                                        uint32_t count, uint32_t first_window) {
    if (breaks("sketches") && bears_sketches-- <= 0) return break_down();
    return sketch_of_sketcher(sketcher, sequences, count, first_window);
}

GYRASE_EXPORT int32_t gyrase_gpu_sort(void *records, const uint32_t *came, const uint32_t *numbers,
                                      uint32_t batches, uint32_t *begins,
                                      uint32_t *end_partition) {
    if (breaks("sorts")) return break_down();
    return sort_of_records(records, came, numbers, batches, begins, end_partition);
}

GYRASE_EXPORT int32_t gyrase_gpu_list(void *lister, uint32_t partition, uint64_t first,
                                      uint32_t count, gyrase_gpu_lists *to) {
    if (breaks("lists") && bears_lists-- <= 0) return break_down();
    return list_of_lister(lister, partition, first, count, to);
}

GYRASE_EXPORT int32_t gyrase_gpu_submit(void *pipeline, const gyrase_gpu_batch *batch) {
    const bool bears = bears_batches-- > 0;
    return bears ? submit_to_pipeline(pipeline, batch) : break_down();
}
