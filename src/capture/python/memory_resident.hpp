#pragma once

#include <cstdint>

namespace sonde::python {

// The bytes of this process that are in memory now, from a file that is kept open; 0 where the
// system does not tell.
std::int64_t resident_bytes();
// In a forked child: the open file is the parent's.
void forget_resident_file();

}  // namespace sonde::python
