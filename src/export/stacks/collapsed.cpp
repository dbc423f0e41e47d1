#include "export/stacks/collapsed.hpp"

#include <algorithm>
#include <cmath>

#include "export/stacks/frame_text.hpp"
#include "export/text_forms.hpp"

namespace sonde {
namespace {

std::string collapsed_frame(const CallFrame& frame) {
  std::string text = frame_text(frame);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

}  // namespace

Result<ExportNotes> write_collapsed(const ExportInput& input, BufferedOutput& out) {
  Result<std::vector<CallTree>> trees = build_call_trees(input.trace, {input.weight, false});
  if (!trees) return trees.error();
  const CallTree& tree = trees->front();
  std::vector<std::string> frames;
  frames.reserve(tree.frames().size());
  for (const CallFrame& frame : tree.frames()) frames.push_back(collapsed_frame(frame));
  const std::vector<CallTree::Node>& nodes = tree.nodes();
  std::vector<std::uint32_t> way;
  std::uint64_t small = 0;
  for (std::uint32_t i = 1; i < nodes.size() && !out.failed(); ++i) {
    const double self = tree.self(i, tree.main_type);
    const auto weight = static_cast<std::int64_t>(std::llround(std::min(self, 9e18)));
    if (weight <= 0) {
      small += self > 0 ? 1 : 0;
      continue;
    }
    way.clear();
    for (std::uint32_t at = i; at != 0; at = nodes[at].parent) way.push_back(at);
    std::string& text = out.buffer();
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
      if (at != way.rbegin()) text += ';';
      text += frames[nodes[*at].frame];
    }
    text += ' ';
    append_integer(text, weight);
    text += '\n';
    out.settle();
  }
  ExportNotes notes;
  if (tree.types().size() > 1)
    notes.push_back("only the weights '" + tree.types()[tree.main_type].name +
                    "' are written; --weight picks others");
  if (tree.estimated)
    notes.push_back("the profile knows callers, not stacks: deeper frames are an estimate");
  if (small > 0)
    notes.push_back(std::to_string(small) + " stacks weigh less than 1 and are left out");
  return notes;
}

}  // namespace sonde
