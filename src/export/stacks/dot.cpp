#include "export/stacks/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/call_sums.hpp"
#include "export/stacks/frame_text.hpp"

namespace sonde {
namespace {

constexpr double kLeastNode = 0.005;
constexpr double kLeastEdge = 0.001;
constexpr std::size_t kLongestName = 200;

// Cuts at a character, not inside of one.
std::string shortened(std::string text) {
  if (text.size() <= kLongestName) return text;
  std::size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// From dark blue for nothing to red for everything.
std::string colour(double weight) {
  const auto between = [&](double a, double b) { return a + (b - a) * weight; };
  const double hue = between(2.0 / 3, 0);
  const double saturation = between(0.8, 1);
  const double lightness = between(0.25, 0.5);
  const double q = lightness < 0.5 ? lightness * (1 + saturation)
                                   : lightness + saturation - lightness * saturation;
  const double p = 2 * lightness - q;
  const auto channel = [&](double t) {
    t -= std::floor(t);
    const double v = t < 1.0 / 6   ? p + (q - p) * 6 * t
                     : t < 1.0 / 2 ? q
                     : t < 2.0 / 3 ? p + (q - p) * (2.0 / 3 - t) * 6
                                   : p;
    return static_cast<int>(std::lround(v * 255));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(hue + 1.0 / 3), channel(hue),
                     channel(hue - 1.0 / 3));
}

}  // namespace

Result<ExportNotes> write_dot(const ExportInput& input, BufferedOutput& out) {
  Result<CallSums> sums = sum_calls(input.trace, input.weight);
  if (!sums) return sums.error();
  double whole = 0;
  for (std::size_t f = 0; f < sums->functions.size(); ++f)
    whole += static_cast<double>(std::max<std::int64_t>(sums->cost(sums->function_self, f, 0), 0));
  const auto share = [&](const std::vector<std::int64_t>& costs, std::size_t row) {
    const auto cost = static_cast<double>(sums->cost(costs, row, 0));
    return whole > 0 ? std::clamp(cost / whole, 0.0, 1.0) : 0.0;
  };

  out.write(
      "digraph {\n\tgraph [fontname=Arial, nodesep=0.125, ranksep=0.25];\n"
      "\tnode [fontcolor=white, fontname=Arial, height=0, shape=box, style=filled, width=0];\n"
      "\tedge [fontname=Arial];\n");
  std::vector<bool> shown(sums->functions.size());
  std::size_t hidden = 0;
  const char* const times = "\xC3\x97";
  for (std::size_t f = 0; f < sums->functions.size() && !out.failed(); ++f) {
    const CallSums::Function& function = sums->functions[f];
    const double total = share(sums->function_total, f);
    shown[f] = total >= kLeastNode;
    if (!shown[f]) {
      ++hidden;
      continue;
    }
    std::string name = frame_text({function.name, function.file, function.line});
    if (!function.module.empty()) name = one_line(function.module) + ":" + name;
    out.write(fmt::format(
        "\t{} [color=\"{}\", fontcolor=\"white\", fontsize=\"{:.2f}\", "
        "label=\"{}\\n{:.2f}%\\n({:.2f}%)\\n{}{}\", tooltip=\"{}\"];\n",
        f, colour(total), std::max(8.0, 10.0 + 8 * std::sqrt(share(sums->function_self, f))),
        quoted(shortened(name)), total * 100, share(sums->function_self, f) * 100, function.calls,
        times, quoted(shortened(name))));
  }
  for (std::size_t c = 0; c < sums->calls.size() && !out.failed(); ++c) {
    const CallSums::Call& call = sums->calls[c];
    if (call.caller >= shown.size() || call.callee >= shown.size() || !shown[call.caller] ||
        !shown[call.callee])
      continue;
    const double weight = share(sums->call_total, c);
    if (weight < kLeastEdge) continue;
    const double pen = std::max(4 * weight, 0.5);
    out.write(
        fmt::format("\t{} -> {} [arrowsize=\"{:.2f}\", color=\"{}\", fontcolor=\"{}\", "
                    "label=\"{:.2f}%\\n{}{}\", labeldistance=\"{:.2f}\", "
                    "penwidth=\"{:.2f}\"];\n",
                    call.caller, call.callee, std::sqrt(pen) / 2, colour(weight), colour(weight),
                    weight * 100, call.calls, times, pen, pen));
  }
  out.write("}\n");
  ExportNotes notes;
  if (hidden > 0)
    notes.push_back(std::to_string(hidden) + " functions with less than 0.5% of '" +
                    sums->types[0].name + "' are not drawn");
  if (sums->sampled) notes.push_back("numbers of calls are numbers of samples");
  return notes;
}

}  // namespace sonde
