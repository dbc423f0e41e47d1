#include "import/execution_trace/execution_trace.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <thread>

#include "base/json_writer.hpp"
#include "import/execution_trace/node_tree.hpp"
#include "import/json/json_document.hpp"
#include "import/kineto/categories.hpp"
#include "import/text/utf8.hpp"
#include "import/trace_event/correlation.hpp"

namespace sonde {
namespace {

using simdjson::dom::element;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
// RecordFunction's scopes.
constexpr std::int64_t kBackward = 1;
constexpr std::int64_t kUserScope = 7;

// One node, of either schema.
struct Node {
  std::string_view name;
  std::int64_t id = 0;
  std::int64_t parent = 0;
  std::int64_t record_function = kNoNumber;
  std::int64_t forward_parent = 0;
  std::int64_t sequence = -1;
  std::int64_t scope = 0;
  std::int64_t thread = 0;
  std::int64_t forward_thread = 0;
  element inputs;
  element input_shapes;
  element input_types;
  element input_strides;
  element outputs;
  element output_shapes;
  element output_types;
  std::string_view schema;
  simdjson::dom::array attributes;  // others than the above
};

element attribute(element node, std::string_view name) {
  for (const element entry : json_items(json_member(node, "attrs"))) {
    if (json_text(json_member(entry, "name")) == name) return json_member(entry, "value");
  }
  return json_member(node, name);
}

Node read_node(element value) {
  Node node;
  node.name = json_text(json_member(value, "name"));
  node.id = json_integer(json_member(value, "id"));
  const element deps = json_member(value, "ctrl_deps");
  node.parent = json_integer(deps);
  for (const element first : json_items(deps)) {  // later schemas have a list
    node.parent = json_integer(first);
    break;
  }
  if (node.parent == kNoNumber) node.parent = json_integer(json_member(value, "parent"), 0);
  node.record_function = json_integer(attribute(value, "rf_id"));
  node.forward_parent = json_integer(attribute(value, "fw_parent"), 0);
  node.sequence = json_integer(attribute(value, "seq_id"), -1);
  node.scope = json_integer(attribute(value, "scope"), 0);
  node.thread = json_integer(attribute(value, "tid"), 0);
  node.forward_thread = json_integer(attribute(value, "fw_tid"), 0);
  node.schema = json_text(attribute(value, "op_schema"));
  node.inputs = json_member(value, "inputs");
  node.outputs = json_member(value, "outputs");
  if (node.inputs.is_object()) {
    node.input_shapes = json_member(node.inputs, "shapes");
    node.input_types = json_member(node.inputs, "types");
    node.input_strides = json_member(node.inputs, "strides");
    node.inputs = json_member(node.inputs, "values");
  } else {
    node.input_shapes = json_member(value, "input_shapes");
    node.input_types = json_member(value, "input_types");
    node.input_strides = json_member(value, "input_strides");
  }
  if (node.outputs.is_object()) {
    node.output_shapes = json_member(node.outputs, "shapes");
    node.output_types = json_member(node.outputs, "types");
    node.outputs = json_member(node.outputs, "values");
  } else {
    node.output_shapes = json_member(value, "output_shapes");
    node.output_types = json_member(value, "output_types");
  }
  node.attributes = json_items(json_member(value, "attrs"));
  return node;
}

class Assembler {
 public:
  Assembler(std::int64_t pid, TraceBuilder& builder) : pid_(pid), builder_(builder) {}

  void add(const Node& node, const execution_trace::Place& place) {
    const bool frame = node.name.starts_with("[pytorch|profiler|execution_trace|");
    SliceKind kind = SliceKind::Operator;
    if (node.scope == kUserScope) kind = SliceKind::UserRange;
    kind = frame ? SliceKind::Span : kineto_kind_by_name(kind, node.name);
    const SliceId slice = builder_.add_slice(place.start, place.duration, thread(node.thread),
                                             builder_.intern(node.name), kind);
    if (!frame) add_row(node, slice);
    builder_.add_argument({slice, builder_.intern("node id"), node.id});
    if (node.forward_parent > 0) {
      builder_.add_argument({slice, builder_.intern("forward node"), node.forward_parent});
    }
    if (!node.schema.empty()) {
      builder_.add_argument({slice, builder_.intern("op_schema"), builder_.intern(node.schema)});
    }
    add_list("outputs", node.outputs, slice);
    add_list("output shapes", node.output_shapes, slice);
    add_list("output types", node.output_types, slice);
    for (const element attribute : node.attributes) add_attribute(attribute, slice);
  }

 private:
  TrackId thread(std::int64_t tid) {
    const auto [at, added] = threads_.try_emplace(tid);
    if (added) {
      Track track;
      track.pid = pid_;
      track.tid = tid;
      at->second = builder_.add_track(track);
    }
    return at->second;
  }

