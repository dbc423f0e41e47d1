#pragma once

#include <vector>

#include "trace/builder.hpp"
#include "trace/filter.hpp"

namespace sonde {

// Copies the parts of one trace into a builder, which may hold parts of others. In this order: the
// constructor, copy_points() and copy_slices(), the builder's nest(), copy_links().
class TraceCopier {
 public:
  struct Changes {
    Nanos shift = 0;             // added to all times
    std::string label;           // in front of the names of processes
    std::int64_t id_offset = 0;  // added to correlation and external ids, which count in one file
    // Those that the builder has already; null: none.
    std::vector<SampleType>* sample_types = nullptr;
  };
  TraceCopier(const Trace& from, const TraceFilter& filter, TraceBuilder& to, Changes changes);

  void copy_slices();
  void copy_points();
  // Sums are added to those that the builder has already.
  void copy_call_profile();
  void copy_process_memory();
  void copy_source_listing();
  void copy_links();

 private:
  bool in_windows(Nanos start, Nanos end) const;
  bool takes(SliceId slice) const;
  StringId string(StringId id);
  TrackId track(TrackId id);
  StackId stack(StackId id);
  std::uint32_t sample_type(const SampleType& type);
  std::int64_t moved(std::int64_t id) const {
    return id == kNoNumber || id <= 0 ? id : id + changes_.id_offset;
  }
  void copy_rows(SliceId from, SliceId to);
  template <class Owner>
  void copy_arguments(const Arguments<Owner>& arguments, Owner from, Owner to);
  template <class Owner, class Other>
  Argument<Other> translated(const Argument<Owner>& argument, Other owner);
  ArgumentSetId argument_set(SliceId slice);
  void copy_links_of(const Links& links, void (TraceBuilder::*add)(SliceId, SliceId));

  const Trace& from_;
  const TraceFilter& filter_;
  TraceBuilder& to_;
  Changes changes_;
  std::vector<StringId> strings_;
  std::vector<TrackId> tracks_;
  std::vector<StackId> stacks_;
  std::vector<SliceId> slices_;
  std::vector<ArgumentSetId> argument_sets_;
  std::vector<std::uint32_t> sample_types_;
};

}  // namespace sonde
