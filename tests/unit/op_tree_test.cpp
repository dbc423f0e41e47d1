#include "analysis/op_tree.hpp"

#include <gtest/gtest.h>

#include <random>

#include "analysis/kernels.hpp"
#include "analysis/operators.hpp"
#include "tests/unit/trace_sketch.hpp"

namespace sonde {
namespace {

std::vector<std::string> names(const Trace& trace, const OpTree& tree) {
  std::vector<std::string> out;
  for (const OpNode& node : tree.nodes()) out.emplace_back(trace.name(node.slice));
  return out;
}

const OpNode& node_of(const OpTree& tree, SliceId slice) {
  for (const OpNode& node : tree.nodes()) {
    if (node.slice == slice) return node;
  }
  ADD_FAILURE() << "no node for slice " << slice.value;
  return tree.nodes().front();
}

TEST(OpTree, NestsInPostOrder) {
  TraceSketch sketch;
  sketch.op("inner", 2, 4, 2);
  const SliceId outer = sketch.op("outer", 1, 9, 1);
  sketch.op("later", 5, 8, 3);
  sketch.op("other thread", 0, 5, 4, 2);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  EXPECT_EQ(names(trace, tree),
            (std::vector<std::string>{"inner", "later", "outer", "other thread"}));
  EXPECT_EQ(tree.nodes()[0].parent, 2u);
  EXPECT_EQ(tree.nodes()[1].parent, 2u);
  EXPECT_EQ(tree.nodes()[2].parent, OpNode::kNone);
  EXPECT_EQ(node_of(tree, outer).host_self, 3000);
  ASSERT_EQ(tree.threads().size(), 2u);
  EXPECT_EQ(tree.threads()[1].first_node, 3u);
}

TEST(OpTree, CallsAndKernelsBelongToTheOperatorWithTheirId) {
  TraceSketch sketch;
  sketch.kernel("early", 20, 30, 7);  // before its call in the file
  const SliceId inner = sketch.op("inner", 2, 6, 2);
  const SliceId outer = sketch.op("outer", 1, 9, 1);
  sketch.call(3, 4, 7, 2);
  sketch.kernel("late", 30, 35, 7);
  const SliceId lonely = sketch.kernel("lonely", 40, 41, 99);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  EXPECT_EQ(node_of(tree, inner).device_self, 15000);
  EXPECT_EQ(node_of(tree, inner).host_self, 3000);  // without the call
  EXPECT_EQ(node_of(tree, outer).device_self, 0);
  EXPECT_EQ(node_of(tree, outer).device_total, 15000);
  EXPECT_EQ(tree.orphans(), std::vector<SliceId>{lonely});
}

TEST(OpTree, FoldsAnOnlyChildOfTheSameName) {
  TraceSketch sketch;
  const SliceId outer = sketch.op("aten::to", 0, 10, 1);
  sketch.op("aten::to", 1, 9, 2);
  sketch.op("aten::to", 2, 8, 3);
  sketch.op("aten::copy_", 3, 7, 4);
  sketch.call(0, 1, 1, 1);
  sketch.call(4, 5, 3, 3);
  sketch.kernel("of the outer", 20, 30, 1);
  sketch.kernel("of the innermost", 30, 33, 3);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  EXPECT_EQ(names(trace, tree), (std::vector<std::string>{"aten::copy_", "aten::to"}));
  // The innermost one's calls replace the outer one's.
  EXPECT_EQ(node_of(tree, outer).device_self, 3000);
  EXPECT_EQ(node_of(tree, outer).host_self, 10000 - 4000 - 1000);
}

TEST(OpTree, TwoChildrenOrStepsAreNotFolded) {
  TraceSketch sketch;
  sketch.op("a", 0, 10, 1);
  sketch.op("a", 1, 2, 2);
  sketch.op("a", 3, 4, 3);
  sketch.step(1, 20, 30);
  sketch.step(1, 21, 29);
  const Trace trace = sketch.finish();
  EXPECT_EQ(OpTree(trace).nodes().size(), 5u);
}

TEST(OpTree, LeavesOutWhatOverlapsPartly) {
  TraceSketch sketch;
  sketch.op("a", 0, 10, 1);
  sketch.op("crossing", 5, 15, 2);
  sketch.op("b", 10, 20, 3);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  EXPECT_EQ(names(trace, tree), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tree.dropped(), 1u);
}

TEST(OpTree, CallsWithIdZeroBelongToTheThread) {
  TraceSketch sketch;
  sketch.op("a", 0, 10, 1);
  sketch.call(2, 3, 5, 0);
  sketch.kernel("k", 4, 6, 5);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  EXPECT_EQ(tree.nodes()[0].device_self, 0);
  EXPECT_EQ(tree.nodes()[0].host_self, 10000);
  EXPECT_EQ(tree.threads()[0].root_launches.size(), 1u);
  const std::vector<KernelOperatorStats> kernels = kernel_operator_stats(trace, tree);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].owner, KernelOwner::Thread);
}

