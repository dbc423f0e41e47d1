#include <algorithm>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <thread>
#include <vector>

#include "import/execution_trace/execution_trace.hpp"
#include "import/input/byte_reader.hpp"
#include "import/text/utf8.hpp"
#include "trace/builder.hpp"

namespace sonde {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::size_t kMaxMessage = std::size_t{64} << 20;

constexpr std::uint32_t varint(std::uint32_t field) {
  return protozero::tag_and_type(field, pbf_wire_type::varint);
}
constexpr std::uint32_t bytes(std::uint32_t field) {
  return protozero::tag_and_type(field, pbf_wire_type::length_delimited);
}
constexpr std::uint32_t fixed64(std::uint32_t field) {
  return protozero::tag_and_type(field, pbf_wire_type::fixed64);
}

std::string_view text_of(pbf_reader& reader) {
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}

enum NodeType : int { kMetadata = 1, kLoad, kStore, kCompute, kSend, kReceive, kCollective };

struct Attribute {
  StringId key;
  std::optional<std::int64_t> whole;
  std::optional<double> real;
  StringId text;
};

struct Node {
  std::uint64_t id = 0;
  StringId name;
  int type = 0;
  std::vector<std::uint64_t> data_deps;
  std::vector<std::uint64_t> control_deps;
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  std::vector<Attribute> attributes;
};

void append_ids(pbf_reader& reader, std::vector<std::uint64_t>& out) {
  if (reader.wire_type() == pbf_wire_type::varint) {
    out.push_back(reader.get_uint64());
    return;
  }
  for (const std::uint64_t id : reader.get_packed_uint64()) out.push_back(id);
}

Attribute read_attribute(pbf_reader reader, NamePool& names) {
  Attribute out;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case bytes(1):
        out.key = names.intern(text_of(reader));
        break;
      case fixed64(3):
        out.real = reader.get_double();
        break;
      case varint(7):   // int32
      case varint(9):   // int64
      case varint(11):  // uint32
      case varint(13):  // uint64
      case varint(27):  // bool
        out.whole = reader.get_int64();
        break;
      case bytes(29):
        out.text = names.intern(text_of(reader));
        break;
      default:
        reader.skip();
    }
  }
  return out;
}

Node read_node(std::string_view message, NamePool& names) {
  Node node;
  pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint(1):
        node.id = reader.get_uint64();
        break;
      case bytes(2):
        node.name = names.intern(text_of(reader));
        break;
      case varint(3):
        node.type = reader.get_enum();
        break;
      case varint(4):
      case bytes(4):
        append_ids(reader, node.control_deps);
        break;
      case varint(5):
      case bytes(5):
        append_ids(reader, node.data_deps);
        break;
      case varint(6):
        node.start_micros = reader.get_uint64();
        break;
      case varint(7):
        node.duration_micros = reader.get_uint64();
        break;
      case bytes(10):
        node.attributes.push_back(read_attribute(reader.get_message(), names));
        break;
      default:
        reader.skip();
    }
  }
  return node;
}

// Messages with their length before them.
class MessageStream {
 public:
  explicit MessageStream(ByteSource& source) : bytes_(source) {}

  Result<bool> next(std::string& message, LossLedger& losses) {
    std::uint64_t size = 0;
    offset_ = bytes_.consumed();
    for (unsigned shift = 0;; shift += 7) {
      Result<int> byte = bytes_.take();
      if (!byte) return byte.error();
      if (*byte < 0 && shift == 0) return false;
      if (*byte < 0 || shift > 28) return stop(losses);
      size |= std::uint64_t{static_cast<unsigned>(*byte) & 0x7Fu} << shift;
      if ((*byte & 0x80) == 0) break;
    }
    if (size > kMaxMessage) return stop(losses);
    Result<bool> whole = bytes_.take(static_cast<std::size_t>(size), message);
    if (!whole) return whole.error();
    return *whole ? true : stop(losses);
  }
  std::uint64_t bytes_read() const { return bytes_.consumed(); }
  std::uint64_t offset() const { return offset_; }

 private:
  bool stop(LossLedger& losses) const {
    losses.add(
        "file_cut", Severity::Warning,
        "The file ends within a message, or has bytes that are none; what came before is read.", 1,
        offset_);
    return false;
  }

  ByteReader bytes_;
  std::uint64_t offset_ = 0;
};

// Makes slices of nodes: computation, communication and memory each on a lane of its own.
class Assembler {
 public:
  explicit Assembler(TraceBuilder& builder) : builder_(builder) {}

  void add_all(const std::vector<Node>& nodes) {
    // Traces for simulators have lengths only: then nodes follow one another.
    const bool timed = std::any_of(nodes.begin(), nodes.end(),
                                   [](const Node& node) { return node.start_micros != 0; });
    for (const Node& node : nodes) add(node, timed);
    builder_.losses().add(
        "no_start_times", Severity::Info,
        "The trace has no start times: nodes of a lane follow one another in the order "
        "of the file.",
        timed || nodes.empty() ? 0 : 1);
  }

  void add_links(const std::vector<Node>& nodes) {
    std::uint64_t more = 0;
    std::uint64_t open = 0;
    for (const Node& node : nodes) {
      const auto to = slices_.find(node.id);
      if (to == slices_.end()) continue;
      bool linked = false;
      for (const auto* list : {&node.data_deps, &node.control_deps}) {
        for (const std::uint64_t id : *list) {
          const auto from = slices_.find(id);
          if (from == slices_.end() || from->second == to->second) {
            ++open;
          } else if (linked) {
            ++more;
          } else {
            builder_.add_flow_link(from->second, to->second);
            linked = true;
          }
        }
      }
    }
    builder_.losses().add("more_dependencies", Severity::Info,
                          "Dependencies beyond the first of a node: Sonde draws one arrow to each.",
                          more);
    builder_.losses().add("open_dependencies", Severity::Info,
                          "Dependencies on nodes that are not in the file.", open);
  }

