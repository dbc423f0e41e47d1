#include "import/perfetto/sequence.hpp"

#include <string>

#include "import/perfetto/wire.hpp"

namespace sonde::perfetto_import {
namespace {

constexpr std::size_t kMaxFrames = 512;

// {iid = 1, text = 2}
std::uint64_t read_entry(protozero::pbf_reader entry, std::string_view& text) {
  std::uint64_t iid = 0;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case varint(1):
        iid = entry.get_uint64();
        break;
      case bytes(2):
        text = text_of(entry);
        break;
      default:
        entry.skip();
    }
  }
  return iid;
}

void add_location(protozero::pbf_reader entry, Sequence& sequence, NamePool& names) {
  std::uint64_t iid = 0;
  SourceLocation location;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case varint(1):
        iid = entry.get_uint64();
        break;
      case bytes(2):
        location.file = names.intern(text_of(entry));
        break;
      case bytes(3):
        location.function = names.intern(text_of(entry));
        break;
      case varint(4):
        location.line = entry.get_uint32();
        break;
      default:
        entry.skip();
    }
  }
  sequence.locations[iid] = location;
}

void add_frame(protozero::pbf_reader entry, Sequence& sequence) {
  std::uint64_t iid = 0;
  Frame frame;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case varint(1):
        iid = entry.get_uint64();
        break;
      case varint(2):
        frame.function = entry.get_uint64();
        break;
      case varint(5):
        frame.file = entry.get_uint64();
        break;
      case varint(6):
        frame.line = entry.get_uint32();
        break;
      default:
        entry.skip();
    }
  }
  sequence.frames[iid] = frame;
}

void add_stack(protozero::pbf_reader entry, Sequence& sequence) {
  std::uint64_t iid = 0;
  std::vector<std::uint64_t> frames;
  while (entry.next()) {
    switch (entry.tag_and_type()) {
      case varint(1):
        iid = entry.get_uint64();
        break;
      case varint(2):
        frames.push_back(entry.get_uint64());
        break;
      case bytes(2):
        append_varints(text_of(entry), frames);
        break;
      default:
        entry.skip();
    }
  }
  if (frames.size() > kMaxFrames) frames.resize(kMaxFrames);
  sequence.stacks[iid] = std::move(frames);
}

}  // namespace

void append_varints(std::string_view packed, std::vector<std::uint64_t>& out) {
  const char* at = packed.data();
  const char* const end = at + packed.size();
  while (at < end) out.push_back(protozero::decode_varint(&at, end));
}

StringId Sequence::stack_text(std::uint64_t iid, TraceBuilder& builder) const {
  const auto stack = stacks.find(iid);
  if (stack == stacks.end()) return {};
  std::string out;
  for (std::size_t i = stack->second.size(); i-- > 0;) {
    const auto frame = frames.find(stack->second[i]);
    if (!out.empty()) out += ';';
    if (frame == frames.end()) {
      out += '?';
      continue;
    }
    out += builder.text(text(InternTable::FunctionNames, frame->second.function));
    if (const StringId file = text(InternTable::SourcePaths, frame->second.file); file.valid()) {
      out += " (";
      out += builder.text(file);
      out += ':' + std::to_string(frame->second.line) + ')';
    }
  }
  return builder.intern(out);
}

void Sequence::add_interned(std::string_view message, NamePool& names) {
  protozero::pbf_reader data(message.data(), message.size());
  const auto add_text = [&](InternTable table) {
    std::string_view text;
    const std::uint64_t iid = read_entry(data.get_message(), text);
    texts[static_cast<std::size_t>(table)][iid] = names.intern(text);
  };
  while (data.next()) {
    switch (data.tag_and_type()) {
      case bytes(1):
        add_text(InternTable::Categories);
        break;
      case bytes(2):
        add_text(InternTable::EventNames);
        break;
      case bytes(3):
        add_text(InternTable::AnnotationNames);
        break;
      case bytes(4):
        add_location(data.get_message(), *this, names);
        break;
      case bytes(5):
        add_text(InternTable::FunctionNames);
        break;
      case bytes(6):
        add_frame(data.get_message(), *this);
        break;
      case bytes(7):
        add_stack(data.get_message(), *this);
        break;
      case bytes(18):
        add_text(InternTable::SourcePaths);
        break;
      case bytes(29):
        add_text(InternTable::AnnotationTexts);
        break;
      default:
        data.skip();
    }
  }
}

void Sequence::set_defaults(std::string_view message) {
  clock = 0;
  track.reset();
  counter_tracks.clear();
  double_counter_tracks.clear();
  protozero::pbf_reader defaults(message.data(), message.size());
  while (defaults.next()) {
    switch (defaults.tag_and_type()) {
      case varint(58):
        clock = defaults.get_uint32();
        break;
      case bytes(11): {
        protozero::pbf_reader event = defaults.get_message();
        while (event.next()) {
          switch (event.tag_and_type()) {
            case varint(11):
              track = event.get_uint64();
              break;
            case varint(31):
              counter_tracks.push_back(event.get_uint64());
              break;
            case bytes(31):
              append_varints(text_of(event), counter_tracks);
              break;
            case varint(45):
              double_counter_tracks.push_back(event.get_uint64());
              break;
            case bytes(45):
              append_varints(text_of(event), double_counter_tracks);
              break;
            default:
              event.skip();
          }
        }
        break;
      }
      default:
        defaults.skip();
    }
  }
}

}  // namespace sonde::perfetto_import
