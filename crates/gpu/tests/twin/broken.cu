// The host twin of a device that breaks: it fails when it is asked for rows or to look up once more
// than it bears, and when it is to sketch or to read as the environment says.
#define gyrase_gpu_rows rows_of_counter
#define gyrase_gpu_sketch sketch_of_sketcher
#define gyrase_gpu_read read_of_reader
#define gyrase_gpu_submit submit_to_pipeline
#include "gyrase_gpu.cu"
#undef gyrase_gpu_rows
#undef gyrase_gpu_sketch
#undef gyrase_gpu_read
#undef gyrase_gpu_submit

#include <atomic>

namespace {

std::atomic<int> bears_rows{7}, bears_sketches{1}, bears_reads{5}, bears_batches{15};

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

GYRASE_EXPORT int32_t gyrase_gpu_read(void *reader, uint64_t first, uint32_t count,
                                      const uint64_t **to) {
    if (breaks("reads") && bears_reads-- <= 0) return break_down();
    return read_of_reader(reader, first, count, to);
}

GYRASE_EXPORT int32_t gyrase_gpu_submit(void *pipeline, const gyrase_gpu_batch *batch) {
    const bool bears = bears_batches-- > 0;
    return bears ? submit_to_pipeline(pipeline, batch) : break_down();
}
