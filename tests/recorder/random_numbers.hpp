#pragma once

#include <cstdint>

// The same numbers for the same seed, wherever it runs.
struct Random {
  std::uint64_t state;
  std::uint64_t operator()(std::uint64_t below) { return (*this)() % below; }
  std::uint64_t operator()() {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t bits = (state ^ state >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
  }
};