 private:
  void add(const Node& node, bool timed) {
    constexpr std::uint64_t kMost = static_cast<std::uint64_t>(kMaxTime / 1000);
    if (node.start_micros > kMost ||
        node.duration_micros > static_cast<std::uint64_t>(kMaxDuration / 1000)) {
      builder_.losses().add("bad_time", Severity::Warning,
                            "Nodes with an impossible time; they are left out.");
      return;
    }
    SliceKind kind = SliceKind::Other;
    std::string_view lane = "metadata";
    if (node.type == kCompute) {
      kind = SliceKind::Operator;
      lane = "computation";
    } else if (node.type >= kSend && node.type <= kCollective) {
      kind = SliceKind::Communication;
      lane = "communication";
    } else if (node.type == kLoad || node.type == kStore) {
      lane = "memory";
    }
    const auto duration = static_cast<Nanos>(node.duration_micros * 1000);
    Lane& place = lane_of(lane);
    Nanos start = static_cast<Nanos>(node.start_micros * 1000);
    if (!timed) {
      start = place.end;
      if (place.end < kMaxTime - 2 * kMaxDuration) place.end += std::max<Nanos>(duration, 1);
    }
    const SliceId slice =
        builder_.add_slice(start, duration, place.track,
                           node.name.valid() ? node.name : builder_.intern("(unnamed)"), kind);
    slices_.emplace(node.id, slice);
    if (is_host_operator(kind)) builder_.add_operator(slice, OperatorRow());
    constexpr std::string_view kTypes[] = {"",        "metadata", "mem_load", "mem_store",
                                           "compute", "send",     "receive",  "collective"};
    if (node.type > 0 && node.type < static_cast<int>(std::size(kTypes))) {
      builder_.add_category(slice, builder_.intern(kTypes[node.type]));
    }
    builder_.add_argument({slice, builder_.intern("node id"), static_cast<std::int64_t>(node.id)});
    for (const Attribute& attribute : node.attributes) {
      if (!attribute.key.valid()) continue;
      if (attribute.whole) {
        builder_.add_argument({slice, attribute.key, *attribute.whole});
      } else if (attribute.real) {
        builder_.add_argument({slice, attribute.key, *attribute.real});
      } else if (attribute.text.valid()) {
        builder_.add_argument({slice, attribute.key, attribute.text});
      } else {
        builder_.losses().add("unknown_attributes", Severity::Info,
                              "Attributes of a sort that Sonde does not keep (lists, bytes).");
      }
    }
  }

  struct Lane {
    TrackId track;
    Nanos end = 0;
  };
  Lane& lane_of(std::string_view name) {
    const auto [at, added] = lanes_.try_emplace(name);
    if (added) {
      Track track;
      track.name = builder_.intern(name);
      track.tid = static_cast<std::int64_t>(lanes_.size());
      at->second.track = builder_.add_track(track);
    }
    return at->second;
  }

  TraceBuilder& builder_;
  std::map<std::string_view, Lane> lanes_;
  std::map<std::uint64_t, SliceId> slices_;
};

}  // namespace

// A short message {1: "0.0.4"}, then one that begins with an id and a name.
bool looks_like_chakra(std::string_view head) {
  if (head.size() < 8) return false;
  const auto first = static_cast<unsigned char>(head[0]);
  if (first < 3 || first > 0x7F || head.size() < first + 3u || head[1] != '\x0A') return false;
  const auto version = static_cast<unsigned char>(head[2]);
  if (version < 1 || version > first - 2) return false;
  for (const char c : head.substr(3, version)) {
    const bool fits = (c >= '0' && c <= '9') || c == '.' || c == '-' || (c >= 'a' && c <= 'z');
    if (!fits) return false;
  }
  std::size_t at = first + 1u;
  while (at < head.size() && (static_cast<unsigned char>(head[at]) & 0x80) != 0) ++at;
  ++at;
  return at < head.size() && (head[at] == '\x08' || head[at] == '\x12');
}

Result<Trace> import_chakra(const ImportInput& input) {
  TraceBuilder builder;
  NamePool names(builder);
  MessageStream stream(input.source);
  std::string message;
  std::string version;
  std::vector<Node> nodes;
  std::uint64_t broken = 0;
  for (std::uint64_t number = 0;; ++number) {
    Result<bool> more = stream.next(message, builder.losses());
    if (!more) return more.error();
    if (!*more) break;
    try {
      if (number > 0) {
        nodes.push_back(read_node(message, names));
        continue;
      }
      pbf_reader metadata(message);
      while (metadata.next()) {
        if (metadata.tag_and_type() == bytes(1))
          version = mend_utf8(text_of(metadata).substr(0, 100));
        else
          metadata.skip();
      }
    } catch (const protozero::exception&) {
      ++broken;
    }
  }
  Assembler assembler(builder);
  assembler.add_all(nodes);
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  builder.nest(threads);
  assembler.add_links(nodes);
  TraceMeta& meta = builder.meta();
  meta.format = "chakra";
  meta.producer = "Chakra execution trace";
  meta.version = version;
  meta.input_bytes = stream.bytes_read();
  meta.file_events = nodes.size() + broken;
  builder.losses().add("broken_messages", Severity::Warning,
                       "Nodes whose content does not fit together; they are left out.", broken);
  builder.losses().add("no_events", Severity::Warning, "The trace holds no node.",
                       nodes.empty() ? 1 : 0);
  builder.losses().merge(input.source.losses());
  return builder.finish();
}

}  // namespace sonde
