#include "sampler/stack_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sonde {
namespace {

constexpr std::size_t kMaxInterpreters = 256;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxPages = 64;
constexpr std::size_t kFrameBytes = 4096;

template <class T>
T field(const char* bytes, std::size_t offset) {
  T out;
  std::memcpy(&out, bytes + offset, sizeof out);
  return out;
}

}  // namespace

bool StackReader::read_threads(std::vector<PythonThread>& out) const {
  out.clear();
  const PythonLayout& layout = runtime_.layout;
  Address interpreter = 0;
  if (!memory_.get(runtime_.address + layout.runtime.interpreters, interpreter)) return false;
  const std::size_t bytes = std::max({layout.thread.next, layout.thread.interpreter,
                                      layout.thread.handle, layout.thread.native_id}) +
                            8;
  std::vector<char> state(bytes);
  for (std::size_t i = 0; interpreter != 0 && i < kMaxInterpreters; ++i) {
    Address at = 0;
    if (!memory_.get(interpreter + layout.interpreter.threads, at)) return false;
    while (at != 0 && out.size() < kMaxThreads) {
      if (!memory_.read(at, state.data(), bytes)) break;
      // A thread that ended meanwhile: its memory may be anything.
      if (field<Address>(state.data(), layout.thread.interpreter) != interpreter) break;
      PythonThread thread;
      thread.state = at;
      thread.interpreter = interpreter;
      thread.handle = field<Address>(state.data(), layout.thread.handle);
      if (layout.thread.native_id != 0) {
        thread.native_id = field<std::uint64_t>(state.data(), layout.thread.native_id);
      }
      out.push_back(thread);
      at = field<Address>(state.data(), layout.thread.next);
    }
    if (!memory_.get(interpreter + layout.interpreter.next, interpreter)) break;
  }
  return true;
}

Address StackReader::top_frame(Address thread_state) const {
  const PythonLayout& layout = runtime_.layout;
  Address frame = 0;
  if (!memory_.get(thread_state + layout.thread.frame, frame)) return 0;
  if (layout.thread.inner < 0 || frame == 0) return frame;
  Address inner = 0;
  const bool read = memory_.get(frame + static_cast<std::uint32_t>(layout.thread.inner), inner);
  return read ? inner : 0;
}

bool StackReader::read_frame_bytes(Address address, void* out, std::size_t size) {
  for (std::size_t i = 0; i < pages_used_; ++i) {
    const Page& page = pages_[i];
    if (address >= page.start && address - page.start <= page.bytes.size() &&
        page.bytes.size() - (address - page.start) >= size) {
      std::memcpy(out, page.bytes.data() + (address - page.start), size);
      return true;
    }
  }
  // Callers lie before what they call, mostly on the same page.
  const Address start = address / kPage * kPage;
  const std::size_t length = (address + size - start + kPage - 1) / kPage * kPage;
  if (pages_used_ < kMaxPages && address <= UINT64_MAX - 2 * kPage) {
    if (pages_.size() <= pages_used_) pages_.emplace_back();
    Page& page = pages_[pages_used_];
    page.bytes.resize(length);
    if (memory_.read(start, page.bytes.data(), length)) {
      page.start = start;
      ++pages_used_;
      std::memcpy(out, page.bytes.data() + (address - start), size);
      return true;
    }
  }
  return memory_.read(address, out, size);
}

StackReader::Outcome StackReader::read_stack(Address thread_state, std::vector<RawFrame>& out) {
  out.clear();
  pages_used_ = 0;
  const PythonLayout& layout = runtime_.layout;
  std::array<char, kFrameBytes + 8> bytes;
  const std::size_t size =
      std::max({layout.frame.size, layout.frame.code + 8, layout.frame.caller + 8,
                layout.frame.instruction + 8, layout.frame.entry + 1});
  if (size > bytes.size()) return Outcome::Broken;
  Address at = top_frame(thread_state);
  for (std::size_t i = 0; at != 0; ++i) {
    if (i == kMaxFrames) return Outcome::Cut;
    if (!read_frame_bytes(at, bytes.data(), size)) return Outcome::Broken;
    RawFrame frame;
    const Address place = at;
    frame.address = at;
    frame.code = field<Address>(bytes.data(), layout.frame.code) & ~layout.frame.tags;
    at = field<Address>(bytes.data(), layout.frame.caller);
    const auto mark = field<std::uint8_t>(bytes.data(), layout.frame.entry);
    if (layout.frame.is_index) {
      frame.instruction = field<std::int32_t>(bytes.data(), layout.frame.instruction);
      if (layout.frame.counts_units) frame.instruction *= 2;
      frame.is_entry = true;
    } else {
      const auto pointer = field<Address>(bytes.data(), layout.frame.instruction);
      frame.instruction = static_cast<std::int64_t>(pointer - (frame.code + layout.code.bytecode));
      // 3.11 marks the outermost Python frame, later versions put a frame of C behind it.
      if (layout.c_owner == 255) {
        frame.is_entry = mark == 1;
      } else if (mark >= layout.c_owner) {
        if (!out.empty() && !out.back().is_entry) {
          out.back().is_entry = true;
          out.back().activation = place;
        }
        continue;
      }
    }
    if (frame.code == 0) return Outcome::Broken;
    out.push_back(frame);
  }
  if (!out.empty()) out.back().is_entry = true;
  return Outcome::Whole;
}

Address StackReader::lock_holder(Address interpreter) const {
  const PythonLayout& layout = runtime_.layout;
  Address holder = 0;
  if (layout.interpreter.lock == 0) {
    return memory_.get(runtime_.address + layout.runtime.holder, holder) ? holder : 0;
  }
  Address lock = 0;
  std::int32_t locked = 0;
  if (!memory_.get(interpreter + layout.interpreter.lock, lock) || lock == 0) return 0;
  if (!memory_.get(lock + layout.lock.locked, locked) || locked != 1) return 0;
  return memory_.get(lock + layout.lock.holder, holder) ? holder : 0;
}

}  // namespace sonde
