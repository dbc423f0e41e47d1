#include <gtest/gtest.h>

#include <string>

#include "analysis/paddle_flops.hpp"
#include "analysis/paddle_stats.hpp"
#include "report/styles/paddle.hpp"
#include "report/styles/paddle_layout.hpp"
#include "tests/support/small_trace.hpp"

namespace sonde {
namespace {

using testing::TraceWriter;

TEST(PaddleFlops, FollowPaddlesFormulas) {
  EXPECT_EQ(paddle_flops("matmul dygraph", R"({"x": [[8, 16]], "y": [[16, 32]]})"), 8192u);
  EXPECT_EQ(paddle_flops("matmul", R"({"X":[[3,8,16]],"Y":[[1,16,32]]})"), 3u * 8192);
  EXPECT_EQ(paddle_flops("matmul_v2 compute", R"({"X": [[8, 16]], "Y": [[16, 32]]})"), 8192u);
  EXPECT_EQ(paddle_flops("matmul_v2", R"({"x": [[8, 16]], "y": [[16, 32]]})"), 0u);
  EXPECT_EQ(paddle_flops("elementwise_mul", R"({"X": [[2, 1, 5]], "Y": [[3, 1]]})"), 30u);
  EXPECT_EQ(paddle_flops("gelu dygraph", R"({"X": [[10, 2]]})"), 100u);
  EXPECT_EQ(paddle_flops("layer_norm", R"({"X": [[10, 2]], "Scale": [[2]]})"), 140u);
  EXPECT_EQ(paddle_flops("softmax", R"({"X": [[7]]})"), 21u);
  EXPECT_EQ(paddle_flops("relu", R"({"X": [[7, 2]]})"), 14u);
  EXPECT_EQ(paddle_flops("conv2d", R"({"Input": [[1, 3, 8, 8]], "Filter": [[4, 3, 3, 3]]})"), 0u);
  EXPECT_EQ(paddle_flops("dropout", R"({"X": [[7, 2]]})"), 0u);
}

TEST(PaddleFlops, AreZeroForAnythingOdd) {
  for (const char* shapes : {"", "{}", "[]", R"({"X": )", R"({"X": []})", R"({"X": [[]]})",
                             R"({"X": [["a"]]})", R"({"X": [[1, 2], "Y": 3})"}) {
    EXPECT_EQ(paddle_flops("matmul", shapes), 0u) << shapes;
  }
}

TEST(PaddleKernelNames, LoseTheirArgumentsBehindTemplates) {
  EXPECT_EQ(paddle_kernel_name("void a::b<float, c<1> >(float*, int)", 90),
            "void a::b<float, c<1> >");
  EXPECT_EQ(paddle_kernel_name("phi::NMSKernel(int, float*)", 90), "phi::NMSKernel(int, float*)");
  EXPECT_EQ(paddle_kernel_name("f<int>", 90), "f<int>");
  EXPECT_EQ(paddle_kernel_name("f<int>(", 90), "f<int>(");
  EXPECT_EQ(paddle_kernel_name("f<g>(h<i>(j))", 90), "f<g>(h<i>");
  EXPECT_EQ(paddle_kernel_name("<x>(y)", 90), "<x>(y)");
  EXPECT_EQ(paddle_kernel_name("f<a>(b) [clone]", 90), "f<a>");
  EXPECT_EQ(paddle_kernel_name(std::string(95, 'k'), 90), std::string(87, 'k') + "...");
  EXPECT_EQ(paddle_kernel_name(std::string(90, 'k'), 90), std::string(90, 'k'));
}

TEST(PaddleLayout, CountsCharactersNotBytes) {
  EXPECT_EQ(character_count("caf\xC3\xA9"), 4u);
  EXPECT_EQ(first_characters("\xC3\xA9tude", 2), "\xC3\xA9t");
  PaddleTable table({6, 3});
  table.title("AB");
  table.row({"caf\xC3\xA9", "long one"});
  EXPECT_EQ(table.take(), "----AB-----\ncaf\xC3\xA9    long one  \n\n\n");
}

// A training of PyTorch: the backward pass has a thread of its own.
class TorchTraining {
 public:
  TorchTraining(int rounds, bool steps) {
    TraceBuilder& builder = writer_.builder();
    builder.meta().format = "kineto";
    Track other;
    other.pid = 100;
    other.tid = 102;
    autograd_ = builder.add_track(other);
    for (int i = 0; i < rounds; ++i) {
      const double at = 1000.0 * i;
      if (steps) writer_.host("ProfilerStep#" + std::to_string(i), SliceKind::Step, at, 990);
      writer_.host("enumerate(DataLoader)#_Iter.__next__", SliceKind::DataLoader, at + 5, 50);
      writer_.host("aten::randn", SliceKind::Operator, at + 60, 10);
      const SliceId linear = writer_.host("aten::linear", SliceKind::Operator, at + 100, 100);
      writer_.host("aten::relu", SliceKind::Operator, at + 210, 10);  // needs no gradient
      const SliceId loss = writer_.host("aten::nll_loss", SliceKind::Operator, at + 250, 50);
      const SliceId loss_back =
          backward("autograd::engine::evaluate_function: NllLossBackward0", at + 400, 100);
      const SliceId linear_back =
          backward("autograd::engine::evaluate_function: AddmmBackward0", at + 510, 190);
      writer_.host("Optimizer.step#SGD.step", SliceKind::Optimizer, at + 800, 100);
      pairs_.push_back({linear, linear_back});
      pairs_.push_back({loss, loss_back});
    }
  }

