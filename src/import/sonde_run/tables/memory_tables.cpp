#include "import/sonde_run/tables/memory_tables.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "import/text/numbers.hpp"

namespace sonde {
namespace {

// A process has no more than this: 2^56 bytes, and no more objects.
constexpr std::uint64_t kMost = std::uint64_t{1} << 56;

class MemoryRows {
 public:
  MemoryRows(TableCodes& codes, const CompanionContext& context)
      : codes_(codes), context_(context), memory_(context.builder.process_memory()) {}

  void add(const TablesFile& file) {
    for (const tables::SiteRow& row : file.sites) add_site(row);
    for (const tables::MemoryLineRow& row : file.memory_lines) add_line(row);
    for (const tables::SnapshotRow& row : file.snapshots) add_snapshot(row);
    for (const tables::ObjectTypeRow& row : file.object_types) add_type(row);
    std::stable_sort(memory_.snapshots.begin(), memory_.snapshots.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    if (bad_numbers_ > 0) {
      context_.builder.losses().add(
          "impossible_memory", Severity::Warning,
          "Numbers of memory and of objects that cannot be; their rows are left out", bad_numbers_);
    }
  }

 private:
  // Whether the row may be used.
  template <class... Numbers>
  bool sensible(Numbers... numbers) {
    if (((numbers <= kMost) && ...)) return true;
    ++bad_numbers_;
    return false;
  }

  static void sum(std::int64_t& into, std::uint64_t number) {
    into = add_costs(into, static_cast<std::int64_t>(number));
  }

  void add_site(const tables::SiteRow& row) {
    if (!sensible(row.allocations, row.allocated_bytes, row.frees, row.freed_bytes, row.peak_bytes))
      return;
    const StackId stack = codes_.stack(row.frame);
    const bool native = row.memory == tables::Memory::Native;
    const auto [at, added] = sites_.try_emplace({stack, native}, memory_.sites.size());
    if (added) memory_.sites.push_back({stack, native});
    ProcessMemory::Site& site = memory_.sites[at->second];
    sum(site.allocations, row.allocations);
    sum(site.allocated_bytes, row.allocated_bytes);
    sum(site.frees, row.frees);
    sum(site.freed_bytes, row.freed_bytes);
    sum(site.peak_bytes, row.peak_bytes);
  }

  void add_line(const tables::MemoryLineRow& row) {
    const auto magnitude = [](std::int64_t number) {
      return number < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(number)
                        : static_cast<std::uint64_t>(number);
    };
    if (!sensible(row.hits, magnitude(row.bytes), magnitude(row.increment), magnitude(row.peak)))
      return;
    const TableCodes::Code* const code = codes_.code(row.code);
    if (code == nullptr) return;
    const std::int32_t number = std::max(row.line, 0);
    const auto [at, added] =
        lines_.try_emplace({code->file, code->name, code->line, number}, memory_.lines.size());
    if (added) {
      memory_.lines.push_back({code->file, code->name, code->line, number, 0, 0, 0, INT64_MIN});
    }
    ProcessMemory::Line& line = memory_.lines[at->second];
    sum(line.hits, row.hits);
    line.bytes = row.bytes;
    line.increment = add_costs(line.increment, row.increment);
    line.peak = std::max(line.peak, row.peak);
  }

  void add_snapshot(const tables::SnapshotRow& row) {
    Nanos time = 0;
    if (!context_.clock.to_nanos(row.time, time)) {
      ++bad_numbers_;
      return;
    }
    ProcessMemory::Snapshot snapshot;
    snapshot.label = codes_.text(row.label);
    snapshot.time = time;
    snapshots_[row.id] = memory_.snapshots.size();
    memory_.snapshots.push_back(std::move(snapshot));
  }

  void add_type(const tables::ObjectTypeRow& row) {
    if (!sensible(row.count, row.bytes)) return;
    const auto snapshot = snapshots_.find(row.snapshot);
    const StringId name = codes_.text(row.type);
    if (snapshot == snapshots_.end() || !name.valid()) {
      ++bad_numbers_;
      return;
    }
    memory_.snapshots[snapshot->second].types.push_back(
        {name, static_cast<std::int64_t>(row.count), static_cast<std::int64_t>(row.bytes)});
  }

  TableCodes& codes_;
  const CompanionContext& context_;
  ProcessMemory& memory_;
  std::map<std::pair<StackId, bool>, std::size_t> sites_;
  std::map<std::tuple<StringId, StringId, std::int32_t, std::int32_t>, std::size_t> lines_;
  std::map<std::uint32_t, std::size_t> snapshots_;
  std::uint64_t bad_numbers_ = 0;
};

}  // namespace

void add_process_memory(const TablesFile& file, TableCodes& codes,
                        const CompanionContext& context) {
  MemoryRows(codes, context).add(file);
}

}  // namespace sonde
