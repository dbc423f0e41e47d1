#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::memory {

// What the environment says, read while the library is loaded and never again: rows are made inside
// of malloc(), where a program may be about to build its environment anew (bash does).
void read_environment();
// SONDE_MAX_SIZE in bytes; 0 where there is no limit.
std::uint64_t size_limit();

// Looks for the recorder in this process. Once, when nothing is going on yet.
void find_recorder();

// The path of this process's recording: the recorder's, or where the program has none, that of a
// file with a header alone, which is made for the tables to lie beside. False where the process is
// not recorded (no SONDE_RUN_DIR) or no file can be made.
bool recording_of_program(char* path, std::size_t size);

// The end of a recording that was made here.
void end_recording(const char* path);

}  // namespace sonde::memory
