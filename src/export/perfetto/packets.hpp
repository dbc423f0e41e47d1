#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/byte_sink.hpp"
#include "export/slice_facts.hpp"
#include "trace/trace.hpp"

namespace sonde::perfetto {

// Numbers of fields and values, as Perfetto's .proto files have them.
namespace field {
inline constexpr protozero::pbf_tag_type kTracePacket = 1;
// TracePacket
inline constexpr protozero::pbf_tag_type kClockSnapshot = 6, kTimestamp = 8, kSequenceId = 10,
                                         kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13,
                                         kTimestampClockId = 58, kPacketDefaults = 59,
                                         kTrackDescriptor = 60, kFirstPacket = 87;
// TrackDescriptor
inline constexpr protozero::pbf_tag_type kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4,
                                         kParentUuid = 5, kCounter = 8, kChildOrdering = 11,
                                         kSiblingRank = 12, kDescription = 14, kSiblingMerge = 15;
// TrackEvent
inline constexpr protozero::pbf_tag_type kCategoryIids = 3, kAnnotations = 4, kType = 9,
                                         kNameIid = 10, kTrackUuid = 11, kDoubleValue = 44,
                                         kFlowIds = 47, kTerminatingFlowIds = 48, kCallstack = 55;
// InternedData
inline constexpr protozero::pbf_tag_type kEventCategories = 1, kEventNames = 2,
                                         kAnnotationNames = 3;
// DebugAnnotation
inline constexpr protozero::pbf_tag_type kAnnotationNameIid = 1, kInt = 4, kDouble = 5, kString = 6,
                                         kLegacyJson = 9;
}  // namespace field

inline constexpr std::uint32_t kStateCleared = 1;
inline constexpr std::uint32_t kNeedsState = 2;
inline constexpr std::uint32_t kBootTime = 6;
inline constexpr std::uint32_t kRealTime = 1;
inline constexpr std::uint32_t kSequence = 1;

// Numbers of arrows tell what the arrow means, to those who know: this, a digit for the sort of
// arrow, and 32 bits that count.
inline constexpr std::uint64_t kFlowMark = 0x536F6E6;
enum class FlowSort : std::uint64_t { Launch = 1, Backward = 2, Plain = 3 };

enum class EventType : std::int32_t { Begin = 1, End = 2, Instant = 3, Counter = 4 };

// One event, before it is a packet.
struct Event {
  EventType type = EventType::Begin;
  std::uint64_t track = 0;
  Nanos time = 0;
  bool named = false;
  std::string_view name;
  std::string_view category;
  std::string_view kind_word;  // a second category: "sonde.kernel"
  const std::vector<Fact>* facts = nullptr;
  const std::vector<std::uint64_t>* flows = nullptr;
  const std::vector<std::uint64_t>* ended_flows = nullptr;
  double value = 0;                 // of a counter
  std::string_view callstack = {};  // an encoded Callstack
};

// Writes packets of one sequence. Names, categories and keys are sent once and then go by number.
class PacketWriter {
 public:
  explicit PacketWriter(BufferedOutput& out) : out_(out) {}

  // The packet that must come first: it clears what a reader knows of the sequence, and says that
  // times without a clock are those of `clock`.
  void begin_sequence(std::uint32_t clock);
  // One moment in both clocks.
  void clock_snapshot(std::uint64_t boot_time, std::uint64_t real_time);
  // `descriptor` is an encoded TrackDescriptor.
  void track(std::string_view descriptor);
  void event(const Event& event);

 private:
  struct Names {
    // By the text's own hash map: names come from the trace, keys from here and there.
    std::unordered_map<std::string, std::uint64_t> ids;
  };
  std::uint64_t intern(Names& names, std::string_view text, protozero::pbf_tag_type list);
  void packet();

  BufferedOutput& out_;
  std::string packet_;
  std::string message_;   // the TrackEvent in the making
  std::string interned_;  // what it needs and nobody sent yet
  Names names_;
  Names categories_;
  Names keys_;
};

}  // namespace sonde::perfetto
