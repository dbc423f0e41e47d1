#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "trace/builder.hpp"

namespace sonde {

// Fills a CallProfile: functions, calls and lines are found again by what they are, and their costs
// added up. The cost types must be set before.
class CallProfileBuilder {
 public:
  CallProfileBuilder(CallProfile& profile, std::size_t types) : profile_(profile), types_(types) {}

  FunctionId function(StringId name, StringId file, StringId module, std::int32_t line);
  std::uint32_t call(FunctionId caller, FunctionId callee, std::int32_t line);
  std::uint32_t line(FunctionId function, StringId file, std::int32_t line);

  CallProfile& profile() { return profile_; }
  std::size_t types() const { return types_; }

  // Adds to the row of one of the profile's lists of costs.
  void add(std::vector<std::int64_t>& list, std::size_t row, std::span<const std::int64_t> costs);

  // For files that tell what calls cost, but not functions with their callees: a function that is
  // called costs what its calls cost; one that nobody calls, its own and that of the calls it
  // makes. Where functions call each other in a circle, the calls inside of it are in those from
  // outside already: only the dearest one counts, where it is more than all of those.
  void sum_totals();

 private:
  CallProfile& profile_;
  std::size_t types_;
  std::map<std::tuple<StringId, StringId, StringId, std::int32_t>, FunctionId> functions_;
  std::map<std::tuple<FunctionId, FunctionId, std::int32_t>, std::uint32_t> calls_;
  std::map<std::tuple<FunctionId, StringId, std::int32_t>, std::uint32_t> lines_;
};

}  // namespace sonde
