#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "import/json/event_splitter.hpp"
#include "import/kineto/categories.hpp"
#include "import/trace_event/batch.hpp"
#include "import/trace_event/event_parser.hpp"

namespace sonde {

// Who wrote the file decides what an unknown category is and which track an event lies on.
enum class Dialect : std::uint8_t { Kineto, Chrome, MXNet };

// Turns blocks into batches. Each thread has one; it keeps its own strings and tracks between
// blocks, so that a name is looked up in the thread's own table only.
class EventReader {
 public:
  // The reader forgets its strings when they take more than `most_string_bytes`.
  EventReader(std::size_t number, Dialect dialect, std::size_t most_string_bytes);

  // `spare`: a cleared batch whose memory may be used again, or nothing.
  std::unique_ptr<Batch> read(const EventBlock& block, std::unique_ptr<Batch> spare = nullptr);

 private:
  void read_broken_event(std::string_view text, std::uint64_t offset, bool cut);
  bool read_piece(std::string_view piece, std::uint64_t offset);
  void take(const Event& event, std::uint64_t offset, std::string_view text);
  void take_slice(const Event& event, Record& record, std::uint64_t offset, std::string_view text);
  void take_rows(const Event& event, Record& record);
  void take_arguments(const Event& event, Record& record);
  void set_value(std::string_view value, LocalArgument& argument);
  void take_half(const Event& event, Record& record);
  void take_instant(const Event& event, Record& record);
  void take_counter(const Event& event, Record& record);
  void take_flow(const Event& event, Record& record);
  void take_async(const Event& event, Record& record);
  void take_metadata(const Event& event, Record& record);
  void take_sample(const Event& event, Record& record);

  LocalId intern(std::string_view text);
  LocalId intern(const RawString& text);
  LocalId intern_name(const Event& event);
  LocalId intern_category(const Event& event);
  LocalId intern_optional(std::string_view text) { return text.empty() ? kNoLocal : intern(text); }
  StringId local_string(const RawString& text) {
    return text.text.empty() ? StringId() : StringId(intern(text));
  }
  LocalId track(const Event& event, LocalId lane = kNoLocal);
  LocalId track(const TrackKey& key);
  InputTexts intern_inputs(const Event& event);
  void forget_strings_if_many();

  std::size_t number_;
  Dialect dialect_;
  std::size_t most_string_bytes_;
  std::shared_ptr<StringPool> strings_;
  std::uint64_t epoch_ = 0;
  std::vector<KinetoCategory> categories_;  // by local string
  std::vector<bool> category_known_;
  std::vector<TrackKey> tracks_;
  FlatMap<LocalId> track_ids_;
  LocalId last_track_ = kNoLocal;
  LocalId memory_name_ = 0;
  LocalId out_of_memory_name_ = 0;
  EventParser parser_;
  std::string scratch_;
  std::string mended_;
  Event event_;
  std::unique_ptr<Batch> batch_;
};

}  // namespace sonde
