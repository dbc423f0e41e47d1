#include "capture/memory/stacks.hpp"

#include <string.h>

#include "capture/memory/native_stack.hpp"

namespace sonde::memory {
namespace {

std::uint64_t hash_of(const char* text, std::size_t size) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325u;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100'0000'01B3u;
  }
  return mix(hash);
}

std::uint64_t hash_of(std::uint32_t caller, std::uint32_t code, std::int32_t place, bool by_line) {
  const std::uint64_t where = std::uint64_t{static_cast<std::uint32_t>(place)} << 1 | by_line;
  return mix(mix(std::uint64_t{caller} << 32 | code) ^ where);
}

}  // namespace

std::uint32_t Stacks::text(tables::Writer& file, const char* text, std::size_t size) {
  if (size == 0) return 0;
  const std::uint64_t hash = hash_of(text, size);
  // 64 bits of hash and the size: two texts of a program do not agree in both.
  const Text* const known =
      texts_.find(hash, [&](const Text& other) { return other.size == size; });
  if (known) return known->id;
  const std::uint32_t id = file.add_text(text, size);
  if (id != 0) texts_.add(hash, {0, static_cast<std::uint32_t>(size), id});
  return id;
}

std::uint32_t Stacks::python_code(const PythonSource& source, const PythonFrame& frame,
                                  tables::Writer& file) {
  const std::uint64_t hash = mix(reinterpret_cast<std::uint64_t>(frame.code));
  Code* const known = codes_.find(hash, [&](const Code& code) { return code.code == frame.code; });
  if (known && known->name == frame.name && known->file == frame.file &&
      known->first_line == frame.first_line) {
    return known->id;
  }
  source.describe(frame.code, &text_);
  tables::CodeRow row{};
  row.id = ++code_count_;
  row.name = text(file, text_.name, strlen(text_.name));
  row.qualified_name = text(file, text_.qualified_name, strlen(text_.qualified_name));
  row.file = text(file, text_.file, strlen(text_.file));
  row.first_line = frame.first_line;
  row.flags = text_.flags;
  if (!file.add(tables::Table::Code, row)) return 0;
  const Code entry{hash, frame.code, frame.name, frame.file, frame.first_line, row.id};
  if (known) {
    const std::uint64_t kept = known->hash;
    *known = entry;
    known->hash = kept;
  } else {
    codes_.add(hash, entry);
  }
  return row.id;
}

std::uint32_t Stacks::native_code(std::uintptr_t address, tables::Writer& file) {
  const std::uint64_t hash = mix(address);
  const void* const key = reinterpret_cast<const void*>(address);
  const Code* const known = codes_.find(hash, [&](const Code& code) { return code.code == key; });
  if (known) return known->id;
  const NativeSymbol symbol = find_symbol(address, text_.name, sizeof text_.name);
  // All addresses of one function share its row, which lies at the address of its begin.
  if (symbol.start != address) {
    const std::uint32_t id = symbol.start ? native_code(symbol.start, file) : 0;
    if (id != 0) {
      codes_.add(hash, {0, key, nullptr, nullptr, 0, id});
      return id;
    }
  }
  tables::CodeRow row{};
  row.id = ++code_count_;
  row.name = text(file, text_.name, strlen(text_.name));
  row.file = symbol.object ? text(file, symbol.object, strlen(symbol.object)) : 0;
  row.flags = tables::kNativeFrame;
  if (!file.add(tables::Table::Code, row)) return 0;
  codes_.add(hash, {0, key, nullptr, nullptr, 0, row.id});
  return row.id;
}

Stacks::Frame* Stacks::find(std::uint32_t caller, std::uint32_t code, std::int32_t place,
                            bool by_line) {
  return frames_.find(hash_of(caller, code, place, by_line), [&](const Frame& frame) {
    return frame.caller == caller && frame.code == code && frame.place == place &&
           frame.by_line == by_line;
  });
}

void Stacks::remember(std::uint32_t caller, std::uint32_t code, std::int32_t place, bool by_line,
                      std::uint32_t id) {
  frames_.add(hash_of(caller, code, place, by_line), {0, caller, code, place, by_line, id});
}

std::uint32_t Stacks::line_frame(std::uint32_t caller, std::uint32_t code, std::int32_t line,
                                 tables::Writer& file) {
  if (const Frame* const known = find(caller, code, line, true)) return known->id;
  const tables::FrameRow row{frame_count_ + 1, caller, code, line};
  if (!file.add(tables::Table::Frame, row)) return 0;
  remember(caller, code, line, true, row.id);
  return ++frame_count_;
}

std::uint32_t Stacks::python_frame(const PythonSource& source, tables::Writer& file) {
  std::uint32_t frame = 0;
  for (int i = source.walk(walked_, kMostFrames); i-- > 0;) {
    const PythonFrame& walked = walked_[i];
    const std::uint32_t code = python_code(source, walked, file);
    if (code == 0) return frame;
    if (const Frame* const known = find(frame, code, walked.instruction, false)) {
      frame = known->id;
      continue;
    }
    const std::uint32_t inner =
        line_frame(frame, code, source.line(walked.code, walked.instruction), file);
    if (inner == 0) return frame;
    remember(frame, code, walked.instruction, false, inner);
    frame = inner;
  }
  return frame;
}

std::uint32_t Stacks::native_frame(tables::Writer& file) {
  std::uint32_t frame = 0;
  for (int i = walk_native(addresses_, kMostFrames); i-- > 0;) {
    const std::uint32_t code = native_code(addresses_[i], file);
    const std::uint32_t inner = code ? line_frame(frame, code, 0, file) : 0;
    if (inner == 0) return frame;
    frame = inner;
  }
  return frame;
}

void Stacks::clear() {
  texts_.clear();
  codes_.clear();
  frames_.clear();
  code_count_ = frame_count_ = 0;
}

}  // namespace sonde::memory
