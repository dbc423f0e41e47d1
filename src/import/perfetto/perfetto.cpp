#include "import/perfetto/perfetto.hpp"

#include <algorithm>
#include <thread>

#include "import/perfetto/packet_reader.hpp"
#include "import/perfetto/packet_stream.hpp"
#include "import/perfetto/wire.hpp"

namespace sonde {
namespace {

using perfetto_import::bytes;
using perfetto_import::varint;

// Whether the fields of a first packet are those of a TracePacket and no other message's. `whole`:
// whether the packet ends within the text.
bool is_trace_packet(std::string_view text, bool whole) {
  bool typical = false;
  try {
    protozero::pbf_reader packet(text.data(), text.size());
    while (packet.next()) {
      switch (packet.tag_and_type()) {
        case varint(8):
        case varint(10):
        case varint(13):
        case varint(58):
        case varint(87):
        case bytes(11):
        case bytes(33):
        case bytes(36):
        case bytes(50):
        case bytes(59):
        case bytes(60):
        case bytes(89):
          typical = true;
          break;
        default:
          // Fields below 8 belong to the payload, and are messages all.
          if (packet.tag() < 8 &&
              packet.wire_type() != protozero::pbf_wire_type::length_delimited) {
            return false;
          }
      }
      packet.skip();
    }
  } catch (const protozero::exception&) {
    return typical && !whole;
  }
  return typical;
}

}  // namespace

bool looks_like_perfetto(std::string_view head) {
  if (head.size() < 4 || head[0] != '\x0A') return false;
  std::uint64_t size = 0;
  std::size_t at = 1;
  for (unsigned shift = 0;; shift += 7) {
    if (at >= head.size() || shift > 28) return false;
    const auto byte = static_cast<unsigned char>(head[at++]);
    size |= std::uint64_t{byte & 0x7Fu} << shift;
    if ((byte & 0x80) == 0) break;
  }
  if (size == 0) return false;
  const bool whole = size <= head.size() - at;
  // What follows a packet is another one.
  if (whole && at + size < head.size() && head[at + static_cast<std::size_t>(size)] != '\x0A') {
    return false;
  }
  return is_trace_packet(head.substr(at, static_cast<std::size_t>(size)), whole);
}

Result<Trace> import_perfetto(const ImportInput& input) {
  TraceBuilder builder;
  builder.select(input.options.selection);
  perfetto_import::PacketStream stream(input.source);
  perfetto_import::PacketReader reader(builder);
  std::uint64_t packets = 0;
  constexpr std::uint64_t kProgressEvery = 4096;
  for (;;) {
    std::string_view packet;
    Result<bool> more = stream.next(packet);
    if (!more) return more.error();
    if (!*more) break;
    reader.read(packet, stream.offset());
    if (++packets % kProgressEvery == 0 && input.options.progress) {
      input.options.progress({input.path, input.source.consumed(), input.disk_bytes});
    }
  }
  if (packets == 0) {
    return Error{ErrorCode::BrokenInput, "no whole packet: the file is cut or no Perfetto trace",
                 input.path, stream.bytes_read(), "copy the file again"};
  }
  unsigned threads = input.options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  reader.finish(threads);
  builder.losses().merge(stream.losses());
  builder.losses().merge(input.source.losses());
  builder.losses().add("no_events", Severity::Warning,
                       "The trace holds no track event: Sonde has nothing to show.",
                       reader.events() == 0 ? 1 : 0);
  TraceMeta& meta = builder.meta();
  meta.format = "perfetto";
  meta.producer = "Perfetto";
  meta.input_bytes = stream.bytes_read();
  meta.file_events = reader.events();
  return builder.finish();
}

}  // namespace sonde
