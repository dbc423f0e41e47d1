#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/flat_map.hpp"
#include "import/sonde_run/companions.hpp"
#include "import/sonde_run/cupti/block_reader.hpp"
#include "import/sonde_run/cupti/occupancy.hpp"
#include "trace/cupti_file.hpp"

namespace sonde::cupti {

// Gives CUPTI's records their meaning: slices on threads and streams, allocations. Names may stand
// behind the records that use them.
class RecordReader {
 public:
  RecordReader(const FileHeader& header, const CompanionContext& context);

  void add_name(const Name& name);
  void add_block(const RecordBlock& block);
  // What needs the whole file: names, memory in the order of time.
  void finish();

  std::uint64_t records() const { return records_; }
  std::uint64_t device_slices() const { return device_slices_; }
  std::uint64_t salvaged() const { return salvaged_; }

 private:
  // One record; numbers are read in the file's own order of bytes.
  class Record {
   public:
    Record(const char* at, std::uint64_t offset, bool returned)
        : at_(at), offset_(offset), returned_(returned) {}
    template <typename Number>
    Number get(std::size_t where) const {
      Number value{};
      std::copy_n(at_ + where, sizeof value, reinterpret_cast<char*>(&value));
      return value;
    }
    std::uint64_t offset() const { return offset_; }
    bool returned() const { return returned_; }

   private:
    const char* at_;
    std::uint64_t offset_;
    bool returned_;
  };
  enum class NameKey : std::uint8_t { Id, Address, RuntimeCall, DriverCall };
  struct Pending {
    SliceId slice;
    NameKey type;
    std::uint64_t key;
  };
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
  // The name, or an invalid one that is waited for.
  StringId find_name(NameKey type, std::uint64_t key) const;
  void name_or_wait(SliceId slice, NameKey type, std::uint64_t key);
  void lose_unfinished(const Record& record);
  void add_allocations();
  void lose(const char* name, Severity severity, const char* sentence, const Record& record);

  const FileHeader& header_;
  const CompanionContext& context_;
  TraceBuilder& builder_;
  FlatMap<StringId> names_;      // by id
  FlatMap<StringId> addresses_;  // the newest text at an address
  FlatMap<StringId> calls_[2];   // driver, runtime
  std::vector<Pending> pending_;
  std::vector<Allocation> allocations_;
  std::map<std::tuple<std::int64_t, float, std::int32_t, std::int32_t>, ArgumentSetId> shapes_;
  std::map<std::uint32_t, StringId> copy_names_;
  std::uint64_t records_ = 0;
  std::uint64_t device_slices_ = 0;
  std::uint64_t salvaged_ = 0;
};

}  // namespace sonde::cupti
