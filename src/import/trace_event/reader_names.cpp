// The reader's own numbers for strings and tracks.

#include "import/trace_event/reader.hpp"

#include <charconv>

namespace sonde {
namespace {

// "stream 7", "stream 7 annotations" and "25738" of the first years are numbers today.
void normalise_thread(ScalarText& id) {
  if (id.type != ScalarText::Type::Text) return;
  std::string_view text = id.text.text;
  const bool stream = text.starts_with("stream ");
  if (stream) text.remove_prefix(7);
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || text.empty()) return;
  if (parsed.ptr != text.data() + text.size() && !stream) return;
  id.type = ScalarText::Type::Number;
  id.number = number;
}

// MXNet numbers its devices from 0 and never has more than a few hundred.
bool is_mxnet_device(std::int64_t pid) { return pid >= 0 && pid < 65536; }

}  // namespace

LocalId EventReader::intern(std::string_view text) {
  const std::size_t before = strings_->size();
  const StringId id = strings_->intern(text);
  if (strings_->size() != before) batch_->new_strings.push_back(strings_->view(id));
  return id.value;
}

LocalId EventReader::intern(const RawString& text) {
  if (!text.has_escapes) return intern(text.text);
  unescape_json(text.text, scratch_);
  return intern(std::string_view(scratch_));
}

// The name as it was when it last came after the same neighbour, if it is the same again.
LocalId EventReader::intern_name(const Event& event) {
  if (event.expected == nullptr || event.name.has_escapes) return intern(event.name);
  if (event.expected->name != event.name.text) {
    event.expected->name_id = intern(event.name.text);
    event.expected->name = strings_->view(StringId(event.expected->name_id));
  }
  return event.expected->name_id;
}

LocalId EventReader::intern_category(const Event& event) {
  if (event.category.text.empty()) return 0;
  if (event.category_id == nullptr) return intern(event.category);
  if (*event.category_id == kNoLocal) *event.category_id = intern(event.category);
  return *event.category_id;
}

LocalId EventReader::track(const Event& event, LocalId lane) {
  TrackKey key;
  ScalarText tid = event.tid;
  bool in_category = false;
  if (dialect_ == Dialect::Kineto) {
    normalise_thread(tid);
  } else if (dialect_ == Dialect::MXNet) {
    // What ran on no device has the hash of its category for a pid: the category itself says more.
    const bool on_device =
        (event.phase == 'B' || event.phase == 'E') && is_mxnet_device(event.pid.number);
    in_category = !event.category.text.empty() && !on_device;
  }
  if (in_category)
    key.pid_text = intern(event.category);
  else if (event.pid.type == ScalarText::Type::Text)
    key.pid_text = intern(event.pid.text);
  else
    key.pid = event.pid.number;
  if (lane == kNoLocal) {
    if (tid.type == ScalarText::Type::Text)
      key.tid_text = intern(tid.text);
    else
      key.tid = tid.number;
  }
  key.lane = lane;
  return track(key);
}

LocalId EventReader::track(const TrackKey& key) {
  if (last_track_ != kNoLocal && tracks_[last_track_] == key) return last_track_;
  std::uint64_t hash = hash_of(key);
  for (;; hash = mix_bits(hash + 1)) {
    const auto next = static_cast<LocalId>(tracks_.size());
    last_track_ = track_ids_.get_or_insert(hash, next);
    if (last_track_ == next) {
      tracks_.push_back(key);
      batch_->new_tracks.push_back(key);
      return last_track_;
    }
    if (tracks_[last_track_] == key) return last_track_;
  }
}

}  // namespace sonde
