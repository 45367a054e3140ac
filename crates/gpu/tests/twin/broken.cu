// The host twin of a device that breaks: it fails when rows are asked for once more than it bears.
#define gyrase_gpu_rows rows_of_counter
#include "gyrase_gpu.cu"
#undef gyrase_gpu_rows

#include <atomic>

GYRASE_EXPORT int32_t gyrase_gpu_rows(void *counter, uint64_t first, uint64_t count,
                                      uint64_t *keys, uint32_t *counts) {
    static std::atomic<int> bears{7};
    if (bears-- > 0) return rows_of_counter(counter, first, count, keys, counts);
    error = "it broke";
    return GYRASE_GPU_FAILED;
}
