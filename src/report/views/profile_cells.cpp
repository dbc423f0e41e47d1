#include "report/views/profile_cells.hpp"

#include <cmath>

#include "report/views/rows.hpp"

namespace sonde {
namespace {

bool is_whole(double value) { return std::fabs(value) < 9e15 && value == std::floor(value); }

}  // namespace

CellType cost_type(const ProfileCost& cost) {
  if (cost.unit == "ns") return CellType::Duration;
  if (cost.unit == "bytes") return CellType::Bytes;
  return cost.unit == "count" ? CellType::Integer : CellType::Real;
}

Cell cost_cell(double value, const ProfileCost& cost) {
  if (!(std::fabs(value) < 9.2e18)) return value;
  if (cost.unit == "ns" || cost.unit == "bytes")
    return static_cast<std::int64_t>(std::llround(value));
  if (is_whole(value)) return static_cast<std::int64_t>(value);
  return value;
}

std::string cost_text(double value, const ProfileCost& cost) {
  std::string out = cell_text(cost_cell(value, cost), cost_type(cost));
  const bool plain = cost.unit != "ns" && cost.unit != "bytes";
  return plain ? out + " " + cost.name : out;
}

std::string cost_header(const ProfileCost& cost) {
  if (cost.unit == "ns") return "Time";
  std::string out = cost.name;
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string cost_key(const std::string& what, const ProfileCost& cost) {
  return cost.unit == "ns" || cost.unit == "bytes" ? what + "_" + cost.unit : what;
}

std::string cost_title(const std::string& what, const FunctionProfile& profile, std::size_t cost) {
  return profile.costs.size() < 2 ? what : what + " by " + profile.costs[cost].name;
}

std::string place_text(std::string_view file, std::int32_t line) {
  // The last folder and the file say most; programs get the whole path.
  std::size_t slash = file.rfind('/');
  if (slash != std::string_view::npos && slash > 0) slash = file.rfind('/', slash - 1);
  std::string out(slash == std::string_view::npos ? file : file.substr(slash + 1));
  if (line > 0) out += (out.empty() ? "line " : ":") + std::to_string(line);
  return out;
}

void note_left_out(std::size_t traces, Block& block) {
  if (traces == 0) return;
  block.notes.push_back(format_plural(static_cast<std::int64_t>(traces), "trace", "traces") +
                        " of another kind left out; report them by themselves");
}

std::string calls_header(const FunctionProfile& profile) {
  return profile.calls_are_samples ? "Samples" : "Calls";
}

bool shows_calls(const FunctionProfile& profile, std::size_t cost) {
  if (profile.source == ProfileSource::Samples) return profile.costs[cost].timed;
  if (profile.source != ProfileSource::Counted) return true;
  for (const FunctionProfile::Function& function : profile.functions) {
    if (function.calls > 0) return true;
  }
  return false;
}

}  // namespace sonde
