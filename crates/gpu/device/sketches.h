// The windows of a batch, and their features.
#pragma once

#include <algorithm>

#include "numbers.h"
#include "steps.cuh"

// Letters and slots of a batch, at most: so many features have fewer than 2^32 locations.
constexpr uint64_t MOST_SLOTS = 1 << 24;

// Features of a window, at most.
inline uint32_t room_of(const gyrase_gpu_shape &shape) {
    if (shape.window > MOST_LETTERS) throw Failure("its windows are too long for a GPU");
    const uint32_t room = shape.window - shape.k + 1;
    return shape.smallest > 0 ? std::min(room, shape.smallest) : room;
}

// What a batch of sequences is sketched with: buffers that stay for the next.
class WindowSketches {
  public:
    explicit WindowSketches(const gyrase_gpu_shape &shape) : shape(shape), room(room_of(shape)) {}

    // Makes room for the windows of sequences.
    void reserve(const gyrase_gpu_sequence *sequences, uint32_t count, Budget &budget,
                 Budget &host) {
        uint64_t all_letters = 0, all_windows = 0;
        for (uint32_t at = 0; at < count; ++at) {
            all_letters += sequences[at].length;
            all_windows += sequences[at].windows;
        }
        if (all_letters > MOST_SLOTS || all_windows * room > MOST_SLOTS) throw Declined();
        letter_count = uint32_t(all_letters);
        window_count = uint32_t(all_windows);
        const uint64_t slot_count = std::max<uint64_t>(all_windows * room, 1);
        // Batches are nearly alike: with a little more, most need nothing new.
        const uint64_t more_letters = letter_count + letter_count / 8 + 1;
        const uint64_t more_windows = window_count + window_count / 8 + 2;
        host_letters.reserve(more_letters, host);
        host_windows.reserve(more_windows, host);
        letters.reserve(more_letters, budget);
        windows.reserve(more_windows, budget);
        slots.reserve(slot_count + slot_count / 8, budget);
        features_before.reserve(more_windows, budget);
    }

    void copy_in(const gyrase_gpu_sequence *sequences, uint32_t count, backend::Stream &stream) {
        uint32_t letter = 0, window = 0;
        for (uint32_t at = 0; at < count; ++at) {
            const gyrase_gpu_sequence &sequence = sequences[at];
            std::copy(sequence.letters, sequence.letters + sequence.length,
                      host_letters.data() + letter);
            for (uint32_t number = 0; number < sequence.windows; ++number) {
                const uint32_t start = number * shape.stride;
                const uint32_t length = std::min(shape.window, sequence.length - start);
                host_windows.data()[window++] = {letter + start, length, sequence.read};
            }
            letter += sequence.length;
        }
        stream.copy_in(letters.data(), host_letters.data(), letter_count);
        stream.copy_in(windows.data(), host_windows.data(), window_count);
    }

    // The features of each window in its slots, and how many they are.
    void sketch(backend::Stream &stream) {
        stream.launch(SketchWindows{letters.data(), windows.data(), shape, room, slots.data(),
                                    features_before.data()},
                      window_count);
    }

    // How many features the windows before each have, instead, and at last how many all have.
    void sum(backend::Stream &stream, Budget &budget) {
        // One more, so that the last sum is that of all.
        stream.zero(features_before.data() + window_count, 1);
        stream.sums_before(features_before.data(), window_count + 1, budget);
    }

    const gyrase_gpu_shape shape;
    const uint32_t room;
    uint32_t letter_count = 0, window_count = 0;
    backend::Buffer<uint8_t> letters;
    backend::Buffer<Window> windows;
    backend::Buffer<uint32_t> slots, features_before;

  private:
    backend::Pinned<uint8_t> host_letters;
    backend::Pinned<Window> host_windows;
};
