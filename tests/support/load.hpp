#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "import/loader.hpp"
#include "trace/builder.hpp"

namespace sonde::test {

// The trace of a file; an empty one, and a failure, where it cannot be read.
inline Trace load_or_fail(const std::string& path) {
  Result<Trace> trace = load_trace(path);
  if (trace) return std::move(*trace);
  ADD_FAILURE() << trace.error().text();
  return TraceBuilder().finish();
}

inline Trace test_data(const std::string& name) {
  return load_or_fail(std::string(SONDE_TEST_DATA) + "/" + name);
}

}  // namespace sonde::test
