#include "export/stacks/flamegraph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/call_tree.hpp"
#include "base/flat_map.hpp"
#include "base/format.hpp"
#include "export/stacks/flamegraph_script.hpp"
#include "export/stacks/frame_text.hpp"
#include "export/text_forms.hpp"

namespace sonde {
namespace {

constexpr int kRow = 17;       // pixels from one level to the next
constexpr int kTop = 62;       // above the first one
constexpr int kBottom = 34;    // below the last one
constexpr int kPad = 10;       // left and right
constexpr double kLetter = 7;  // pixels a letter
// Frames below this share of everything cannot be seen and, a thousand times zoomed, hardly.
constexpr double kLeastShare = 2e-5;
constexpr std::size_t kMostDrawn = 200'000;
constexpr std::uint32_t kDeepest = 2000;

// One colour for one name, in every picture: a light one, so that black text stands out.
std::string colour(std::string_view name, bool memory) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  hash = mix_bits(hash);
  const auto a = static_cast<int>(hash % 56);
  const auto b = static_cast<int>(hash / 56 % 100);
  if (memory) return fmt::format("rgb({},{},{})", 110 + a, 190 + b / 2, 110 + a);
  return fmt::format("rgb({},{},{})", 220 + a / 2, 120 + b, 60 + a);
}

struct Drawn {
  std::uint32_t node;
  double x;
  double width;
  std::uint32_t depth;
};

class FlameLayout {
 public:
  explicit FlameLayout(const CallTree& tree) : tree_(tree), totals_(tree.totals(tree.main_type)) {
    const std::vector<CallTree::Node>& nodes = tree.nodes();
    // What children take together, where that is more than the node itself (overlapping slices).
    for (double& total : totals_) total = std::max(total, 0.0);
    children_.resize(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i) children_[nodes[i].parent].push_back(i);
    totals_[0] = 0;
    for (const std::uint32_t child : children_[0]) totals_[0] += totals_[child];
    place();
  }

  const std::vector<Drawn>& drawn() const { return drawn_; }
  double whole() const { return totals_[0]; }
  double total(std::uint32_t node) const { return totals_[node]; }
  std::uint32_t levels() const { return levels_; }
  std::size_t left_out() const { return tree_.nodes().size() - drawn_.size(); }

 private:
  void place() {
    std::vector<Drawn> open{{0, 0, totals_[0], 0}};
    while (!open.empty()) {
      const Drawn here = open.back();
      open.pop_back();
      drawn_.push_back(here);
      levels_ = std::max(levels_, here.depth + 1);
      if (here.depth == kDeepest) continue;
      std::vector<std::uint32_t>& children = children_[here.node];
      std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
        const CallFrame& left = tree_.frame_of(a);
        const CallFrame& right = tree_.frame_of(b);
        return left.name != right.name ? left.name < right.name : a < b;
      });
      double sum = 0;
      for (const std::uint32_t child : children) sum += totals_[child];
      const double scale = sum > here.width && sum > 0 ? here.width / sum : 1;
      double x = here.x;
      const std::size_t first = open.size();
      for (const std::uint32_t child : children) {
        const double width = totals_[child] * scale;
        if (width >= totals_[0] * kLeastShare && width > 0 &&
            drawn_.size() + open.size() < kMostDrawn)
          open.push_back({child, x, width, here.depth + 1});
        x += width;
      }
      std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
    }
  }

  const CallTree& tree_;
  std::vector<double> totals_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<Drawn> drawn_;
  std::uint32_t levels_ = 0;
};

std::string fitting(const std::string& text, double pixels) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (pixels - 6) / kLetter));
  if (room < 3) return {};
  std::size_t letters = 0;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (letters == room - 2) cut = i;
    ++letters;
  }
  return letters <= room ? text : text.substr(0, cut) + "..";
}

