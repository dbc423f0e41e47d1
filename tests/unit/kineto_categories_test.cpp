#include "import/kineto/categories.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace sonde {
namespace {

struct Row {
  const char* category;
  SliceKind kind;
  bool annotation = false;
};

// Every category that a Kineto trace has had, from torch 1.8 to today.
constexpr Row kRows[] = {
    {"Operator", SliceKind::Operator},
    {"cpu_op", SliceKind::Operator},
    {"hpu_op", SliceKind::Operator},
    {"user_annotation", SliceKind::UserRange, true},
    {"User", SliceKind::DeviceRange, true},
    {"gpu_user_Annotation", SliceKind::DeviceRange, true},
    {"gpu_user_annotation", SliceKind::DeviceRange, true},
    {"Kernel", SliceKind::Kernel},
    {"kernel", SliceKind::Kernel},
    {"Memcpy", SliceKind::Memcpy},
    {"gpu_memcpy", SliceKind::Memcpy},
    {"Memset", SliceKind::Memset},
    {"gpu_memset", SliceKind::Memset},
    {"Runtime", SliceKind::Runtime},
    {"cuda_runtime", SliceKind::Runtime},
    {"cuda_driver", SliceKind::Driver},
    {"python_function", SliceKind::PythonFunction},
    {"Python", SliceKind::PythonFunction},
    {"overhead", SliceKind::Overhead},
    {"cuda_sync", SliceKind::Sync},
    {"cuda_event", SliceKind::Sync},
    {"cuda_profiler_range", SliceKind::Other},
    {"hardware_counters", SliceKind::Other},
    {"Trace", SliceKind::Span},
    {"Net", SliceKind::Other},
    {"external_correlation", SliceKind::Other},
    {"mtia_runtime", SliceKind::Runtime},
    {"mtia_ccp_events", SliceKind::Kernel},
    {"mtia_insight", SliceKind::Other},
    {"mtia_counters", SliceKind::Other},
    {"glow_runtime", SliceKind::Runtime},
    {"xpu_runtime", SliceKind::Runtime},
    {"xpu_driver", SliceKind::Driver},
    {"xpu_sync", SliceKind::Sync},
    {"xpu_scope_profiler", SliceKind::Other},
    {"collective_comm", SliceKind::Communication},
    {"privateuse1_runtime", SliceKind::Runtime},
    {"privateuse1_driver", SliceKind::Driver},
};

TEST(KinetoCategories, EveryCategoryOfEveryEraIsKnownWhateverItsCase) {
  for (const Row& row : kRows) {
    std::string upper = row.category;
    std::string lower = row.category;
    for (char& c : upper) c = static_cast<char>(std::toupper(c));
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    for (const std::string& text : {std::string(row.category), upper, lower}) {
      const KinetoCategory got = kineto_category(text);
      EXPECT_TRUE(got.known) << text;
      EXPECT_EQ(got.kind, row.kind) << text;
      EXPECT_EQ(got.annotation, row.annotation) << text;
    }
  }
}

TEST(KinetoCategories, OthersAreUnknownHoweverLong) {
  for (const std::string& text :
       {std::string(), std::string("kernels"), std::string("cpu op"), std::string(100'000, 'k')}) {
    EXPECT_FALSE(kineto_category(text).known) << text.substr(0, 20);
    EXPECT_EQ(kineto_category(text).kind, SliceKind::Other);
  }
}

TEST(KinetoCategories, NamesMakeStepsLoadersOptimizersAndCollectives) {
  const auto by_name = [](const char* name) {
    return kineto_kind_by_name(SliceKind::UserRange, name);
  };
  EXPECT_EQ(by_name("ProfilerStep#12"), SliceKind::Step);
  EXPECT_EQ(by_name("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
            SliceKind::DataLoader);
  EXPECT_EQ(by_name("enumerate(DataPipe)#Mapper"), SliceKind::DataLoader);
  EXPECT_EQ(by_name("Optimizer.step#SGD.step"), SliceKind::Optimizer);
  EXPECT_EQ(by_name("Optimizer.zero_grad#SGD.zero_grad"), SliceKind::Optimizer);
  EXPECT_EQ(by_name("nccl:all_reduce"), SliceKind::Communication);
  EXPECT_EQ(by_name("gloo:broadcast"), SliceKind::Communication);
  EXPECT_EQ(by_name("my range"), SliceKind::UserRange);
  EXPECT_EQ(kineto_kind_by_name(SliceKind::PythonFunction, "nn.Module: Conv2d_3"),
            SliceKind::Module);
  EXPECT_EQ(kineto_kind_by_name(SliceKind::PythonFunction, "train.py(3): main"),
            SliceKind::PythonFunction);
  EXPECT_EQ(kineto_kind_by_name(SliceKind::Kernel, "nccl:all_reduce"), SliceKind::Kernel);
}

}  // namespace
}  // namespace sonde
