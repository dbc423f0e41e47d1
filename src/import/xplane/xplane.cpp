#include "import/xplane/xplane.hpp"

#include <algorithm>
#include <memory>
#include <thread>

#include "base/json_writer.hpp"
#include "import/text/utf8.hpp"
#include "import/xplane/plane_writer.hpp"
#include "trace/selection.hpp"

namespace sonde {
namespace {

constexpr Nanos kYear2001 = Nanos{1'000'000'000} * 1'000'000'000;
constexpr std::uint64_t kMaxTextBytes = 1 << 20;

bool take_varint(std::string_view& in, std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < 10 && i < in.size(); ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool is_plane_name(std::string_view name) {
  for (const std::string_view prefix : {"/host:", "/device:", "/virtualdevice:", "#Chip",
                                        "Task Environment", "Host CPUs", "Syscalls"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

// The texts that the profiler itself left.
void add_message(std::string_view text, Severity severity, LossLedger& losses) {
  losses.add(severity == Severity::Error ? "profiler_error" : "profiler_warning", severity,
             "The profiler that wrote the file says: " +
                 (is_utf8(text) ? std::string(text) : mend_utf8(text)));
}

// The planes of a file without their events. Names stand behind the events that use them: who wants
// a piece only reads them first, in a reading of their own.
struct SpaceNames {
  std::vector<PlaneData> planes;
};

class SpaceReader {
 public:
  SpaceReader(const ImportInput& input, TraceBuilder& builder)
      : input_(input),
        builder_(builder),
        stream_(input.source),
        events_(builder),
        planes_(builder, events_) {
    Selection* selection = builder.selection();
    if (selection == nullptr) return;
    names_known_ = selection->state() != nullptr;
    if (!names_known_) {
      selection->state() = std::make_shared<SpaceNames>();
      selection->ask_again();
    }
    names_ = std::static_pointer_cast<SpaceNames>(selection->state());
  }

  Result<bool> run() {
    ProtoField field;
    while (stream_.next(ProtoStream::kNoEnd, field)) read_field(field);
    if (stream_.trouble() == ProtoStream::Trouble::Unreadable) return stream_.error();
    if (stream_.trouble() == ProtoStream::Trouble::Cut) {
      builder_.losses().add("cut", Severity::Error,
                            "The file ends in the middle of a message; everything before is read.",
                            1, stream_.offset());
    } else if (stream_.trouble() == ProtoStream::Trouble::Broken) {
      builder_.losses().add("broken", Severity::Error,
                            "The file is damaged; everything before the damage is read.", 1,
                            stream_.offset());
    }
    if (planes_read_ == 0) {
      return Error{ErrorCode::BrokenInput, "no plane of an XPlane profile could be read",
                   input_.path, stream_.offset(), "copy the file again, or record a new profile"};
    }
    finish();
    return true;
  }

 private:
  void read_field(const ProtoField& field) {
    std::uint64_t size = 0;
    if (field.wire_type != ProtoField::kBytes || field.number > 4) {
      stream_.skip_value(field, ProtoStream::kNoEnd);
      return;
    }
    if (!stream_.length(ProtoStream::kNoEnd, size)) return;
    if (field.number == 1 && names_) {
      names_known_ ? stream_plane(stream_.offset() + size) : read_names(stream_.offset() + size);
      report_progress();
      return;
    }
    if (field.number == 1) {
      PlaneData plane;
      read_plane(stream_, stream_.offset() + size, plane, builder_.losses());
      if (!plane.name.empty() || !plane.lines.empty()) ++planes_read_;
      report_progress();
      planes_.write(plane, done());
      return;
    }
    std::string_view text;
    if (size > kMaxTextBytes) {
      stream_.skip(size);
    } else if (stream_.bytes(size, text)) {
      if (field.number == 4)
        hosts_.emplace_back(is_utf8(text) ? std::string(text) : mend_utf8(text));
      else
        add_message(text, field.number == 2 ? Severity::Error : Severity::Warning,
                    builder_.losses());
    }
  }

  void read_names(std::uint64_t end) {
    PlaneData plane;
    read_plane(stream_, end, plane, builder_.losses(), [](std::size_t, std::string_view) {});
    if (!plane.name.empty() || !plane.lines.empty()) ++planes_read_;
    names_->planes.push_back(std::move(plane));
  }

  void stream_plane(std::uint64_t end) {
    if (next_plane_ >= names_->planes.size()) {  // the file grew meanwhile
      stream_.skip(end - stream_.offset());
      return;
    }
    PlaneData& plane = names_->planes[next_plane_++];
    if (!plane.name.empty() || !plane.lines.empty()) ++planes_read_;
    planes_.begin(plane);
    std::size_t lines = 0;  // that were begun
    const auto begin_lines = [&](std::size_t up_to) {
      for (; lines < std::min(up_to, plane.lines.size()); ++lines)
        planes_.begin_line(plane.lines[lines]);
    };
    PlaneData again;
    read_plane(stream_, end, again, builder_.losses(),
               [&](std::size_t line, std::string_view message) {
                 begin_lines(line + 1);
                 if (line < plane.lines.size())
                   planes_.write_event(plane, plane.lines[line], message);
               });
    begin_lines(plane.lines.size());
    planes_.end();
  }

  double done() const {
    if (input_.disk_bytes == 0) return 0;
    return std::min(1.0, static_cast<double>(input_.source.consumed()) /
                             static_cast<double>(input_.disk_bytes));
  }

  void report_progress() const {
    if (input_.options.progress)
      input_.options.progress({input_.path, input_.source.consumed(), input_.disk_bytes});
  }

  void finish() {
    unsigned threads = input_.options.threads;
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    events_.finish(threads);
    const SpaceFacts& facts = planes_.facts();
    TraceMeta& meta = builder_.meta();
    meta.format = "xplane";
    meta.producer =
        facts.jax_version.empty() ? "TensorFlow or XLA profiler (XPlane)" : "JAX profiler (XPlane)";
    meta.version = facts.jax_version.empty() ? facts.tensorflow_version : facts.jax_version;
    meta.input_bytes = stream_.offset();
    meta.file_events = events_.events();
    // Times count from the start of the profile, but in files that nobody normalised.
    if (builder_.whole_origin() > kYear2001) {
      meta.wall_clock = true;
    } else if (facts.start_time > 0 && facts.start_time < kMaxTime) {
      meta.wall_clock = true;
      meta.base_time = facts.start_time;
    }
    if (!hosts_.empty()) {
      JsonWriter json;
      json.begin_array();
      for (const std::string& host : hosts_) json.value(host);
      json.end_array();
      meta.properties.emplace_back("hosts", json.take());
    }
    builder_.losses().add("property_left_out", Severity::Info,
                          "Facts about the recording beyond the first 1,000.",
                          facts.properties_left_out);
    builder_.losses().merge(input_.source.losses());
  }

  const ImportInput& input_;
  TraceBuilder& builder_;
  ProtoStream stream_;
  EventWriter events_;
  PlaneWriter planes_;
  std::vector<std::string> hosts_;
  std::uint64_t planes_read_ = 0;
  std::shared_ptr<SpaceNames> names_;  // null: everything is read at once
  bool names_known_ = false;
  std::size_t next_plane_ = 0;
};

}  // namespace

bool looks_like_xplane(std::string_view head) {
  std::uint64_t size = 0;
  std::uint64_t value = 0;
  if (!head.starts_with("\x0A")) return false;
  head.remove_prefix(1);
  if (!take_varint(head, size)) return false;
  head = head.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(size, head.size())));
  // The id, where it is not 0, and the name come first.
  if (head.starts_with("\x08")) {
    head.remove_prefix(1);
    if (!take_varint(head, value)) return false;
  }
  if (!head.starts_with("\x12")) return false;
  head.remove_prefix(1);
  return take_varint(head, size) && size <= head.size() &&
         is_plane_name(head.substr(0, static_cast<std::size_t>(size)));
}

Result<Trace> import_xplane(const ImportInput& input) {
  TraceBuilder builder;
  builder.select(input.options.selection);
  SpaceReader reader(input, builder);
  if (Result<bool> read = reader.run(); !read) return read.error();
  return builder.finish();
}

}  // namespace sonde
