// Payloads of NVTX events: extended ones of a program that registers schemas, and the plain ones of
// NVIDIA's interface for C++.

#include "tests/gpu/recorded_programs.hpp"

namespace sonde::testing {
namespace {

class NvtxRun : public ::testing::Test {
 protected:
  void record(const std::string& program) {
    const ProcessResult run = run_process(
        {program}, {},
        {{"SONDE_RUN_DIR", folder_.path()}, {"NVTX_INJECTION64_PATH", SONDE_NVTX_LIBRARY}});
    ASSERT_EQ(run.status, 0) << run.err;
    output_ = run.out;
    trace_ = load_only(folder_);
  }

  template <class Arg>
  std::string told(const Arg& arg) const {
    std::string out = std::string(trace_.text(arg.key())) + "=";
    switch (arg.type()) {
      case ArgType::Integer:
        return out + std::to_string(arg.integer());
      case ArgType::Real:
        return out + std::to_string(arg.real());
      default:
        return out + std::string(trace_.text(arg.text()));
    }
  }
  // The arguments of the slices of that name, one text for each.
  std::vector<std::string> slices(std::string_view name) const {
    std::vector<std::string> out;
    for (const SliceId slice : slices_named(trace_, name)) {
      std::string& all = out.emplace_back();
      for_each_argument(trace_, slice, [&](const auto& arg) { all += told(arg) + "; "; });
    }
    return out;
  }
  std::vector<std::string> markers(std::string_view name) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < trace_.markers().size(); ++i) {
      if (trace_.text(trace_.markers()[i].name) != name) continue;
      std::string& all = out.emplace_back();
      for (const MarkerArg& arg :
           trace_.marker_arguments().of(MarkerId(static_cast<std::uint32_t>(i)))) {
        all += told(arg) + "; ";
      }
    }
    return out;
  }
  using Texts = std::vector<std::string>;

  RunFolder folder_;
  std::string output_;
  Trace trace_;
};

class NvtxPayloads : public NvtxRun, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()).empty()) GTEST_SKIP() << "NVTX's headers are not here";
    record(GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(OwnClient, NvtxPayloads, ::testing::Values(SONDE_NVTX_PAYLOAD_CLIENT));
INSTANTIATE_TEST_SUITE_P(NvidiaHeaders, NvtxPayloads,
                         ::testing::Values(SONDE_NVTX_REAL_PAYLOAD_CLIENT));

TEST_P(NvtxPayloads, BecomeArguments) {
  EXPECT_EQ(output_, "1 0 0 0 0 0 0 \n");
  const std::string collective =
      "communicator=18446744073709551600; Message size [bytes]=4096; "
      "Reduction operation=product; flags=async|fused; ";
  EXPECT_EQ(slices("collective"), Texts{collective + "payload=-3; "});
  EXPECT_EQ(slices("ncclAllReduce"), Texts{collective});
}

TEST_P(NvtxPayloads, NestArraysTextsAndMoreThanThereIsRoomFor) {
  EXPECT_EQ(slices("named by its payload"),
            Texts{"at.x=1.250000; at.y=-2.000000; name=eight; sizes=[1, -2, 3]; "
                  "numbers=[0.5, 1.5]; more of the payload=byte: ab, large: 77, address: 0x4d; "
                  "payload=-3; "});
  EXPECT_EQ(markers("dynamic"), Texts{"length=3; text=abc; list=[9, 8]; last=7; "});
  EXPECT_EQ(markers("chooser"), Texts{"which=1; value.real=0.750000; "});
}

TEST_P(NvtxPayloads, ThatMakeNoSenseAreCounted) {
  EXPECT_EQ(markers("(no name)"), (Texts{"payload lost=1; ", "payload lost=1; "}));
  EXPECT_EQ(markers("wrong address"), Texts{"payload lost=1; "});
  EXPECT_EQ(markers("in itself").size() + markers("huge").size(), 2u);
  EXPECT_EQ(markers("NVTX event with a time of its own, not recorded"), Texts{"payload lost=1; "});
  std::uint64_t lost = 0;
  for (const LossLedger::Entry& entry : trace_.losses().entries()) {
    if (entry.name == "nvtx_payloads") lost = entry.count;
  }
  EXPECT_GE(lost, 6u);
  EXPECT_LT(lost, 100u);
}

class NvtxCpp : public NvtxRun {
 protected:
  void SetUp() override {
    if (std::string(SONDE_NVTX_CPP_CLIENT).empty()) GTEST_SKIP() << "NVTX's headers are not here";
    record(SONDE_NVTX_CPP_CLIENT);
  }
};

TEST_F(NvtxCpp, RangesMarksAndEachTypeOfPayload) {
  EXPECT_EQ(slices("scoped"), Texts{""});
  EXPECT_EQ(slices("registered once"), Texts{"payload=-42; category=loading; color=#FF7FFF00; "});
  EXPECT_EQ(slices("unique"), Texts{""});
  EXPECT_EQ(slices("function"), Texts{""});
  EXPECT_EQ(markers("each type"),
            (Texts{"payload=18446744073709551615; ", "payload=-1; ", "payload=2.500000; ",
                   "payload=4000000000; ", "payload=-5; ", "payload=0.250000; "}));
  const SliceId inner = slices_named(trace_, "registered once").front();
  EXPECT_EQ(trace_.text(*trace_.categories().find(inner)), "a C++ program");
}

}  // namespace
}  // namespace sonde::testing
