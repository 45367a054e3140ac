// Suffix arrays on a GPU: libgyrase_gpu.so and libcubwt 1.0.0 in turns on one text, transfers
// included, the array equal. libcubwt's is asked for by its name; CUDA 13 wants two names of CUB
// that it no longer has.
//
//   cat > names.h <<< '#include <cuda/functional>
//   namespace cub { using Sum = cuda::std::plus<>; using Max = cuda::maximum<>; }'
//   nvcc -O3 -std=c++17 -arch=native -include names.h -I LIBCUBWT -o libcubwt bench/libcubwt.cu
//       LIBCUBWT/libcubwt.cu -ldl
//   ./libcubwt libgyrase_gpu.so TEXT ROUNDS
//
// TEXT has the letters A, C, G and T alone. It prints a line for each round: milliseconds of both,
// with memory that is pinned and was touched before; gyrase makes and frees its memory of the GPU
// in this time, libcubwt has it.
#include "../crates/gpu/device/abi.h"
#include "libcubwt.cuh"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using Suffixes = decltype(&gyrase_gpu_suffixes);

template <class Call>
double milliseconds(Call call) {
    const auto start = std::chrono::steady_clock::now();
    if (call() != 0) {
        std::fprintf(stderr, "the GPU failed\n");
        std::exit(1);
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return took.count();
}

template <class T>
T *pinned(uint64_t count) {
    void *memory = nullptr;
    if (cudaMallocHost(&memory, count * sizeof(T)) != cudaSuccess) std::exit(1);
    return static_cast<T *>(memory);
}

std::string read(const char *path) {
    std::string text;
    std::FILE *file = std::fopen(path, "rb");
    if (file == nullptr) std::exit(1);
    char block[1 << 16];
    while (const size_t count = std::fread(block, 1, sizeof block, file)) text.append(block, count);
    std::fclose(file);
    return text;
}

int main(int count, char **words) {
    if (count != 4) {
        std::fprintf(stderr, "libcubwt LIBRARY TEXT ROUNDS\n");
        return 2;
    }
    void *library = dlopen(words[1], RTLD_NOW);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const auto suffixes = reinterpret_cast<Suffixes>(dlsym(library, "gyrase_gpu_suffixes"));
    const std::string text = read(words[2]);
    const uint64_t length = text.size();
    uint8_t *letters = pinned<uint8_t>(length), *codes = pinned<uint8_t>(length + 1);
    uint32_t *theirs = pinned<uint32_t>(length), *ours = pinned<uint32_t>(length + 1);
    std::memcpy(letters, text.data(), length);
    for (uint64_t at = 0; at < length; ++at)
        codes[at] = uint8_t(std::string("\0ACGT", 5).find(text[at]));
    codes[length] = 0;
    gyrase_gpu_text given = {};
    given.letters = codes;
    given.length = length + 1;
    given.codes = 5;
    void *storage = nullptr;
    if (libcubwt_allocate_device_storage(&storage, int64_t(length)) != 0) return 1;
    std::printf("letters\tlibcubwt_ms\tgyrase_ms\tequal\n");
    for (int round = 0; round < std::atoi(words[3]); ++round) {
        const double first = milliseconds(
            [&] { return libcubwt_sa(storage, letters, theirs, int64_t(length)); });
        const double second =
            milliseconds([&] { return suffixes(0, &given, UINT64_MAX, ours, nullptr); });
        // The sentinel is a suffix of ours, and the first.
        const bool equal = std::memcmp(theirs, ours + 1, length * sizeof(uint32_t)) == 0;
        std::printf("%llu\t%.1f\t%.1f\t%s\n", static_cast<unsigned long long>(length), first,
                    second, equal ? "yes" : "no");
        if (!equal) return 1;
    }
    return 0;
}
