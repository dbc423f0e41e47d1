#pragma once

#include <cstdint>

// Threads that call everything that the API offers, in an order that a seed decides, and say what a
// reader should find. Writes to standard output, for each thread a line "thread NAME" and then what
// it recorded, in the order of the records:
//
//   LEVEL TAB KIND TAB fields...
//
// LEVEL tells who can find it: F the file, T the trace, B both. tests/recorder/statements.hpp reads
// it.
int run_random_program(std::uint64_t seed, std::uint64_t count);
