#include "import/perfetto/tracks.hpp"

#include <cctype>
#include <charconv>
#include <optional>

#include "base/json_writer.hpp"
#include "import/perfetto/wire.hpp"

namespace sonde::perfetto_import {
namespace {

constexpr int kMaxParents = 64;

// The number behind `word` in the text, whatever its case: "GPU 1", "AGENT [4]".
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    bool same = true;
    for (std::size_t i = 0; i < word.size() && same; ++i) {
      same = std::tolower(static_cast<unsigned char>(text[at + i])) == word[i];
    }
    if (!same) continue;
    std::size_t digit = at + word.size();
    while (digit < text.size() && (text[digit] == ' ' || text[digit] == '[' || text[digit] == '#' ||
                                   text[digit] == ':' || text[digit] == '_')) {
      ++digit;
    }
    std::int64_t number = 0;
    const auto parsed = std::from_chars(text.data() + digit, text.data() + text.size(), number);
    if (parsed.ec == std::errc() && number >= 0) return number;
  }
  return std::nullopt;
}

}  // namespace

Descriptor& TrackTable::at(std::uint64_t uuid) { return descriptors_[uuid]; }

TrackId TrackTable::track(std::uint64_t uuid) {
  Descriptor& descriptor = at(uuid);
  if (!descriptor.track.valid()) {
    descriptor.track = builder_.add_track(Track());
    order_.push_back(uuid);
  }
  return descriptor.track;
}

char TrackTable::scope(std::uint64_t uuid) const {
  const auto found = descriptors_.find(uuid);
  if (uuid == 0 || found == descriptors_.end()) return 'g';
  const Descriptor& descriptor = found->second;
  if (descriptor.is_process || descriptor.stated == Descriptor::Stated::Process) return 'p';
  return descriptor.is_thread || descriptor.parent != 0 ? 't' : 'g';
}

void TrackTable::describe(std::string_view message) {
  protozero::pbf_reader reader(message.data(), message.size());
  Descriptor seen;
  std::uint64_t uuid = 0;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint(1):
        uuid = reader.get_uint64();
        break;
      case bytes(2):
      case bytes(10):
      case bytes(13):
        seen.name = names_.intern(text_of(reader));
        break;
      case bytes(3):
        read_process(text_of(reader), seen);
        break;
      case bytes(4):
        read_thread(text_of(reader), seen);
        break;
      case varint(5):
        seen.parent = reader.get_uint64();
        break;
      case bytes(8):
        read_counter(text_of(reader), seen);
        break;
      case varint(12):
        seen.rank = reader.get_int32();
        seen.has_rank = true;
        break;
      case bytes(14):
        read_description(text_of(reader), seen);
        break;
      default:
        reader.skip();
    }
  }
  // Writers send a description again with every fresh start of their state.
  Descriptor& descriptor = at(uuid);
  seen.known = true;
  seen.track = descriptor.track;
  seen.total = descriptor.total;
  descriptor = seen;
  if (seen.is_process || seen.is_thread) {
    Process& process = processes_[seen.pid];
    if (seen.process_name.valid()) process.name = seen.process_name;
    if (seen.process_labels.valid()) process.labels = seen.process_labels;
    if (seen.is_process && !process.name.valid() && seen.name.valid()) process.name = seen.name;
  }
}

void TrackTable::read_process(std::string_view message, Descriptor& descriptor) {
  descriptor.is_process = true;
  protozero::pbf_reader reader(message.data(), message.size());
  std::string labels;
  std::string command;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint(1):
        descriptor.pid = reader.get_int32();
        break;
      case bytes(2):
        if (!command.empty()) command += ' ';
        command += text_of(reader);
        break;
      case bytes(6):
        descriptor.process_name = names_.intern(text_of(reader));
        break;
      case bytes(8):
        if (!labels.empty()) labels += ',';
        labels += text_of(reader);
        break;
      default:
        reader.skip();
    }
  }
  if (!labels.empty()) descriptor.process_labels = names_.intern(labels);
  if (!descriptor.process_name.valid() && !command.empty()) {
    descriptor.process_name = names_.intern(command);
  }
}

