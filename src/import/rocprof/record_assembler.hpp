#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/text/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde::rocprof {

struct KernelRecord {
  std::string_view name;
  Nanos start = 0;
  Nanos end = 0;
  bool has_time = true;
  std::int64_t pid = 0;
  std::int64_t thread = kNoNumber;
  std::int32_t device = -1;
  std::int64_t queue = kNoNumber;
  std::int64_t stream = kNoNumber;
  std::int64_t correlation = kNoNumber;
  std::int64_t dispatch = kNoNumber;
  std::array<std::int64_t, 3> grid{kNoNumber, kNoNumber, kNoNumber};  // in work items
  std::array<std::int64_t, 3> group{kNoNumber, kNoNumber, kNoNumber};
  std::int64_t registers = kNoNumber;  // VGPRs
  std::int64_t scalar_registers = kNoNumber;
  std::int64_t shared_memory = kNoNumber;
  std::int64_t scratch = kNoNumber;
};

struct CopyRecord {
  std::string_view direction;  // MEMORY_COPY_HOST_TO_DEVICE
  Nanos start = 0;
  Nanos end = 0;
  std::int64_t pid = 0;
  std::int64_t source = -1;
  std::int64_t target = -1;
  std::int32_t device = -1;  // the one whose queue it is
  std::int64_t correlation = kNoNumber;
  std::int64_t bytes = kNoNumber;
};

struct CallRecord {
  std::string_view domain;  // HIP_RUNTIME_API
  std::string_view name;
  Nanos start = 0;
  Nanos end = 0;
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  std::int64_t correlation = kNoNumber;
};

struct AllocationRecord {
  Nanos time = 0;
  std::int64_t pid = 0;
  std::int32_t device = -1;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  bool free = false;
};

// Makes slices of the records of rocprof, whatever file they stand in.
class RecordAssembler {
 public:
  explicit RecordAssembler(TraceBuilder& builder) : builder_(builder), names_(builder) {}

  // Before the kernels, so that each gets its own.
  void add_counter(std::int64_t dispatch, const KernelRecord& kernel, std::string_view counter,
                   double value);
  void add_kernel(const KernelRecord& record);
  void add_copy(const CopyRecord& record);
  void add_call(const CallRecord& record);
  void add_allocation(const AllocationRecord& record);
  // A record of a table that nobody foresaw, kept under its own words.
  void add_other(std::string_view category, std::string_view name, Nanos start, Nanos end,
                 std::int64_t pid, std::int64_t thread);
  // One line of a table of sums.
  void add_total(std::string_view name, std::int64_t calls, Nanos total);

  void finish(unsigned threads);
  std::uint64_t records() const { return records_; }
  NamePool& names() { return names_; }

 private:
  struct Counted {
    KernelRecord kernel;
    std::string name;
    std::vector<std::pair<StringId, double>> values;
    bool used = false;
  };
  TrackId thread(std::int64_t pid, std::int64_t tid);
  TrackId stream(std::int64_t pid, std::int32_t device, std::int64_t number, std::string_view word);
  // False, and counted, where the times are impossible.
  bool check(Nanos start, Nanos& end);

  TraceBuilder& builder_;
  NamePool names_;
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> threads_;
  std::map<std::tuple<std::int64_t, std::int32_t, std::int64_t, std::string>, TrackId> streams_;
  std::map<std::int64_t, Counted> counters_;
  std::map<std::int64_t, std::int64_t> totals_;  // allocated bytes by device
  std::map<std::uint64_t, std::int64_t> live_;   // sizes by address
  std::uint64_t records_ = 0;
  std::uint64_t timeless_ = 0;
};

}  // namespace sonde::rocprof
