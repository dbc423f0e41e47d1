#include "analysis/object_counts.hpp"

#include <map>

#include "base/saturated.hpp"

namespace sonde {

std::vector<ObjectCount> object_counts(const Trace& trace, std::size_t snapshot) {
  std::vector<ObjectCount> out;
  std::map<std::string_view, std::size_t> rows;
  for (const ProcessMemory::ObjectType& type : trace.process_memory().snapshots[snapshot].types) {
    const std::string_view name = trace.text(type.name);
    const auto [at, inserted] = rows.try_emplace(name, out.size());
    if (inserted) out.push_back({name, 0, 0});
    ObjectCount& sum = out[at->second];
    sum.count = saturated_sum(sum.count, type.count);
    sum.bytes = saturated_sum(sum.bytes, type.bytes);
  }
  return out;
}

std::vector<ObjectCount> object_difference(const std::vector<ObjectCount>& before,
                                           const std::vector<ObjectCount>& after) {
  std::vector<ObjectCount> out = after;
  std::map<std::string_view, std::size_t> rows;
  for (std::size_t i = 0; i < out.size(); ++i) rows.emplace(out[i].type, i);
  for (const ObjectCount& old : before) {
    const auto [at, inserted] = rows.try_emplace(old.type, out.size());
    if (inserted) out.push_back({old.type, 0, 0});
    ObjectCount& sum = out[at->second];
    sum.count = saturated_difference(sum.count, old.count);
    sum.bytes = saturated_difference(sum.bytes, old.bytes);
  }
  return out;
}

}  // namespace sonde
