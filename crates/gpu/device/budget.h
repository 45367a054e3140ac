// Bytes that a pipeline may take, and what is thrown where something does not go on.
#pragma once

#include <stdint.h>

#include <stdexcept>
#include <string>

// The batch is for somebody else.
struct Declined {};

// A bucket points outside of its partition.
struct Damaged {};

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Budget {
  public:
    explicit Budget(uint64_t bytes) : left(bytes) {}

    // Gives some bytes back and takes others.
    void exchange(uint64_t given, uint64_t taken) {
        if (taken > left + given) throw Declined();
        left = left + given - taken;
    }

  private:
    uint64_t left;
};
