#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "import/chrome/chrome.hpp"
#include "import/importer.hpp"
#include "import/input/byte_source.hpp"
#include "import/kineto/kineto.hpp"
#include "trace/builder.hpp"

namespace sonde::test {

// Reads a trace whose bytes stand in the test.
inline Result<Trace> try_import(std::string_view bytes,
                                Result<Trace> (*importer)(const ImportInput&) = import_kineto,
                                unsigned threads = 1) {
  Result<OpenedInput> input = open_raw(make_memory_reader(bytes));
  if (!input) return input.error();
  LoadOptions options;
  options.threads = threads;
  return importer({*input->source, bytes.size(), "test.json", options});
}

inline Trace import_or_fail(std::string_view bytes,
                            Result<Trace> (*importer)(const ImportInput&) = import_kineto,
                            unsigned threads = 1) {
  Result<Trace> trace = try_import(bytes, importer, threads);
  if (!trace) {
    ADD_FAILURE() << trace.error().text();
    return TraceBuilder().finish();
  }
  return std::move(*trace);
}

inline Trace kineto(std::string_view bytes) { return import_or_fail(bytes, import_kineto); }
inline Trace chrome(std::string_view bytes) { return import_or_fail(bytes, import_chrome); }

// A Kineto file with these events in it.
inline std::string kineto_text(std::string_view events) {
  return R"({"schemaVersion": 1, "traceEvents": [)" + std::string(events) + "]}";
}

// How often the ledger counted `name`; 0 where it has no such entry.
inline std::uint64_t losses(const Trace& trace, std::string_view name) {
  const LossLedger::Entry* entry = trace.losses().find(name);
  return entry == nullptr ? 0 : entry->count;
}

// The first slice of that name; invalid where there is none.
inline SliceId slice_named(const Trace& trace, std::string_view name) {
  for (const SliceId slice : all_slices(trace)) {
    if (trace.name(slice) == name) return slice;
  }
  return {};
}

inline std::vector<std::string> names(const Trace& trace) {
  std::vector<std::string> out;
  for (const SliceId slice : all_slices(trace)) out.emplace_back(trace.name(slice));
  return out;
}

}  // namespace sonde::test
