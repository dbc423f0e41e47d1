#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "import/sonde_run/companions.hpp"
#include "import/sonde_run/cupti/block_reader.hpp"
#include "import/sonde_run/cupti/device_memory.hpp"
#include "import/sonde_run/cupti/occupancy.hpp"
#include "import/sonde_run/cupti/record.hpp"
#include "import/sonde_run/cupti/work_names.hpp"
#include "trace/cupti_file.hpp"

namespace sonde::cupti {

// Gives CUPTI's records their meaning: slices on threads and streams, allocations. Names may stand
// behind the records that use them.
class RecordReader {
 public:
  RecordReader(const FileHeader& header, const CompanionContext& context);

  void add_name(const Name& name) { names_.add(name); }
  void add_block(const RecordBlock& block);
  // What needs the whole file: names, memory in the order of time.
  void finish();

  std::uint64_t records() const { return records_; }
  std::uint64_t device_slices() const { return device_slices_; }
  std::uint64_t salvaged() const { return salvaged_; }

 private:
  struct Window {
    Nanos start;
    Nanos duration;
  };
  // Where the fields of a piece of device work stand.
  struct Place {
    std::size_t start, end, device, context, stream, correlation, graph_node, graph;
  };

  void add_record(Kind kind, const Record& record);
  void add_call(const Record& record, bool runtime);
  void add_kernel(const Record& record);
  void add_copy(const Record& record, bool peer);
  void add_fill(const Record& record);
  void add_graph(const Record& record);
  void add_sync(const Record& record);
  void add_overhead(const Record& record);
  void add_memory(const Record& record);
  void add_pool(const Record& record);

  bool to_nanos(std::uint64_t time, Nanos& out) const;
  bool window_of(const Record& record, std::size_t start, std::size_t end, Window& out);
  // The slice and its row; the caller adds the row. Invalid where the times cannot be used.
  SliceId add_device_slice(const Record& record, const Place& place, StringId name, SliceKind kind,
                           DeviceRow& row);
  void add_graph_arguments(const Record& record, const Place& place, SliceId slice);
  void add_traffic(DeviceRow& row, std::uint64_t bytes, SliceId slice) const;
  void share_occupancy(SliceId slice, const Occupancy& occupancy, std::int32_t fixed,
                       std::int32_t dynamic);
  void lose_unfinished(const Record& record);
  void lose(const char* name, Severity severity, const char* sentence, const Record& record);

  const FileHeader& header_;
  const CompanionContext& context_;
  TraceBuilder& builder_;
  WorkNames names_;
  DeviceMemory memory_;
  std::map<std::tuple<std::int64_t, float, std::int32_t, std::int32_t>, ArgumentSetId> shapes_;
  std::map<std::uint32_t, StringId> copy_names_;
  std::uint64_t records_ = 0;
  std::uint64_t device_slices_ = 0;
  std::uint64_t salvaged_ = 0;
};

}  // namespace sonde::cupti
