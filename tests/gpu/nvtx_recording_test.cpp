// A process that makes NVTX calls, and what is recorded of them.

#include "tests/gpu/recorded_programs.hpp"

namespace sonde::testing {
namespace {

class NvtxRecording : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()).empty()) GTEST_SKIP() << "NVTX's headers are not here";
    const ProcessResult run = run_process(
        {GetParam()}, {},
        {{"SONDE_RUN_DIR", folder_.path()}, {"NVTX_INJECTION64_PATH", SONDE_NVTX_LIBRARY}});
    ASSERT_EQ(run.status, 0) << run.err;
    depths_ = run.out;
    trace_ = load_only(folder_);
  }

  SliceId only(std::string_view name) const {
    const std::vector<SliceId> found = slices_named(trace_, name);
    EXPECT_EQ(found.size(), 1u) << name;
    return found.empty() ? SliceId() : found.front();
  }
  std::string_view text(SliceId slice, std::string_view key) const {
    const ArgumentValue value = find_argument(trace_, slice, trace_.strings().find(key));
    return value && value.text().valid() ? trace_.text(value.text()) : "";
  }

  RunFolder folder_;
  std::string depths_;
  Trace trace_;
};

TEST_P(NvtxRecording, ReturnsDepthsByDomain) { EXPECT_EQ(depths_, "0 1 1 1 1 0 0 0 -1 \n"); }

TEST_P(NvtxRecording, RangesNestOnTheirThread) {
  const SliceId outer = only("outer");
  const SliceId wide = only("wide \u00e4\u20ac\U0001F600");
  EXPECT_EQ(trace_.slices().parent(wide), outer);
  EXPECT_GE(trace_.slices().duration(wide), 2'000'000);
  EXPECT_EQ(trace_.slices().kind(outer), SliceKind::UserRange);
  EXPECT_EQ(trace_.text(*trace_.categories().find(outer)), "NVTX");
  const Track& track = trace_.track(trace_.slices().track(outer));
  EXPECT_EQ(trace_.text(track.name), "the main thread");
  EXPECT_NE(trace_.slices().track(only("on the other thread")), trace_.slices().track(outer));
}

TEST_P(NvtxRecording, KeepsPayloadCategoryAndColour) {
  const SliceId slice = only("with payload");
  EXPECT_DOUBLE_EQ(find_argument(trace_, slice, trace_.strings().find("payload")).number(trace_, 0),
                   2.5);
  EXPECT_EQ(text(slice, "category"), "input");
  EXPECT_EQ(text(slice, "color"), "#FF00CC80");
}

TEST_P(NvtxRecording, DomainsNestForThemselves) {
  const SliceId registered = only("registered");
  const SliceId outer = only("outer");
  EXPECT_EQ(trace_.text(*trace_.categories().find(registered)), "my.library");
  EXPECT_EQ(find_argument(trace_, registered, trace_.strings().find("payload")).integer(trace_, 0),
            42);
  EXPECT_GT(trace_.slices().end(registered), trace_.slices().end(outer));
}

TEST_P(NvtxRecording, MarksAreMarkers) {
  std::vector<std::string> names;
  for (const Marker& marker : trace_.markers()) names.emplace_back(trace_.text(marker.name));
  EXPECT_EQ(names, (std::vector<std::string>{"a mark", "a mark of the domain"}));
}

TEST_P(NvtxRecording, RangesMayEndElsewhereOrNeverByThemselves) {
  EXPECT_EQ(trace_.track(trace_.slices().track(only("across threads"))).type, TrackType::Async);
  EXPECT_GE(trace_.slices().duration(only("across threads")), 1'000'000);
  only("never ended");
  only("never popped");
}

INSTANTIATE_TEST_SUITE_P(OwnClient, NvtxRecording, ::testing::Values(SONDE_NVTX_CLIENT));
INSTANTIATE_TEST_SUITE_P(NvidiaHeaders, NvtxRecording, ::testing::Values(SONDE_NVTX_REAL_CLIENT));

TEST(NvtxWithoutRecording, TheProgramRunsAsEver) {
  const ProcessResult run =
      run_process({SONDE_NVTX_CLIENT}, {}, {{"NVTX_INJECTION64_PATH", SONDE_NVTX_LIBRARY}});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "0 1 1 1 1 0 0 0 -1 \n");
}

}  // namespace
}  // namespace sonde::testing
