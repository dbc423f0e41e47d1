#pragma once

#include <cstdint>

// What the fake libcupti offers to the fake driver and to tests besides CUPTI's own functions: it
// writes records of the real layout into the buffers of whoever is registered. Times are those of
// the registered clock.
extern "C" {
// The time of the registered clock, as CUPTI would ask for it.
std::uint64_t fake_now();
// A correlation number that was not used yet.
std::uint32_t fake_correlation();
// domain: 1 driver, 2 runtime.
void fake_call(std::uint32_t domain, std::uint32_t function, std::uint64_t start, std::uint64_t end,
               std::uint32_t correlation);
void fake_kernel(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t stream,
                 std::uint32_t correlation, std::uint32_t graph, std::uint64_t node);
void fake_copy(std::uint8_t kind, std::uint8_t source, std::uint8_t target, std::uint64_t bytes,
               std::uint64_t start, std::uint64_t end, std::uint32_t stream,
               std::uint32_t correlation);
void fake_set(std::uint64_t bytes, std::uint64_t start, std::uint64_t end, std::uint32_t stream,
              std::uint32_t correlation);
void fake_sync(std::uint32_t type, std::uint64_t start, std::uint64_t end, std::uint32_t stream,
               std::uint32_t correlation);
void fake_overhead(std::uint32_t kind, std::uint64_t start, std::uint64_t end);
void fake_memory(std::uint32_t operation, std::uint64_t address, std::uint64_t bytes,
                 std::uint64_t time, std::uint32_t correlation);
void fake_unknown(std::uint32_t kind);
void fake_drop(std::uint64_t records);
// Another tool takes CUPTI over, and leaves it again.
void fake_take_over(const char* tool);
void fake_release();
}
