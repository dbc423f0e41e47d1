#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/paddle_events.hpp"

namespace sonde::test {

// Writes traces as PaddlePaddle's profiler does, as JSON and as a dump: the same events in the same
// order, with the same roundings and the same lack of escapes. Times are nanoseconds since the
// epoch of the writer.
class PaddleWriter : public PaddleEvents {
 public:
  std::string json() const {
    std::string out =
        "{\n  \"displayTimeUnit\": \"ms\",\n  \"schemaVersion\": \"1.0.2\",\n"
        "  \"span_indx\": \"0\",\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": "
        "\"Written GPU\", \"totalGlobalMem\": 17179869184,\n      \"computeMajor\": 8, "
        "\"computeMinor\": 0, \"maxThreadsPerMultiprocessor\": 2048,\n      \"warpSize\": 32, "
        "\"smCount\": 80\n    }\n  ],\n  \"traceEvents\": [";
    const std::uint64_t start = trace_start();
    std::set<std::pair<std::uint64_t, std::uint64_t>> streams;
    for (const Thread& thread : threads) {
      for (const Node* node : breadth_first(thread)) {
        if (node != &thread.root) write_host(out, *node, thread.id, start);
        for (const Call& call : node->calls) {
          write_call(out, call, thread.id, start);
          for (const Device& device : call.devices) {
            write_device(out, device, call.correlation, *node, start);
            streams.insert({device.device, device.stream});
          }
        }
        for (const Memory& memory : node->memory) write_memory(out, memory, thread.id);
      }
    }
    for (const Thread& thread : threads) {
      for (const char* lane : {"Python", "C++"}) {
        print(out,
              "\n  {\n    \"name\": \"thread_name\", \"pid\": %llu, \"tid\": \"%llu(%s)\",\n"
              "    \"ph\": \"M\",\n    \"args\": {\n      \"name\": \"thread %llu:%s(%s)\"\n    }\n"
              "  },",
              pid, thread.id, lane, thread.id, thread.name.c_str(), lane);
      }
    }
    for (const auto& [device, stream] : streams) {
      print(
          out,
          "\n  {\n    \"name\": \"process_name\", \"pid\": %llu, \"tid\": %llu,\n    \"ph\": \"M\","
          "\n    \"args\": {\n      \"name\": \"Device %llu (GPU)\"\n    }\n  },",
          device, stream, device);
    }
    out += "\n  {}],\n  \"ExtraInfo\": {\n    \"System Cpu Utilization\": \"" + system_cpu +
           "\",\n    \"Process Cpu Utilization\": \"" + process_cpu + "\"";
    for (const Thread& thread : threads) {
      if (!thread.name.empty())
        print(out, ",\n    \"%llu\": \"%s\"", thread.id, thread.name.c_str());
    }
    return out + "\n  }\n}\n";
  }

  std::string dump() const {
    std::string out;
    protozero::pbf_writer file(out);
    file.add_string(1, "1.0.2");
    file.add_uint32(2, 0);
    for (const Thread& thread : threads) {
      protozero::pbf_writer tree(file, 3);
      tree.add_uint64(1, thread.id);
      std::map<const Node*, std::int64_t> ids;
      std::map<const Node*, std::int64_t> parents = {{&thread.root, -1}};
      for (const Node* node : breadth_first(thread)) {
        const auto id = static_cast<std::int64_t>(ids.size());
        ids[node] = id;
        for (const Node& child : node->children) parents[&child] = id;
        protozero::pbf_writer message(tree, 2);
        message.add_int64(1, id);
        message.add_int64(2, parents[node]);
        dump_node(message, *node, thread, node == &thread.root);
      }
    }
    const auto info = [&](const std::string& key, const std::string& value) {
      protozero::pbf_writer entry(file, 4);
      entry.add_string(1, key);
      entry.add_string(2, value);
    };
    info("System Cpu Utilization", system_cpu);
    info("Process Cpu Utilization", process_cpu);
    for (const Thread& thread : threads) {
      if (!thread.name.empty()) info(std::to_string(thread.id), thread.name);
    }
    protozero::pbf_writer device(file, 5);
    device.add_uint32(1, 0);
    device.add_string(2, "Written GPU");
    device.add_uint64(3, 17179869184);
    device.add_uint32(4, 8);
    device.add_uint32(5, 0);
    device.add_uint32(7, 2048);
    device.add_uint32(10, 32);
    device.add_uint32(13, 80);
    device.commit();
    return out;
  }