TEST(OpTree, UsesTheImportersLinksWhereIdsLeadNowhere) {
  TraceSketch sketch;
  const SliceId by_missing_id = sketch.op("a", 0, 10, 1);
  const SliceId by_unknown_id = sketch.op("b", 10, 20, 2);
  sketch.link(by_missing_id, sketch.call(2, 3, 5, kNoNumber));
  sketch.link(by_unknown_id, sketch.call(12, 13, 6, 77));
  sketch.kernel("k", 4, 6, 5);
  sketch.kernel("k", 14, 17, 6);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  EXPECT_EQ(node_of(tree, by_missing_id).device_self, 2000);
  EXPECT_EQ(node_of(tree, by_unknown_id).device_self, 3000);
}

TEST(OpTree, IdsThatAreCorrelationsAreNotLookedUp) {
  TraceSketch sketch;
  const SliceId wrong = sketch.op("has the id by accident", 0, 10, 5);
  const SliceId right = sketch.op("encloses the calls", 10, 20, 1);
  sketch.link(right, sketch.call(12, 13, 5, 5));
  sketch.link(right, sketch.call(14, 15, 6, 6));
  sketch.kernel("k", 14, 16, 5);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  EXPECT_EQ(node_of(tree, wrong).device_self, 0);
  EXPECT_EQ(node_of(tree, right).device_self, 2000);
}

TEST(OpTree, KernelsOfFoldedAndDroppedOperatorsAreNotLost) {
  TraceSketch sketch;
  sketch.op("a", 0, 10, 1);
  sketch.op("a", 1, 9, 2);
  sketch.op("crossing", 5, 15, 3);
  sketch.call(0, 1, 1, 1);
  sketch.call(6, 7, 3, 3);
  sketch.kernel("folded", 20, 21, 1);
  sketch.kernel("dropped", 22, 23, 3);
  const Trace trace = sketch.finish();
  EXPECT_EQ(kernel_operator_stats(trace, OpTree(trace)).size(), 2u);
}

TEST(OpTree, AMillionLevelsAreFine) {
  constexpr Nanos kDepth = 1'000'000;
  TraceSketch sketch;
  for (Nanos i = 0; i < kDepth; ++i) {
    sketch.op(i % 2 ? "odd" : "even", i, 3 * kDepth - i, i + 1);
  }
  sketch.call(kDepth, kDepth + 1, 1, kDepth);
  sketch.kernel("k", 0, 5, 1);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  ASSERT_EQ(tree.nodes().size(), static_cast<std::size_t>(kDepth));
  EXPECT_EQ(tree.nodes().back().device_total, 5000);
  // All of one name: everything folds into the outermost.
  TraceSketch same;
  for (Nanos i = 0; i < kDepth; ++i) same.op("same", i, 3 * kDepth - i, i + 1);
  const Trace folded = same.finish();
  EXPECT_EQ(OpTree(folded).nodes().size(), 1u);
}

// Whatever the intervals are: no node is lost but the dropped and folded ones, children lie inside
// of their parents, and the own times of a thread add up to the times at its top.
TEST(OpTree, RandomThreadsKeepTheirSums) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    TraceSketch sketch;
    const int count = static_cast<int>(random() % 60);
    for (int i = 0; i < count; ++i) {
      const auto start = static_cast<Nanos>(random() % 50);
      sketch.op(random() % 2 ? "a" : "b", start, start + static_cast<Nanos>(random() % 20), i + 1);
    }
    const Trace trace = sketch.finish();
    const OpTree tree(trace);
    Nanos top = 0;
    Nanos own = 0;
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const OpNode& node = tree.nodes()[i];
      own += node.host_self;
      if (node.parent == OpNode::kNone) {
        top += node.host_total;
        continue;
      }
      ASSERT_GT(node.parent, i);
      const OpNode& parent = tree.nodes()[node.parent];
      ASSERT_LE(trace.slices().start(parent.slice), trace.slices().start(node.slice));
      ASSERT_GE(trace.slices().end(parent.slice), trace.slices().end(node.slice));
    }
    ASSERT_EQ(own, top);
    ASSERT_LE(tree.nodes().size() + tree.dropped(), static_cast<std::size_t>(count));
  }
}

TEST(Operators, StepsLoadersAndOptimizersAreNotListed) {
  TraceSketch sketch;
  sketch.step(1, 0, 100);
  sketch.op("enumerate(DataLoader)#_Iter.__next__", 1, 5, 1);
  sketch.op("Optimizer.step#SGD.step", 10, 20, 2, 1, SliceKind::Optimizer);
  sketch.op("aten::add", 11, 12, 3);
  sketch.op("aten::add", 13, 16, 4);
  const Trace trace = sketch.finish();
  const OpTree tree(trace);
  const std::vector<OperatorStats> stats = operator_stats(trace, tree, OperatorGrouping::Name);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(trace.text(stats[0].name), "aten::add");
  EXPECT_EQ(stats[0].calls, 2u);
  EXPECT_EQ(stats[0].host_total, 4000);
}

}  // namespace
}  // namespace sonde
