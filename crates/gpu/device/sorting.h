// Words in their order.
#pragma once

#include <algorithm>

#include "numbers.h"

// Sorts words, with buffers that stay for the next.
class WordSort {
  public:
    WordSort(uint64_t bytes, uint64_t host_bytes) : budget(bytes), host(host_bytes) {}

    // By their lowest bits; what fails leaves them as they are.
    void run(uint64_t *to, uint64_t count, uint32_t bits) {
        if (count > UINT32_MAX) throw Declined();
        if (count < 2) return;
        // Sets of words are nearly alike: with a little more, most need nothing new.
        const uint64_t more = count + count / 8;
        host_words.reserve(more, host);
        words.reserve(more, budget);
        others.reserve(more, budget);
        std::copy(to, to + count, host_words.data());
        stream.copy_in(words.data(), host_words.data(), count);
        const uint64_t *sorted =
            stream.sort(words.data(), others.data(), uint32_t(count), 0, bits, budget);
        stream.copy_out(host_words.data(), sorted, count);
        stream.wait();
        std::copy(host_words.data(), host_words.data() + count, to);
    }

  private:
    Budget budget, host;
    backend::Pinned<uint64_t> host_words;
    backend::Buffer<uint64_t> words, others;
    // The last to go is the first to be waited for.
    backend::Stream stream;
};