 private:
  static constexpr const char* kTypes[] = {"Operator",
                                           "Dataloader",
                                           "ProfileStep",
                                           "CudaRuntime",
                                           "Kernel",
                                           "Memcpy",
                                           "Memset",
                                           "UserDefined",
                                           "OperatorInner",
                                           "Forward",
                                           "Backward",
                                           "Optimization",
                                           "Communication",
                                           "PythonOp",
                                           "PythonUserDefined",
                                           "DygraphKernelLaunch"};
  static constexpr const char* kMemoryTypes[] = {"Allocate", "Free", "ReservedAllocate",
                                                 "ReservedFree"};

  template <class... Values>
  static void print(std::string& out, const char* format, Values... values) {
    char text[4096];
    std::snprintf(text, sizeof text, format, values...);
    out += text;
  }

  static std::vector<const Node*> breadth_first(const Thread& thread) {
    std::vector<const Node*> order = {&thread.root};
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const Node& child : order[i]->children) order.push_back(&child);
    }
    return order;
  }

  std::uint64_t trace_start() const {
    std::uint64_t start = UINT64_MAX;
    for (const Thread& thread : threads) {
      if (!thread.root.children.empty())
        start = std::min(start, thread.root.children.front().start);
    }
    return start == UINT64_MAX ? 0 : start;
  }

  // Every time passes through single precision.
  static double micros(std::uint64_t nanos) {
    return static_cast<double>(static_cast<float>(nanos) / 1000.0f);
  }

  static std::string shown(const std::string& name, std::uint64_t nanos) {
    char text[64];
    if (nanos > 1'000'000)
      std::snprintf(text, sizeof text, "[%.3f ms]", micros(nanos) / 1000);
    else
      std::snprintf(text, sizeof text, "[%.3f us]", micros(nanos));
    return name + text;
  }

  // The members up to "args", without the name: it may be longer than any buffer.
  void head(std::string& out, const std::string& name, std::uint64_t process,
            const std::string& thread, std::uint64_t from, std::uint64_t to, Type type) const {
    out += "\n  {\n    \"name\": \"" + shown(name, to - from) + "\",";
    print(out,
          " \"pid\": %llu, \"tid\": %s,\n    \"ts\": %llu, \"dur\": %.3f,\n    \"ph\": \"X\", "
          "\"cat\": \"%s\",\n    \"cname\": \"thread_state_runnable\",\n    \"args\": {\n",
          process, thread.c_str(), (kEpoch + from) / 1000, micros(to - from), kTypes[type]);
  }

  static void span(std::string& out, std::uint64_t from, std::uint64_t to, std::uint64_t start) {
    print(out, "      \"start_time\": \"%.3f us\",\n      \"end_time\": \"%.3f us\"",
          micros(from - start), micros(to - start));
  }

  void write_host(std::string& out, const Node& node, std::uint64_t tid,
                  std::uint64_t start) const {
    const bool python = node.type == ProfileStep || node.type == Forward || node.type == Backward ||
                        node.type == Dataloader || node.type == Optimization ||
                        node.type == PythonOp || node.type == PythonUserDefined;
    const std::string thread = "\"" + std::to_string(tid) + (python ? "(Python)\"" : "(C++)\"");
    head(out, node.name, pid, thread, node.start, node.end, node.type);
    span(out, node.start, node.end, start);
    if (node.type == Operator) {
      out += ",\n      \"input_shapes\": {";
      for (const auto& [key, list] : node.shapes) {
        out += (&key == &node.shapes.front().first ? "" : ", ") + ("\"" + key + "\": [");
        for (std::size_t i = 0; i < list.size(); ++i) {
          out += i == 0 ? "[" : ", [";
          for (std::size_t j = 0; j < list[i].size(); ++j)
            out += (j == 0 ? "" : ", ") + std::to_string(list[i][j]);
          out += "]";
        }
        out += "]";
      }
      out += "},\n      \"input_dtypes\": {},\n      \"callstack\": \"" + node.stack + "\"";
    }
    out += "\n    }\n  },";
  }

  void write_call(std::string& out, const Call& call, std::uint64_t tid,
                  std::uint64_t start) const {
    const std::string thread = "\"" + std::to_string(tid) + "(C++)\"";
    head(out, call.name, pid, thread, call.start, call.end, CudaRuntime);
    print(out, "      \"correlation id\": %u,\n", call.correlation);
    span(out, call.start, call.end, start);
    out += "\n    }\n  },";
    print(out,
          "\n  {\n    \"name\": \"launch\", \"id\": %u, \"pid\": %llu, \"tid\": %s,\n    \"ts\": "
          "%llu,\n    \"ph\": \"s\", \"cat\": \"async\"\n  },",
          call.correlation, pid, thread.c_str(), (kEpoch + (call.start + call.end) / 2) / 1000);
  }

  void write_device(std::string& out, const Device& device, std::uint32_t correlation,
                    const Node& node, std::uint64_t start) const {
    head(out, device.name, device.device, std::to_string(device.stream), device.start, device.end,
         device.type);
    span(out, device.start, device.end, start);
    if (device.type != Memcpy)
      print(out, ",\n      \"device\": %llu, \"context\": 1", device.device);
    print(out, ",\n      \"stream\": %llu, \"correlation id\": %u", device.stream, correlation);
    if (device.type == Kernel) {
      print(out,
            ",\n      \"registers per thread\": 32, \"shared memory\": 1024,\n      \"blocks per "
            "SM\": %s, \"warps per SM\": %f,\n      \"grid\": [160, 1, 1], \"block\": [128, 1, 1],"
            "\n      \"theoretical achieved occupancy %%\": 12.500",
            with_nan ? "nan" : std::to_string(node.blocks_per_sm).c_str(), 8.0);
    } else {
      // Paddle prints sizes as int.
      print(out, ",\n      \"bytes\": %d", static_cast<std::int32_t>(device.bytes));
    }
    if (device.type == Memcpy)
      print(out, ",\n      \"memory bandwidth (GB/s)\": %.3f",
            static_cast<double>(device.bytes) / static_cast<double>(device.end - device.start));
    if (device.type == Memset) out += ",\n      \"value\": 0";
    out += "\n    }\n  },";
    print(out,
          "\n  {\n    \"name\": \"launch\", \"id\": %u, \"pid\": %llu, \"tid\": %llu,\n    \"ts\": "
          "%llu,\n    \"ph\": \"f\", \"cat\": \"async\", \"bp\": \"e\"\n  },",
          correlation, device.device, device.stream,
          (kEpoch + (device.start + device.end) / 2) / 1000);
  }

  void write_memory(std::string& out, const Memory& memory, std::uint64_t tid) const {
    print(out,
          "\n  {\n    \"name\": \"[memory]\", \"pid\": %llu, \"tid\": \"%llu(C++)\",\n    \"ts\": "
          "%llu, \"ph\": \"i\", \"cat\": \"%s\",\n    \"args\": {\n      \"place\": \"%s\", "
          "\"addr\": \"%llu\", \"increase_bytes\": %lld,\n      \"current_allocated\": %lld, "
          "\"current_reserved\": %lld,\n      \"peak_allocated\": %lld, \"peak_reserved\": %lld\n"
          "    }\n  },",
          pid, tid, (kEpoch + memory.time) / 1000, kMemoryTypes[memory.type], memory.place.c_str(),
          memory.address, memory.bytes, memory.allocated, memory.reserved, memory.peak_allocated,
          memory.peak_reserved);
  }

  void dump_node(protozero::pbf_writer& message, const Node& node, const Thread& thread,
                 bool root) const {
    {
      protozero::pbf_writer event(message, 3);
      event.add_string(1, node.name);
      event.add_enum(2, root ? UserDefined : node.type);
      event.add_uint64(3, root ? 0 : kEpoch + node.start);
      event.add_uint64(4, root ? UINT64_MAX : kEpoch + node.end);
      event.add_uint64(5, pid);
      event.add_uint64(6, thread.id);
    }
    for (const Call& call : node.calls) {
      protozero::pbf_writer wrapped(message, 4);
      {
        protozero::pbf_writer event(wrapped, 1);
        event.add_string(1, call.name);
        event.add_uint64(2, kEpoch + call.start);
        event.add_uint64(3, kEpoch + call.end);
        event.add_uint64(4, pid);
        event.add_uint64(5, thread.id);
        event.add_uint32(6, call.correlation);
        event.add_uint32(7, 211);
      }
      for (const Device& device : call.devices) {
        protozero::pbf_writer outer(wrapped, 2);
        protozero::pbf_writer event(outer, 1);
        event.add_string(1, device.name);
        event.add_enum(2, device.type);
        event.add_uint64(3, kEpoch + device.start);
        event.add_uint64(4, kEpoch + device.end);
        event.add_uint64(5, device.device);
        event.add_uint64(6, 1);
        event.add_uint64(7, device.stream);
        event.add_uint32(8, call.correlation);
        protozero::pbf_writer info(event, device.type == Kernel   ? 9
                                          : device.type == Memcpy ? 10
                                                                  : 11);
        if (device.type == Kernel) {
          const std::uint32_t numbers[] = {128, 1, 1, 160, 1, 1, 0, 1024, 32, 0, 0};
          for (std::uint32_t i = 0; i < 11; ++i) info.add_uint32(i + 1, numbers[i]);
          info.add_float(15, static_cast<float>(node.blocks_per_sm));
          info.add_float(16, 8.0f);
          info.add_float(17, 0.125f);
        } else {
          info.add_uint64(1, device.bytes);
          info.add_string(2, "");
        }
      }
    }
    for (const Memory& memory : node.memory) {
      protozero::pbf_writer outer(message, 5);
      protozero::pbf_writer event(outer, 1);
      event.add_uint64(1, kEpoch + memory.time);
      event.add_enum(2, memory.type);
      event.add_uint64(3, memory.address);
      event.add_uint64(4, pid);
      event.add_uint64(5, thread.id);
      event.add_int64(6, memory.bytes);
      event.add_string(7, memory.place);
      event.add_int64(8, memory.allocated);
      event.add_int64(9, memory.reserved);
      event.add_int64(10, memory.peak_allocated);
      event.add_int64(11, memory.peak_reserved);
    }
    if (node.shapes.empty() && node.stack.empty()) return;
    protozero::pbf_writer outer(message, 6);
    protozero::pbf_writer supplement(outer, 1);
    supplement.add_uint64(1, kEpoch + node.start);
    supplement.add_string(2, node.name);
    {
      protozero::pbf_writer shapes(supplement, 5);
      for (const auto& [key, list] : node.shapes) shapes.add_string(1, key);
      for (const auto& [key, list] : node.shapes) {
        protozero::pbf_writer vectors(shapes, 2);
        for (const std::vector<std::uint64_t>& shape : list) {
          protozero::pbf_writer sizes(vectors, 1);
          for (const std::uint64_t size : shape) sizes.add_uint64(1, size);
        }
      }
    }
    supplement.add_string(7, node.stack);
  }
};

}  // namespace sonde::test