  // The text of a list; invalid for an empty one and for everything else.
  StringId list_text(element value) {
    simdjson::dom::array items;
    if (value.get(items) != simdjson::SUCCESS || items.begin() == items.end()) return {};
    return builder_.intern(simdjson::minify(value));
  }

  void add_row(const Node& node, SliceId slice) {
    OperatorRow row;
    row.external_id = node.record_function;
    if (node.sequence >= 0) row.sequence = node.sequence;
    // Only backward operators have a forward thread that means anything.
    if (node.scope == kBackward && node.forward_thread > 0 && node.forward_thread <= INT32_MAX) {
      row.forward_thread = static_cast<std::int32_t>(node.forward_thread);
    }
    OperatorInputs inputs;
    inputs.shapes = list_text(node.input_shapes);
    inputs.types = list_text(node.input_types);
    inputs.strides = list_text(node.input_strides);
    inputs.concrete = list_text(node.inputs);
    if (inputs != OperatorInputs()) {
      row.inputs = builder_.intern_inputs(inputs);
      builder_.meta().record_shapes = true;
    }
    row.is_annotation = node.scope == kUserScope;
    builder_.add_operator(slice, row);
  }

  void add_list(std::string_view key, element value, SliceId slice) {
    const StringId text = list_text(value);
    if (text.valid()) builder_.add_argument({slice, builder_.intern(key), text, ArgType::Json});
  }

  void add_attribute(element attribute, SliceId slice) {
    const std::string_view name = json_text(json_member(attribute, "name"));
    for (const std::string_view known :
         {"rf_id", "fw_parent", "seq_id", "scope", "tid", "fw_tid", "op_schema"}) {
      if (name == known) return;
    }
    const StringId key = builder_.intern(name);
    const element value = json_member(attribute, "value");
    std::int64_t whole = 0;
    std::string_view text;
    if (value.get(whole) == simdjson::SUCCESS) {
      builder_.add_argument({slice, key, whole});
    } else if (value.get(text) == simdjson::SUCCESS) {
      if (!text.empty()) builder_.add_argument({slice, key, builder_.intern(text)});
    } else {
      builder_.add_argument({slice, key, builder_.intern(simdjson::minify(value)), ArgType::Json});
    }
  }

  std::int64_t pid_;
  TraceBuilder& builder_;
  std::map<std::int64_t, TrackId> threads_;
};

bool contains(std::string_view head, std::string_view part) {
  return head.find(part) != std::string_view::npos;
}

}  // namespace

bool looks_like_execution_trace(std::string_view head) {
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || head[at] != '{') return false;
  return contains(head, "\"schema\"") && contains(head, "\"nodes\"") &&
         (contains(head, "\"rf_id\"") || contains(head, "\"ctrl_deps\"") ||
          contains(head, "[pytorch|profiler|execution_trace|"));
}

Result<Trace> import_execution_trace(const ImportInput& input) {
  Result<JsonDocument> document = read_json_document(
      input.source, kMaxBytes, "record fewer steps, or convert it to Chakra's protobuf form");
  if (!document) return document.error();
  const element root = document->root;
  TraceBuilder builder;
  std::vector<Node> nodes;
  std::uint64_t odd = 0;
  for (const element value : json_items(json_member(root, "nodes"))) {
    nodes.push_back(read_node(value));
    if (nodes.back().id == kNoNumber || nodes.back().name.empty()) {
      nodes.pop_back();
      ++odd;
    }
  }
  std::vector<execution_trace::TreeNode> tree;
  tree.reserve(nodes.size());
  for (const Node& node : nodes) tree.push_back({node.id, node.parent});
  std::uint64_t cycles = 0;
  const std::vector<execution_trace::Place> places = execution_trace::lay_out(tree, cycles);
  Assembler assembler(json_integer(json_member(root, "pid"), 0), builder);
  for (std::size_t i = 0; i < nodes.size(); ++i) assembler.add(nodes[i], places[i]);
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  builder.nest(threads);
  link_by_sequence(builder);

  TraceMeta& meta = builder.meta();
  meta.format = "execution_trace";
  meta.producer = "PyTorch execution trace";
  meta.version = std::string(json_text(json_member(root, "schema")).substr(0, 100));
  meta.input_bytes = document->bytes;
  meta.file_events = nodes.size() + odd;
  builder.losses().add(
      "no_times", Severity::Info,
      "An execution trace has no times: positions and lengths tell the order and the "
      "nesting of operators, not how long they took.");
  builder.losses().add("odd_nodes", Severity::Warning,
                       "Nodes without an id or a name; they are left out.", odd);
  builder.losses().add("cyclic_nodes", Severity::Warning,
                       "Nodes that are their own ancestors; they stand at the end.", cycles);
  builder.losses().merge(input.source.losses());
  return builder.finish();
}

}  // namespace sonde