void write_head(std::string& out, const std::string& title, const std::string& totals, double whole,
                std::int64_t width, std::int64_t height) {
  out += fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" data-width=\"{0}\" data-pad=\"{2}\" data-total=\"{3}\">\n",
      width, height, kPad, whole);
  out +=
      "<style>text { font: 12px monospace; fill: #000; } #title { font-size: 17px; text-anchor: "
      "middle; }\n"
      "g.f { cursor: pointer; } g.f:hover rect { stroke: #000; stroke-width: 0.7; }\n"
      ".button { cursor: pointer; opacity: 0.6; } .button:hover { opacity: 1; }</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fbfaf7\"/>\n";
  out += fmt::format("<text id=\"title\" x=\"{}\" y=\"24\">", width / 2);
  append_xml_text(out, title);
  out += fmt::format("</text>\n<text id=\"totals\" x=\"{}\" y=\"46\">", kPad);
  append_xml_text(out, totals);
  out += fmt::format(
      "</text>\n<text id=\"reset\" class=\"button\" x=\"{}\" y=\"24\" style=\"display:none\">"
      "Reset zoom</text>\n"
      "<text id=\"search\" class=\"button\" x=\"{}\" y=\"24\" text-anchor=\"end\">Search</text>\n"
      "<text id=\"matched\" x=\"{}\" y=\"46\" text-anchor=\"end\"></text>\n"
      "<text id=\"details\" x=\"{}\" y=\"{}\" data-rest=\" \"> </text>\n<g id=\"frames\">\n",
      kPad, width - kPad, width - kPad, kPad, height - 12);
}

}  // namespace

Result<ExportNotes> write_flamegraph(const ExportInput& input, BufferedOutput& output) {
  Result<std::vector<CallTree>> trees = build_call_trees(input.trace, {input.weight, false});
  if (!trees) return trees.error();
  const CallTree& tree = trees->front();
  const FlameLayout layout(tree);
  if (!(layout.whole() > 0)) {
    return Error{ErrorCode::Unsupported,
                 "nothing to draw: all stacks weigh 0",
                 {},
                 {},
                 "--weight picks other weights"};
  }
  const CallValueType& type = tree.types()[tree.main_type];
  const bool memory = type.unit == "bytes";
  const std::int64_t width = std::clamp<std::int64_t>(input.width, 200, 20'000);
  const std::int64_t height = kTop + std::int64_t{kRow} * layout.levels() + kBottom;
  const double scale = static_cast<double>(width - 2 * kPad) / layout.whole();

  std::string& out = output.buffer();
  write_head(out, one_line(input.title.empty() ? "Flame graph" : input.title),
             "Total: " + value_text(layout.whole(), type) + " in " +
                 format_count(static_cast<std::int64_t>(tree.nodes().size() - 1)) +
                 " different stacks",
             layout.whole(), width, height);
  for (const Drawn& drawn : layout.drawn()) {
    if (output.failed()) break;
    const std::string name = drawn.node == 0 ? "all" : frame_text(tree.frame_of(drawn.node));
    const double pixels = drawn.width * scale;
    const double x = kPad + drawn.x * scale;
    const std::int64_t y = kTop + std::int64_t{kRow} * drawn.depth;
    out += "<g class=\"f\" data-n=\"";
    append_xml_text(out, name);
    out += fmt::format("\" data-x=\"{}\" data-w=\"{}\" data-d=\"{}\"><title>", drawn.x, drawn.width,
                       drawn.depth);
    append_xml_text(out, name);
    const double total = layout.total(drawn.node);
    out += " (";
    append_xml_text(out, value_text(total, type));
    append_xml_text(out, ", " + format_percent(100 * total / layout.whole()));
    const double self = drawn.node == 0 ? 0 : tree.self(drawn.node, tree.main_type);
    if (self > 0 && self < total) {
      out += "; self ";
      append_xml_text(out, value_text(self, type));
    }
    out += fmt::format(
        ")</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\" rx=\"1\"/>"
        "<text x=\"{:.2f}\" y=\"{}\">",
        x, y, std::max(pixels, 0.1), kRow - 1,
        drawn.node == 0 ? "rgb(200,200,195)" : colour(name, memory), x + 3, y + 12);
    append_xml_text(out, fitting(name, pixels));
    out += "</text></g>\n";
    output.settle();
  }
  out += "</g>\n<script><![CDATA[";
  out += kFlamegraphScript;
  out += "]]></script>\n</svg>\n";

  ExportNotes notes;
  if (layout.left_out() > 0)
    notes.push_back(format_count(static_cast<std::int64_t>(layout.left_out())) +
                    " stacks are too small to draw; 'collapsed' has all");
  if (tree.types().size() > 1)
    notes.push_back("drawn by '" + type.name + "'; --weight picks another");
  if (tree.estimated)
    notes.push_back("the profile knows callers, not stacks: deeper frames are an estimate");
  return notes;
}

}  // namespace sonde
