#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "import/importer.hpp"
#include "import/input/byte_source.hpp"
#include "trace/trace.hpp"

namespace sonde::fuzz {

// Ends the run where a trace breaks its own promises.
#define SONDE_FUZZ_CHECK(condition)                                                  \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)

inline void check_links(const Links& links, std::size_t slices) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    SONDE_FUZZ_CHECK(links.from(i).index() < slices && links.to(i).index() < slices);
    SONDE_FUZZ_CHECK(links.source(links.to(i)) == links.from(i));
  }
}

inline void check_trace(const Trace& trace) {
  const SliceColumns& s = trace.slices();
  const std::size_t strings = trace.strings().size();
  const auto text_known = [&](StringId id) { return !id.valid() || id.index() < strings; };
  const auto track_known = [&](TrackId id) { return id.index() < trace.tracks().size(); };
  for (const SliceId slice : all_slices(trace)) {
    SONDE_FUZZ_CHECK(s.start(slice) >= 0 && s.duration(slice) >= 0);
    SONDE_FUZZ_CHECK(s.end(slice) >= s.start(slice) && s.end(slice) <= trace.span_end());
    SONDE_FUZZ_CHECK(s.name(slice).index() < strings && track_known(s.track(slice)));
    const SliceId parent = s.parent(slice);
    if (parent.valid()) {
      SONDE_FUZZ_CHECK(parent.index() < s.size() && parent != slice &&
                       s.track(parent) == s.track(slice));
      SONDE_FUZZ_CHECK(s.start(parent) <= s.start(slice) && s.end(parent) >= s.end(slice));
      SONDE_FUZZ_CHECK(s.depth(slice) == s.depth(parent) + 1);
    } else {
      SONDE_FUZZ_CHECK(s.depth(slice) == 0);
    }
    if (const OperatorRow* row = trace.operators().find(slice)) {
      const OperatorInputs& inputs = trace.inputs(row->inputs);
      SONDE_FUZZ_CHECK(text_known(row->stack) && text_known(row->module) &&
                       text_known(inputs.shapes));
    }
  }
  std::size_t on_tracks = 0;
  for (const Track& track : trace.tracks()) {
    SONDE_FUZZ_CHECK(text_known(track.name) && text_known(track.process) &&
                     text_known(track.labels));
    on_tracks += track.slices;
  }
  SONDE_FUZZ_CHECK(on_tracks == s.size());
  for (const auto* links : {&trace.launch_to_device(), &trace.operator_to_launch(),
                            &trace.forward_to_backward(), &trace.flows()}) {
    check_links(*links, s.size());
  }
  for (const Marker& marker : trace.markers())
    SONDE_FUZZ_CHECK(track_known(marker.track) && text_known(marker.name));
  for (const CounterValue& counter : trace.counters())
    SONDE_FUZZ_CHECK(track_known(counter.track) && counter.value == counter.value);
  for (const Allocation& allocation : trace.allocations())
    SONDE_FUZZ_CHECK(track_known(allocation.track) && allocation.time >= 0);
  for (const Sample& sample : trace.samples()) {
    SONDE_FUZZ_CHECK(track_known(sample.track) &&
                     (!sample.stack.valid() || sample.stack.index() < trace.stacks().size()));
  }
  for (std::size_t i = 0; i < trace.places().size(); ++i) {
    SONDE_FUZZ_CHECK(trace.places().key(i).index() < s.size() &&
                     trace.places().row(i).index() < trace.stacks().size());
  }
  for (std::size_t i = 0; i < trace.stacks().size(); ++i) {
    const StackId caller = trace.stacks()[i].caller;
    SONDE_FUZZ_CHECK(!caller.valid() || caller.index() < i);
  }
  for (const LossLedger::Entry& entry : trace.losses().entries())
    SONDE_FUZZ_CHECK(entry.count > 0 && !entry.sentence.empty());
}

// Reads the bytes with one importer, whatever they look like, and checks what comes out.
inline void import_and_check(std::string_view bytes,
                             Result<Trace> (*importer)(const ImportInput&)) {
  Result<OpenedInput> input = open_raw(make_memory_reader(bytes));
  if (!input) return;
  LoadOptions options;
  options.threads = 1 + static_cast<unsigned>(bytes.size() % 2);
  const Result<Trace> trace = importer({*input->source, bytes.size(), "fuzz", options});
  if (trace) {
    check_trace(*trace);
  } else {
    SONDE_FUZZ_CHECK(!trace.error().text().empty());
  }
}

}  // namespace sonde::fuzz
