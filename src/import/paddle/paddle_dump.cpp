#include <algorithm>
#include <string>

#include "import/paddle/dump_messages.hpp"
#include "import/paddle/dump_stream.hpp"
#include "import/paddle/paddle.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxVersion = 32;

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= kMaxVersion && text[0] >= '0' && text[0] <= '9' &&
         text.find('.') != std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// One thread's tree: its id, and the host nodes one by one.
void read_thread(DumpStream& in, std::uint64_t length, DumpMessages& messages, LossLedger& losses) {
  const std::uint64_t begin = in.offset();
  const std::uint64_t end = length > UINT64_MAX - begin ? UINT64_MAX : begin + length;
  std::uint64_t thread = 0;
  while (in.offset() < end) {
    const auto field = in.next();
    if (!field) return in.fail();
    if (field->wire_type != 2) {
      if (field->number == 1) thread = field->value;
      continue;
    }
    const std::uint64_t at = in.offset();
    const auto content = in.take(field->value);
    if (!content) return;
    if (field->number == 2 && !messages.read_host_node(*content, thread)) {
      losses.add("node_unreadable", Severity::Warning,
                 "Nodes of the dump that are damaged; they, and what they launched, are partly "
                 "missing.",
                 1, at);
    }
  }
}

}  // namespace

// A version such as "1.0.2" in field 1, then the index of the span in field 2.
bool looks_like_paddle_dump(std::string_view head) {
  if (head.size() < 4 || head[0] != '\x0A') return false;
  const auto length = static_cast<unsigned char>(head[1]);
  if (length > kMaxVersion || head.size() < length + 3u) return false;
  return is_version(head.substr(2, length)) && head[2u + length] == '\x10';
}

Result<Trace> import_paddle_dump(const ImportInput& input) {
  TraceBuilder builder;
  TraceMeta& meta = builder.meta();
  meta.format = "paddle";
  meta.producer = "PaddlePaddle profiler";
  PaddleAssembler assembler(builder);
  DumpMessages messages(assembler);
  DumpStream in(input.source);
  LossLedger& losses = builder.losses();
  while (const auto field = in.next()) {
    if (field->wire_type != 2) {
      if (field->number == 2)
        meta.properties.emplace_back("span_indx", "\"" + std::to_string(field->value) + "\"");
      continue;
    }
    const std::uint64_t at = in.offset();
    if (field->number == 3) {
      read_thread(in, field->value, messages, losses);
    } else if (const auto content = in.take(field->value)) {
      bool good = true;
      if (field->number == 1 && is_version(*content))
        meta.version = "schema " + std::string(*content);
      if (field->number == 4) good = messages.read_extra_info(*content);
      if (field->number == 5) good = messages.read_device(*content);
      losses.add("metadata_damaged", Severity::Warning,
                 "A value about the whole dump is damaged; it was passed over.", good ? 0 : 1, at);
    }
    if (input.options.progress)
      input.options.progress({input.path, input.source.consumed(), input.disk_bytes});
  }
  if (in.error()) return *in.error();
  losses.add("input_cut", Severity::Warning,
             "The dump ends inside of a message, or goes on with other bytes: it was cut or "
             "damaged. Everything before that place is read.",
             in.failed() ? 1 : 0, in.offset());
  losses.merge(input.source.losses());
  if (messages.events() == 0 && in.failed()) {
    return Error{ErrorCode::BrokenInput, "the dump holds no event that can be read", input.path,
                 in.offset(), "export the profile again, or copy the file again"};
  }
  losses.add("no_events", Severity::Warning,
             "The dump holds no events: the profiler recorded nothing.",
             messages.events() == 0 ? 1 : 0);
  assembler.finish(input.options.threads);
  meta.input_bytes = in.bytes_read();
  meta.file_events = messages.events();
  constexpr Nanos kYear2001 = Nanos{1'000'000'000} * 1'000'000'000;
  meta.wall_clock = meta.origin > kYear2001;
  return builder.finish();
}

}  // namespace sonde
