#pragma once

#include "analysis/function_profile.hpp"
#include "analysis/hot_stacks.hpp"
#include "check_trace.hpp"

namespace sonde::fuzz {

inline void check_call_profile(const Trace& trace) {
  const CallProfile& profile = trace.call_profile();
  const std::size_t types = profile.types.size();
  const std::size_t strings = trace.strings().size();
  const auto text_known = [&](StringId id) { return !id.valid() || id.index() < strings; };
  SONDE_FUZZ_CHECK(profile.function_self.size() == profile.functions.size() * types);
  SONDE_FUZZ_CHECK(profile.function_total.size() == profile.functions.size() * types);
  SONDE_FUZZ_CHECK(profile.call_self.size() == profile.calls.size() * types);
  SONDE_FUZZ_CHECK(profile.call_total.size() == profile.calls.size() * types);
  SONDE_FUZZ_CHECK(profile.line_self.size() == profile.lines.size() * types);
  for (const CallProfile::Function& function : profile.functions) {
    SONDE_FUZZ_CHECK(text_known(function.name) && text_known(function.file) &&
                     text_known(function.module) && function.line >= 0);
  }
  for (const CallProfile::Call& call : profile.calls) {
    SONDE_FUZZ_CHECK(call.caller.index() < profile.functions.size() &&
                     call.callee.index() < profile.functions.size());
  }
  for (const CallProfile::Line& line : profile.lines) {
    SONDE_FUZZ_CHECK(line.function.index() < profile.functions.size() && text_known(line.file));
  }
  for (const Sample& sample : trace.samples()) {
    SONDE_FUZZ_CHECK(sample.type < std::max<std::size_t>(1, trace.sample_types().size()));
  }
}

// Reads the bytes without the decoders (a mutated magic number would only ever reach those), checks
// the trace, and asks it for its functions.
inline void import_profile_and_check(std::string_view bytes,
                                     Result<Trace> (*importer)(const ImportInput&)) {
  const std::unique_ptr<ByteSource> source = make_plain_source(make_memory_reader(bytes), {});
  LoadOptions options;
  options.threads = 1;
  Result<Trace> trace = importer({*source, bytes.size(), "fuzz", options});
  if (!trace) {
    SONDE_FUZZ_CHECK(!trace.error().text().empty());
    return;
  }
  check_trace(*trace);
  check_call_profile(*trace);
  TraceSet set;
  set.push_back({".", "fuzz", "fuzz", std::move(*trace)});
  const FunctionProfile profile = function_profile(set);
  SONDE_FUZZ_CHECK(profile.self.size() == profile.functions.size() * profile.costs.size());
  const HotStacks stacks = hot_stacks(set);
  SONDE_FUZZ_CHECK(stacks.whole.size() == stacks.costs.size());
}

}  // namespace sonde::fuzz