void TrackTable::read_thread(std::string_view message, Descriptor& descriptor) {
  descriptor.is_thread = true;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint(1):
        descriptor.pid = reader.get_int32();
        break;
      case varint(2):
        descriptor.tid = reader.get_int64();
        break;
      case bytes(5):
        descriptor.thread_name = names_.intern(text_of(reader));
        break;
      default:
        reader.skip();
    }
  }
}

void TrackTable::read_counter(std::string_view message, Descriptor& descriptor) {
  descriptor.is_counter = true;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint(3): {
        constexpr std::string_view kUnits[] = {"", "ns", "count", "bytes"};
        const auto unit = static_cast<std::uint32_t>(reader.get_enum());
        if (unit > 0 && unit < std::size(kUnits)) descriptor.unit = builder_.intern(kUnits[unit]);
        break;
      }
      case varint(4):
        descriptor.multiplier = reader.get_int64();
        break;
      case varint(5):
        descriptor.incremental = reader.get_bool();
        break;
      case bytes(6):
        descriptor.unit = names_.intern(text_of(reader));
        break;
      default:
        reader.skip();
    }
  }
  if (descriptor.multiplier == 0) descriptor.multiplier = 1;
}

// ProcessTree: processes = 1 {pid = 1, cmdline = 3}, threads = 2 {tid = 1, name = 2, tgid = 3}.
void TrackTable::add_process_tree(std::string_view message) {
  protozero::pbf_reader tree(message.data(), message.size());
  while (tree.next()) {
    const auto part = tree.tag_and_type();
    if (part != bytes(1) && part != bytes(2)) {
      tree.skip();
      continue;
    }
    protozero::pbf_reader entry = tree.get_message();
    std::int64_t id = 0;
    std::string text;
    const std::uint32_t text_field = part == bytes(1) ? bytes(3) : bytes(2);
    while (entry.next()) {
      if (entry.tag_and_type() == varint(1)) {
        id = entry.get_int32();
      } else if (entry.tag_and_type() == text_field) {
        if (!text.empty()) text += ' ';
        text += text_of(entry);
      } else {
        entry.skip();
      }
    }
    if (text.empty()) continue;
    if (part == bytes(2)) {
      threads_[id] = names_.intern(text);
    } else if (Process& process = processes_[id]; !process.name.valid()) {
      process.name = names_.intern(text);
    }
  }
}

TrackTable::Place TrackTable::place_of(const Descriptor& descriptor) const {
  Place place;
  const Descriptor* at = &descriptor;
  for (int i = 0; i < kMaxParents; ++i) {
    if (at->is_thread && place.thread == nullptr) place.thread = at;
    const bool process = at->is_process || at->stated == Descriptor::Stated::Process;
    if (process && place.process == nullptr) place.process = at;
    const auto parent = descriptors_.find(at->parent);
    if (at->parent == 0 || parent == descriptors_.end()) break;
    at = &parent->second;
  }
  return place;
}

// Device and stream of a track of device work stand in its name or in the names above it.
void TrackTable::number_stream(const Descriptor& descriptor, Track& track) const {
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  const Descriptor* at = &descriptor;
  for (int i = 0; i < kMaxParents; ++i) {
    const std::string_view name = at->name.valid() ? builder_.text(at->name) : std::string_view();
    for (const std::string_view word : {"stream", "queue"}) {
      if (!stream) stream = number_behind(name, word);
    }
    for (const std::string_view word : {"gpu", "device", "agent"}) {
      if (!device) device = number_behind(name, word);
    }
    const auto parent = descriptors_.find(at->parent);
    if (at->parent == 0 || parent == descriptors_.end()) break;
    at = &parent->second;
  }
  if (track.device < 0 && device && *device <= INT32_MAX) {
    track.device = static_cast<std::int32_t>(*device);
  }
  if (stream) track.tid = *stream;
}

