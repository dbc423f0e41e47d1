#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::test {

// What PaddlePaddle's profiler knows of a recording: trees of host events, with calls, device work
// and memory. Times are nanoseconds since the epoch.
struct PaddleEvents {
  static constexpr std::uint64_t kEpoch = 1'700'000'000'123'456'789;
  enum Type : int {
    Operator,
    Dataloader,
    ProfileStep,
    CudaRuntime,
    Kernel,
    Memcpy,
    Memset,
    UserDefined,
    OperatorInner,
    Forward,
    Backward,
    Optimization,
    Communication,
    PythonOp,
    PythonUserDefined,
    DygraphKernelLaunch,
  };

  struct Device {
    Type type = Kernel;
    std::string name;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t device = 0;
    std::uint64_t stream = 7;
    std::uint64_t bytes = 0;
  };
  struct Call {
    std::string name;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t correlation = 0;
    std::vector<Device> devices;
  };
  struct Memory {
    std::uint64_t time = 0;
    int type = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::string place;
    std::int64_t allocated = 0;
    std::int64_t reserved = 0;
    std::int64_t peak_allocated = 0;
    std::int64_t peak_reserved = 0;
  };
  using Shapes = std::vector<std::pair<std::string, std::vector<std::vector<std::uint64_t>>>>;
  struct Node {
    std::string name;
    Type type = Operator;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::vector<Node> children;
    std::vector<Call> calls;
    std::vector<Memory> memory;
    Shapes shapes;
    std::string stack;
    double blocks_per_sm = 2;

    Node& child(std::string child_name, Type child_type, std::uint64_t from, std::uint64_t to) {
      children.push_back({std::move(child_name), child_type, from, to, {}, {}, {}, {}, {}});
      return children.back();
    }
    Call& call(std::string call_name, std::uint64_t from, std::uint64_t to, std::uint32_t id) {
      calls.push_back({std::move(call_name), from, to, id, {}});
      return calls.back();
    }
    // A launch with one piece of device work.
    Node& launch(std::uint32_t id, std::uint64_t from, std::uint64_t to, Device device) {
      call("cudaLaunchKernel_v7000", from, to, id).devices.push_back(std::move(device));
      return *this;
    }
  };
  struct Thread {
    std::uint64_t id = 0;
    std::string name;
    Node root;
  };

  std::uint64_t pid = 4711;
  std::vector<Thread> threads;  // by id, ascending
  bool with_nan = false;
  std::string system_cpu = "0.250000";
  std::string process_cpu = "1.500000";

  Thread& thread(std::uint64_t id, std::string name = {}) {
    Thread added;
    added.id = id;
    added.name = std::move(name);
    added.root.name = "root node";
    threads.push_back(std::move(added));
    return threads.back();
  }
};

}  // namespace sonde::test