  Trace finish() {
    writer_.builder().nest(1);
    for (const auto& [forward, backward] : pairs_)
      writer_.builder().add_backward_link(forward, backward);
    return writer_.builder().finish();
  }

 private:
  SliceId backward(std::string_view name, double start, double duration) {
    TraceBuilder& builder = writer_.builder();
    return builder.add_slice(static_cast<Nanos>(start * 1000), static_cast<Nanos>(duration * 1000),
                             autograd_, builder.intern(name), SliceKind::Operator);
  }

  TraceWriter writer_;
  TrackId autograd_;
  std::vector<std::pair<SliceId, SliceId>> pairs_;
};

TEST(PaddlePhasesOfTorch, ComeFromItsLinks) {
  for (const bool with_steps : {true, false}) {
    const Trace trace = TorchTraining(3, with_steps).finish();
    const PaddleTree tree(trace);
    const PaddleStats stats = paddle_stats(tree, false);
    EXPECT_EQ(stats.phases.cpu[0].calls, with_steps ? 3u : 1u);
    EXPECT_EQ(stats.phases.cpu[1].calls, 3u);
    EXPECT_EQ(stats.phases.cpu[2].calls, 3u);  // from aten::linear to aten::nll_loss
    EXPECT_EQ(stats.phases.cpu[2].total, 3 * 200'000);
    EXPECT_EQ(stats.phases.cpu[3].calls, 3u);  // from the first backward operator to the last
    EXPECT_EQ(stats.phases.cpu[3].total, 3 * 300'000);
    EXPECT_EQ(stats.phases.cpu[4].total, 3 * 100'000);
    EXPECT_GT(stats.total, stats.phases.cpu[1].total + stats.phases.cpu[2].total +
                               stats.phases.cpu[3].total + stats.phases.cpu[4].total);
  }
}

TEST(PaddlePhasesOfTorch, GiveTheStepTheWorkOfTheOtherThread) {
  const Trace trace = testing::small_trace();
  const PaddleTree tree(trace);
  const PaddleStats stats = paddle_stats(tree, false);
  EXPECT_EQ(stats.phases.cpu[0].calls, 2u);
  EXPECT_EQ(stats.phases.gpu[0].total, 2 * 205'000);
  EXPECT_EQ(stats.phases.step_general_gpu, 2 * 267'000);
}

TEST(PaddleSummary, IsSafeAndFiniteForAnyTrace) {
  for (const bool empty : {false, true}) {
    const Trace trace = empty ? TraceBuilder().finish() : testing::small_trace();
    for (const char* view : {"device", "overview", "model", "distribution", "operator", "kernel",
                             "memory_manipulation", "userdefined", "memory"}) {
      PaddleRequest request;
      request.views = {view};
      const std::string text = paddle_summary(trace, request);
      EXPECT_EQ(text.find("nan"), std::string::npos) << view;
      EXPECT_EQ(text.find("inf "), std::string::npos) << view;
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << view;
    }
  }
}

TEST(PaddleSummary, OfPaddleStopsBehindDevicesWithoutSteps) {
  TraceWriter writer;
  writer.builder().meta().format = "paddle";
  writer.host("relu", SliceKind::Operator, 0, 10);
  const Trace trace = writer.finish();
  EXPECT_EQ(paddle_summary(trace, {}).find("Operator Summary"), std::string::npos);
  PaddleRequest request;
  request.views = {"operator"};
  EXPECT_NE(paddle_summary(trace, request).find("relu"), std::string::npos);
}

}  // namespace
}  // namespace sonde
