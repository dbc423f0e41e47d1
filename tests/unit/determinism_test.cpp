#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <string>

#include "import/loader.hpp"
#include "tests/support/import_text.hpp"

namespace sonde {
namespace {

std::string id(std::uint32_t value) { return std::to_string(value) + ' '; }
std::string number(double value) {
  return std::to_string(std::bit_cast<std::uint64_t>(value)) + ' ';
}
template <class Integer>
std::string number(Integer value) requires std::is_integral_v<Integer> {
  return std::to_string(value) + ' ';
}

void links(std::string& out, const Links& links) {
  for (std::size_t i = 0; i < links.size(); ++i)
    out += id(links.from(i).value) + id(links.to(i).value);
  out += '\n';
}

// Everything that a trace holds, as text.
std::string dump(const Trace& trace) {
  std::string out;
  for (std::uint32_t i = 0; i < trace.strings().size(); ++i) {
    out += trace.text(StringId(i));
    out += '\n';
  }
  for (const Track& t : trace.tracks()) {
    out += number(static_cast<int>(t.type)) + number(t.pid) + number(t.tid) + number(t.device) +
           number(t.sort_index) + id(t.process.value) + id(t.labels.value) + id(t.name.value) +
           number(t.slices) + '\n';
  }
  const SliceColumns& s = trace.slices();
  for (const SliceId i : all_slices(trace)) {
    out += number(s.start(i)) + number(s.duration(i)) + id(s.name(i).value) + id(s.track(i).value) +
           id(s.parent(i).value) + number(static_cast<int>(s.kind(i))) + number(s.depth(i));
    if (const OperatorRow* r = trace.operators().find(i)) {
      out += "op " + number(r->external_id) + number(r->sequence) + number(r->forward_thread) +
             id(r->inputs.value) + id(r->stack.value) + id(r->module.value) + number(r->order) +
             number(r->is_annotation);
      const OperatorInputs& in = trace.inputs(r->inputs);
      out +=
          id(in.shapes.value) + id(in.types.value) + id(in.strides.value) + id(in.concrete.value);
    }
    if (const LaunchRow* r = trace.launches().find(i))
      out += "launch " + number(r->correlation) + number(r->external_id) + number(r->cbid);
    if (const DeviceRow* r = trace.device_work().find(i)) {
      out += "device " + number(r->correlation) + number(r->external_id) + number(r->stream) +
             number(r->context) + number(r->bytes) + number(r->device) + number(r->registers) +
             number(r->shared_memory) + number(r->grid[0]) + number(r->block[0]) +
             number(double{r->blocks_per_sm}) + number(double{r->occupancy});
    }
    if (const PythonRow* r = trace.python().find(i))
      out += "python " + number(r->id) + number(r->parent_id) + number(r->module_id);
    if (const CollectiveRow* r = trace.collectives().find(i)) {
      out += "collective " + id(r->collective.value) + id(r->group.value) + number(r->in_elements) +
             number(r->sequence);
    }
    if (const StringId* r = trace.categories().find(i)) out += "category " + id(r->value);
    out += '\n';
  }
  links(out, trace.launch_to_device());
  links(out, trace.operator_to_launch());
  links(out, trace.forward_to_backward());
  links(out, trace.flows());
  for (const Marker& m : trace.markers())
    out += number(m.time) + id(m.track.value) + id(m.name.value) + m.scope;
  for (const CounterValue& c : trace.counters())
    out += number(c.time) + id(c.track.value) + id(c.series.value) + number(c.value);
  for (const Allocation& a : trace.allocations())
    out += number(a.time) + number(a.address) + number(a.bytes) + id(a.track.value);
  for (const Sample& p : trace.samples())
    out += number(p.time) + id(p.track.value) + id(p.stack.value) + number(p.weight);
  for (const StackFrame& f : trace.stacks())
    out += id(f.caller.value) + id(f.function.value) + id(f.file.value);
  for (const LossLedger::Entry& e : trace.losses().entries()) {
    out += '\n' + e.name + ' ' + number(e.count) + number(e.first_offset) + e.example + e.sentence;
  }
  const TraceMeta& meta = trace.meta();
  out += '\n' + meta.version + meta.device_family + number(meta.origin) + number(meta.file_events) +
         number(trace.span_end());
  return out;
}

// A file of several blocks with something of everything, good and bad.
std::string mixed_file() {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  for (int i = 0; i < 20'000; ++i) {
    const std::string n = std::to_string(i);
    const std::string tid = std::to_string(i % 7);
    text += R"({"ph":"X","cat":"cpu_op","name":"op)" + std::to_string(i % 513) +
            R"(","pid":1,"tid":)" + tid + R"(,"ts":)" + n + R"(,"dur":5,"args":{"External id":)" +
            n + R"(,"Input Dims":[[)" + std::to_string(i % 99) + R"(]],"Sequence number":)" +
            std::to_string(i % 40) + R"(,"Fwd thread id":)" + std::to_string(i % 2) + "}},";
    text += R"({"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":)" + tid + R"(,"ts":)" +
            n + R"(,"dur":1,"args":{"correlation":)" + n + R"(,"External id":)" + n + "}},";
    text += R"({"ph":"X","cat":"kernel","name":"kernel)" + std::to_string(i % 100) +
            R"(","pid":0,"tid":7,"ts":)" + std::to_string(i + 3) +
            R"(,"dur":1,"args":{"correlation":)" + n + R"(,"stream":7}},)";
    if (i % 11 == 0)
      text += "{\"ph\":\"X\",\"cat\":\"new" + std::to_string(i % 3) + "\",\"name\":\"bad\xFF" +
              std::to_string(i % 5) + "\",\"pid\":2,\"tid\":\"t" + tid + "\",\"ts\":" + n + "},";
    if (i % 13 == 0)
      text += R"({"ph":"B","name":"half","pid":3,"tid":)" + tid + R"(,"ts":)" + n +
              R"(},{"ph":"E","name":"half","pid":3,"tid":1,"ts":)" + n + "},";
    if (i % 17 == 0)
      text += R"({"ph":"s","cat":"c","name":"f","id":)" + n + R"(,"pid":1,"tid":)" + tid +
              R"(,"ts":)" + n + R"(},{"ph":"f","cat":"c","name":"f","id":)" + n +
              R"(,"pid":0,"tid":7,"ts":)" + std::to_string(i + 3) + "},";
    if (i % 19 == 0)
      text +=
          R"({"ph":"C","name":"mem","pid":1,"tid":1,"ts":)" + n + R"(,"args":{"a":1,"b":"x"}},7,)";
    if (i % 1000 == 500)
      text += R"({"ph":"X","cat":"cpu_op","name":"say "hi"","pid":1,"tid":1,"ts":)" + n +
              R"(,"dur":1},)";
    if (i % 23 == 0)
      text += R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":)" + n +
              R"(,"args":{"Bytes":8,"Addr":)" + n + "}},";
  }
  return text + R"({"ph":"P","name":"s","ts":5,"sf":1}],"stackFrames":{"1":{"name":"main"}}})";
}

TEST(Determinism, AnyNumberOfThreadsGivesTheSameTrace) {
  const std::string text = mixed_file();
  for (const auto importer : {import_kineto, import_chrome}) {
    const std::string one = dump(test::import_or_fail(text, importer, 1));
    for (const unsigned threads : {1u, 2u, 5u, 5u, 16u}) {
      ASSERT_TRUE(dump(test::import_or_fail(text, importer, threads)) == one)
          << threads << " threads";
    }
  }
}

TEST(Determinism, RealTracesToo) {
  for (const char* name : {"ddp_rank0.pt.trace.json.gz", "resnet50_stack.pt.trace.json.gz"}) {
    const std::string path = std::string(SONDE_TEST_DATA) + "/" + name;
    const Result<Trace> one = load_trace(path, {1, {}});
    ASSERT_TRUE(one.ok());
    const std::string expected = dump(*one);
    for (const unsigned threads : {2u, 5u}) {
      const Result<Trace> more = load_trace(path, {threads, {}});
      ASSERT_TRUE(more.ok());
      ASSERT_TRUE(dump(*more) == expected) << name << " with " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace sonde
