#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

namespace sonde::test {

// Events at random: ids and times from small ranges, so that borders and doubles are common.
class RandomEvents {
 public:
  explicit RandomEvents(std::uint32_t seed) : random_(seed) {}

  std::string kineto() {
    std::string out = "{\"schemaVersion\": 1, \"with_stack\": 1, \"traceEvents\": [\n";
    events_ = &out;
    names();
    for (int i = 0; i < 6; ++i)
      slice("user_annotation", "ProfilerStep#" + std::to_string(i), 1, i * 100, 95, "");
    for (int i = 0; i < 300; ++i) any_event();
    return finish(out);
  }

  std::string chrome() {
    std::string out = "[\n";
    events_ = &out;
    names();
    for (int i = 0; i < 200; ++i) {
      switch (below(6)) {
        case 0:
        case 1:
          slice(below(2) == 0 ? "a" : "b", "f" + number(5), below(3), below(600), length(), "");
          break;
        case 2:
          flow();
          break;
        case 3:
          half("B", "E");
          break;
        case 4:
          half("b", "e");
          break;
        default:
          point();
      }
    }
    return finish(out);
  }

 private:
  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  std::string number(int limit) { return std::to_string(below(limit)); }
  int length() { return below(4) == 0 ? below(300) : below(4) == 0 ? 0 : below(30); }

  void add(const std::string& event) { *events_ += "{" + event + "},\n"; }
  std::string finish(std::string& out) {
    out += "{\"ph\": \"i\", \"name\": \"end\", \"ts\": 1, \"pid\": 1, \"tid\": 1}]";
    if (out[0] == '{') out += "}";
    return out;
  }
  void names() {
    add(R"("ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"})");
    add(R"("ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"})");
    add(R"("ph": "M", "name": "process_sort_index", "pid": 1, "tid": 0, "args": {"sort_index": 3})");
  }
  std::string place(int tid, int time) {
    return "\"pid\": 1, \"tid\": " + std::to_string(tid) + ", \"ts\": " + std::to_string(time) +
           ".000";
  }
  void slice(const std::string& category, const std::string& name, int tid, int time, int duration,
             const std::string& args) {
    add("\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name + "\", " +
        place(tid, time) + ", \"dur\": " + std::to_string(duration) + ", \"args\": {" + args + "}");
    last_tid_ = tid;
    last_time_ = time;
  }
  void flow() {
    // Right behind its slice, or anywhere.
    const bool beside = below(2) == 0;
    const char* phases[] = {"s", "t", "f"};
    add("\"ph\": \"" + std::string(phases[below(3)]) + "\", \"cat\": \"" +
        (below(3) == 0 ? "other" : "fwdbwd") + "\", \"name\": \"arrow\", \"id\": " + number(12) +
        ", " + (beside ? place(last_tid_, last_time_) : place(below(3), below(650))));
  }
  // Halves come in the order of time.
  void half(const std::string& begin, const std::string& end) {
    half_time_ += below(8);
    const bool ends = below(2) == 0;
    add("\"ph\": \"" + (ends ? end : begin) + "\", \"cat\": \"h\", \"id\": 7, \"name\": \"half" +
        number(3) + "\", " + place(5 + below(2), half_time_) + ", \"args\": {\"k\": " + number(9) +
        "}");
  }
  void point() {
    const int what = below(3);
    if (what == 0)
      add("\"ph\": \"i\", \"name\": \"mark\", " + place(below(3), below(650)) +
          ", \"args\": {\"x\": 1}");
    else if (what == 1)
      add("\"ph\": \"C\", \"name\": \"count\", " + place(0, below(650)) +
          ", \"args\": {\"v\": " + number(50) + "}");
    else
      add("\"ph\": \"i\", \"name\": \"[memory]\", " + place(1, below(650)) +
          ", \"args\": {\"Bytes\": " + number(512) + ", \"Addr\": 16, \"Device Type\": 0}");
  }
  void any_event() {
    const std::string external = "\"External id\": " + std::to_string(1000 + below(60));
    const std::string correlation = "\"correlation\": " + number(40);
    switch (below(9)) {
      case 0:
      case 1:
        slice("cpu_op", "aten::op" + number(6), 1 + below(2), below(600), length(),
              external + ", \"Sequence number\": " + number(20) +
                  ", \"Fwd thread id\": " + number(2) + ", \"Input Dims\": [[" + number(4) + "]]");
        break;
      case 2:
        slice("cuda_runtime", "cudaLaunchKernel", 1 + below(2), below(600), length(),
              correlation + ", " + external);
        break;
      case 3:
      case 4:
        slice(below(4) == 0 ? "gpu_memcpy" : "kernel", "kernel" + number(4), 7, below(650),
              length(), correlation + ", \"device\": 0, \"stream\": 7, \"grid\": [1, 2, 3]");
        break;
      case 5:
        slice("python_function", "file.py(1): f" + number(3), 1, below(600), length() * 2,
              "\"Python id\": " + number(99));
        break;
      case 6:
        flow();
        break;
      case 7:
        below(3) == 0 ? half("B", "E") : slice("strange", "s", 2, below(600), length(), "\"a\": 1");
        break;
      default:
        point();
    }
  }

  std::mt19937 random_;
  std::string* events_ = nullptr;
  int last_tid_ = 1;
  int last_time_ = 0;
  int half_time_ = 0;
};

}  // namespace sonde::test
