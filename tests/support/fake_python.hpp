#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sampler/runtime_finder.hpp"
#include "tests/support/fake_memory.hpp"

namespace sonde::test {

// An interpreter in fake memory, laid out as a version of CPython has it.
class FakePython {
 public:
  explicit FakePython(const PythonLayout& layout) : layout_(layout) {
    runtime_ = memory.make(8192);
    interpreter_ = memory.make(16384);
    code_type_ = type("code");
    str_type_ = type("str");
    dict_type_ = type("dict");
    memory.put<Address>(runtime_ + layout.runtime.interpreters, interpreter_);
    const Address modules = memory.make(1024);
    memory.put<Address>(modules + layout.object.type, dict_type_);
    memory.put<Address>(interpreter_ + layout.interpreter.modules, modules);
    if (layout.interpreter.lock != 0) {
      lock_ = memory.make(64);
      memory.put<Address>(interpreter_ + layout.interpreter.lock, lock_);
    }
  }

  Address type(const char* name) {
    const Address at = memory.make(1024);
    const Address text = memory.make(64);
    memory.put_bytes(text, name);
    memory.put<Address>(at + layout_.object.type_name, text);
    return at;
  }
  Address text(std::string_view ascii) {
    const Address at = memory.make(layout_.object.ascii_size + ascii.size() + 1);
    memory.put<Address>(at + layout_.object.type, str_type_);
    memory.put<std::uint64_t>(at + 16, ascii.size());
    memory.put<std::uint32_t>(at + 32, 1u << 2 | 1u << 5 | 1u << 6);
    memory.put_bytes(at + layout_.object.ascii_size, ascii);
    return at;
  }
  Address wide_text(const std::vector<std::uint32_t>& characters, std::uint32_t width) {
    const Address at = memory.make(layout_.object.compact_size + characters.size() * width);
    memory.put<Address>(at + layout_.object.type, str_type_);
    memory.put<std::uint64_t>(at + 16, characters.size());
    memory.put<std::uint32_t>(at + 32, width << 2 | 1u << 5);
    for (std::size_t i = 0; i < characters.size(); ++i) {
      const Address place = at + layout_.object.compact_size + i * width;
      if (width == 1) memory.put(place, static_cast<std::uint8_t>(characters[i]));
      if (width == 2) memory.put(place, static_cast<std::uint16_t>(characters[i]));
      if (width == 4) memory.put(place, characters[i]);
    }
    return at;
  }
  Address bytes(std::string_view content) {
    const Address at = memory.make(32 + content.size());
    memory.put<std::uint64_t>(at + 16, content.size());
    memory.put_bytes(at + 32, content);
    return at;
  }
  Address code(std::string_view name, std::string_view file, int first_line,
               std::string_view lines) {
    const Address at = memory.make(512);
    memory.put<Address>(at + layout_.object.type, code_type_);
    memory.put<Address>(at + layout_.code.file, text(file));
    memory.put<Address>(at + layout_.code.name, text(name));
    memory.put<Address>(at + layout_.code.lines, bytes(lines));
    memory.put<std::int32_t>(at + layout_.code.first_line, first_line);
    if (layout_.code.qualified_name != 0) {
      memory.put<Address>(at + layout_.code.qualified_name,
                          text(std::string("C.") + std::string(name)));
    }
    return at;
  }
  // A frame at byte `offset` of its code.
  Address frame(Address code, Address caller, std::int64_t offset, std::uint8_t mark = 0) {
    const Address at = memory.make(512);
    memory.put<Address>(at + layout_.frame.code, code | (layout_.frame.tags & 1));
    memory.put<Address>(at + layout_.frame.caller, caller);
    if (layout_.frame.is_index) {
      memory.put(at + layout_.frame.instruction,
                 static_cast<std::int32_t>(layout_.frame.counts_units ? offset / 2 : offset));
    } else {
      memory.put<Address>(at + layout_.frame.instruction,
                          code + layout_.code.bytecode + static_cast<std::uint64_t>(offset));
      memory.put<std::uint8_t>(at + layout_.frame.entry, mark);
    }
    return at;
  }
  Address thread(Address frame, std::uint64_t native_id) {
    const Address at = memory.make(1024);
    memory.put<Address>(at + layout_.thread.interpreter, interpreter_);
    if (layout_.thread.native_id != 0) {
      memory.put<std::uint64_t>(at + layout_.thread.native_id, native_id);
    }
    memory.put<Address>(at + layout_.thread.next, last_);
    last_ = at;
    memory.put<Address>(interpreter_ + layout_.interpreter.threads, at);
    set_frame(at, frame);
    return at;
  }
  void set_frame(Address thread, Address frame) {
    if (layout_.thread.inner < 0) {
      memory.put<Address>(thread + layout_.thread.frame, frame);
      return;
    }
    const Address inner = memory.make(64);
    memory.put<Address>(inner + static_cast<std::uint32_t>(layout_.thread.inner), frame);
    memory.put<Address>(thread + layout_.thread.frame, inner);
  }
  void hold_lock(Address thread) {
    if (lock_ == 0) {
      memory.put<Address>(runtime_ + layout_.runtime.holder, thread);
      return;
    }
    memory.put<std::int32_t>(lock_ + layout_.lock.locked, thread == 0 ? 0 : 1);
    if (thread != 0) memory.put<Address>(lock_ + layout_.lock.holder, thread);
  }

  PythonRuntime runtime() const { return {runtime_, layout_, "/usr/bin/python3"}; }
  Address interpreter() const { return interpreter_; }
  const PythonLayout& layout() const { return layout_; }

  FakeMemory memory;

 private:
  PythonLayout layout_;
  Address runtime_ = 0;
  Address interpreter_ = 0;
  Address code_type_ = 0;
  Address str_type_ = 0;
  Address dict_type_ = 0;
  Address lock_ = 0;
  Address last_ = 0;
};

// The table that _PyRuntime of 3.13 and 3.14 begins with: each word its own number times 8, so that
// a wrong place shows.
inline std::vector<std::uint64_t> debug_offsets(std::uint64_t version, std::size_t words) {
  std::vector<std::uint64_t> out(words);
  for (std::size_t i = 0; i < words; ++i) out[i] = i * 8;
  std::memcpy(out.data(), "xdebugpy", 8);
  out[1] = version;
  out[2] = 0;
  return out;
}

}  // namespace sonde::test
