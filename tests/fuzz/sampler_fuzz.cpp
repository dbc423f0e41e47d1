// The memory of a process that means no good: every address leads somewhere into the input, so that
// lists form rings and objects lie inside of each other.

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "sampler/code_cache.hpp"
#include "sampler/elf_image.hpp"
#include "sampler/memory_map.hpp"
#include "sampler/stack_reader.hpp"
#include "sampler/task_clock.hpp"
#include "sampler/thread_names.hpp"

namespace {

using namespace sonde;

class FoldedMemory : public Memory {
 public:
  explicit FoldedMemory(std::string_view bytes) : bytes_(bytes) {}
  bool read(Address address, void* out, std::size_t size) const override {
    // Null, the last page and one in sixteen of the others cannot be read.
    if (address < 16 || address > UINT64_MAX - 4096 || (address >> 12 & 15) == 15) return false;
    if (bytes_.empty()) return false;
    char* const to = static_cast<char*>(out);
    for (std::size_t i = 0; i < size; ++i) to[i] = bytes_[(address + i) % bytes_.size()];
    return true;
  }

 private:
  std::string_view bytes_;
};

class PlainMemory : public Memory {
 public:
  explicit PlainMemory(std::string_view bytes) : bytes_(bytes) {}
  bool read(Address address, void* out, std::size_t size) const override {
    if (address > bytes_.size() || bytes_.size() - address < size) return false;
    std::memcpy(out, bytes_.data() + address, size);
    return true;
  }

 private:
  std::string_view bytes_;
};

void read_python(const Memory& memory, PythonRuntime runtime) {
  looks_right(memory, runtime);
  StackReader reader(memory, runtime);
  const PythonObjects objects(memory, runtime.layout);
  CodeCache codes(objects);
  std::vector<PythonThread> threads;
  std::vector<RawFrame> raw;
  std::vector<SampledFrame> frames;
  reader.read_threads(threads);
  for (std::size_t i = 0; i < threads.size() && i < 4; ++i) {
    reader.lock_holder(threads[i].interpreter);
    reader.read_stack(threads[i].state, raw);
    raw.resize(std::min<std::size_t>(raw.size(), 16));
    codes.resolve(raw, frames);
    if (i == 0) {
      for (const RawFrame& frame : raw) objects.brief(frame.code);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t choice = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  parse_maps(bytes);
  TaskTimes times;
  parse_task_times(bytes, times);
  char state = 0;
  std::uint64_t ticks = 0;
  parse_task_stat(bytes, state, ticks);
  version_of_name(bytes);
  for (const LineFormat format :
       {LineFormat::AddressPairs, LineFormat::Ranges, LineFormat::Locations}) {
    line_at(format, bytes, choice, choice * 2);
  }
  const PlainMemory file(bytes);
  if (const std::optional<ElfImage> image = ElfImage::read(file)) {
    std::vector<ElfImage::Symbol> symbols = {{"_PyRuntime", {}}, {"Py_Version", {}}};
    image->find(symbols);
    image->section(".PyRuntime");
    image->load_bias(0x400000, 0);
  }
  const FoldedMemory memory(bytes);
  PythonRuntime runtime;
  runtime.address = 16;
  const int minor = 8 + choice % 7;
  if (const std::optional<PythonLayout> layout = known_layout(minor)) {
    runtime.layout = *layout;
  } else {
    const Result<PythonLayout> told = read_debug_offsets(memory, runtime.address);
    if (!told) return 0;
    runtime.layout = *told;
  }
  read_python(memory, runtime);
  if (size < 512) {
    read_thread_names(PythonObjects(memory, runtime.layout), 16);
  }
  return 0;
}
