#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/memory/interface.hpp"
#include "capture/memory/mapped_table.hpp"
#include "trace/tables/writer.hpp"

namespace sonde::memory {

// Numbers and rows for the frames of stacks, Python's and native ones. Used under one lock, inside
// of malloc: nothing here allocates but mappings. Memory of zeros knows no stack.
class Stacks {
 public:
  static constexpr int kMostFrames = 1024;  // the innermost ones

  // The frame of the calling thread's Python stack; 0 where it runs no Python code.
  std::uint32_t python_frame(const PythonSource& source, tables::Writer& file);
  // The frame of the calling thread's native stack, without this library's own part.
  std::uint32_t native_frame(tables::Writer& file);
  void clear();

 private:
  struct Text {
    std::uint64_t hash;
    std::uint32_t size;
    std::uint32_t id;
  };
  struct Code {
    std::uint64_t hash;
    const void* code;  // or the address of an instruction
    const void* name;
    const void* file;
    std::int32_t first_line;
    std::uint32_t id;
  };
  // By instruction, so that lines are looked up once; and by line, which has the row.
  struct Frame {
    std::uint64_t hash;
    std::uint32_t caller;
    std::uint32_t code;
    std::int32_t place;
    bool by_line;
    std::uint32_t id;
  };

  std::uint32_t text(tables::Writer& file, const char* text, std::size_t size);
  std::uint32_t python_code(const PythonSource& source, const PythonFrame& frame,
                            tables::Writer& file);
  std::uint32_t native_code(std::uintptr_t address, tables::Writer& file);
  Frame* find(std::uint32_t caller, std::uint32_t code, std::int32_t place, bool by_line);
  void remember(std::uint32_t caller, std::uint32_t code, std::int32_t place, bool by_line,
                std::uint32_t id);
  std::uint32_t line_frame(std::uint32_t caller, std::uint32_t code, std::int32_t line,
                           tables::Writer& file);

  MappedTable<Text> texts_;
  MappedTable<Code> codes_;
  MappedTable<Frame> frames_;
  std::uint32_t code_count_;
  std::uint32_t frame_count_;
  // Too large for the stacks of small threads.
  PythonFrame walked_[kMostFrames];
  std::uintptr_t addresses_[kMostFrames];
  CodeText text_;
};

}  // namespace sonde::memory
