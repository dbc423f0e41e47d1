#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.hpp"
#include "import/sonde_run/cupti/block_reader.hpp"
#include "trace/builder.hpp"
#include "trace/cupti_file.hpp"

namespace sonde::cupti {

// The names of kernels and calls. They may stand behind the records that use them.
class WorkNames {
 public:
  enum class Key : std::uint8_t { Id, Address, RuntimeCall, DriverCall };

  explicit WorkNames(TraceBuilder& builder) : builder_(builder) {}

  void add(const Name& name);
  // Names the slice now, or in finish().
  void name_or_wait(SliceId slice, Key type, std::uint64_t key);
  // After the last name.
  void finish();

 private:
  struct Pending {
    SliceId slice;
    Key type;
    std::uint64_t key;
  };

  // Invalid where it is not known.
  StringId find(Key type, std::uint64_t key) const;

  TraceBuilder& builder_;
  FlatMap<StringId> texts_;      // by id
  FlatMap<StringId> addresses_;  // the newest text at an address
  FlatMap<StringId> calls_[2];   // driver, runtime
  std::vector<Pending> pending_;
};

}  // namespace sonde::cupti