std::vector<TrackId> TrackTable::home_tracks() const {
  const auto name_of = [&](const Descriptor& descriptor) {
    const StringId name = descriptor.thread_name.valid() ? descriptor.thread_name : descriptor.name;
    return name.valid() ? builder_.text(name) : std::string_view();
  };
  std::vector<TrackId> homes;
  std::map<std::pair<std::uint64_t, std::string_view>, TrackId> by_name;
  for (const std::uint64_t uuid : order_) {
    const Descriptor& descriptor = descriptors_.at(uuid);
    homes.push_back(descriptor.track);
    by_name.try_emplace({descriptor.parent, name_of(descriptor)}, descriptor.track);
  }
  for (const std::uint64_t uuid : order_) {
    const Descriptor& descriptor = descriptors_.at(uuid);
    if (descriptor.stated == Descriptor::Stated::Lane) {
      const auto parent = descriptors_.find(descriptor.parent);
      if (parent != descriptors_.end() && parent->second.track.valid())
        homes[descriptor.track.index()] = parent->second.track;
      continue;
    }
    if (descriptor.stated != Descriptor::Stated::Nothing) continue;
    const std::string_view name = name_of(descriptor);
    const std::size_t at = name.rfind(" (overlap ");
    if (descriptor.is_counter || at == std::string_view::npos || !name.ends_with(')')) continue;
    const std::string_view base = name.substr(0, at);
    // Beside the first lane, or below it.
    const auto sibling = by_name.find({descriptor.parent, base});
    const auto parent = descriptors_.find(descriptor.parent);
    if (sibling != by_name.end()) {
      homes[descriptor.track.index()] = sibling->second;
    } else if (parent != descriptors_.end() && parent->second.track.valid() &&
               name_of(parent->second) == base) {
      homes[descriptor.track.index()] = parent->second.track;
    }
  }
  return homes;
}

void TrackTable::finish(const std::vector<bool>& has_device_work) {
  using Stated = Descriptor::Stated;
  std::vector<std::pair<std::string, std::string>> units;
  stated_.assign(builder_.track_count(), false);
  for (const std::uint64_t uuid : order_) {
    const Descriptor& descriptor = descriptors_[uuid];
    const Place place = place_of(descriptor);
    Track& track = builder_.track(descriptor.track);
    if (descriptor.stated == Stated::Track || descriptor.stated == Stated::Process) {
      track = descriptor.facts;
      stated_[descriptor.track.index()] = true;
      continue;
    }
    const bool stated_process = place.thread == nullptr && place.process != nullptr &&
                                place.process->stated == Stated::Process;
    if (place.thread != nullptr) {
      track.pid = place.thread->pid;
    } else if (stated_process) {
      track.pid = place.process->facts.pid;
    } else if (place.process != nullptr) {
      track.pid = place.process->pid;
    }
    track.name = descriptor.name;
    track.type = TrackType::Async;
    if (descriptor.is_counter) {
      track.type = TrackType::Counter;
    } else if (descriptor.is_thread) {
      track.type = TrackType::Thread;
      track.tid = descriptor.tid;
      if (descriptor.thread_name.valid()) track.name = descriptor.thread_name;
      if (!track.name.valid()) {
        if (const auto known = threads_.find(track.tid); known != threads_.end()) {
          track.name = known->second;
        }
      }
    } else if (place.thread != nullptr) {
      track.tid = place.thread->tid;
    }
    if (has_device_work[descriptor.track.index()]) {
      track.type = TrackType::Stream;
      number_stream(descriptor, track);
    }
    if (descriptor.has_rank) track.sort_index = descriptor.rank;
    if (stated_process) {
      track.process = place.process->facts.process;
      track.labels = place.process->facts.labels;
    } else if (place.thread != nullptr || place.process != nullptr) {
      if (const auto process = processes_.find(track.pid); process != processes_.end()) {
        track.process = process->second.name;
        track.labels = process->second.labels;
      }
    }
    if (!descriptor.known && uuid != 0) {
      builder_.losses().add("undescribed_tracks", Severity::Info,
                            "Tracks that the file does not describe; they have no name.");
    }
    if (descriptor.unit.valid() && descriptor.name.valid()) {
      units.emplace_back(builder_.text(descriptor.name), builder_.text(descriptor.unit));
    }
  }
  if (units.empty()) return;
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, unit] : units) json.member(name, unit);
  json.end_object();
  builder_.meta().properties.emplace_back("counter_units", json.take());
}

}  // namespace sonde::perfetto_import
