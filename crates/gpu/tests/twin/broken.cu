// The host twin of a device that breaks: it fails when it is asked for rows, sketches or reads once
// more than it bears.
#define gyrase_gpu_rows rows_of_counter
#define gyrase_gpu_sketch sketch_of_sketcher
#define gyrase_gpu_submit submit_to_pipeline
#include "gyrase_gpu.cu"
#undef gyrase_gpu_rows
#undef gyrase_gpu_sketch
#undef gyrase_gpu_submit

#include <atomic>

namespace {

std::atomic<int> bears_rows{7}, bears_sketches{1}, bears_batches{15};

int32_t break_down() {
    error = "it broke";
    return GYRASE_GPU_FAILED;
}

}  // namespace

GYRASE_EXPORT int32_t gyrase_gpu_rows(void *counter, uint64_t first, uint64_t count,
                                      uint64_t *keys, uint32_t *counts) {
    const bool bears = bears_rows-- > 0;
    return bears ? rows_of_counter(counter, first, count, keys, counts) : break_down();
}

GYRASE_EXPORT int32_t gyrase_gpu_sketch(void *sketcher, const gyrase_gpu_sequence *sequences,
                                        uint32_t count, gyrase_gpu_sketches *to) {
    const bool bears = bears_sketches-- > 0;
    return bears ? sketch_of_sketcher(sketcher, sequences, count, to) : break_down();
}

GYRASE_EXPORT int32_t gyrase_gpu_submit(void *pipeline, const gyrase_gpu_batch *batch) {
    const bool bears = bears_batches-- > 0;
    return bears ? submit_to_pipeline(pipeline, batch) : break_down();
}
