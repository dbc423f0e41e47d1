#include "capture/python/memory_stack.hpp"

#include <string.h>

#include "capture/python/frames.hpp"
#include "sonde/sonde.h"
#include "trace/tables/format.hpp"

namespace sonde::python {
namespace {

int walk(memory::PythonFrame* out, int most) {
  const PyThreadState* const thread = PyGILState_GetThisThreadState();
  if (!thread) return 0;
  int count = 0;
  for (const Frame* frame = top_frame(thread); frame && count < most; frame = caller_of(frame)) {
    const PyCodeObject* const code = code_in(frame);
    if (!code) continue;
    out[count++] = {code, code->co_name, code->co_filename, code->co_firstlineno,
                    instruction_of(frame)};
  }
  return count;
}

std::int32_t line_of(const void* code, std::int32_t instruction) {
  auto* const open = static_cast<PyCodeObject*>(const_cast<void*>(code));
  const int line = PyCode_Addr2Line(open, instruction);
  return line > 0 ? line : open->co_firstlineno;
}

std::size_t put_utf8(Py_UCS4 point, char* out) {
  if (point < 0x80) {
    out[0] = static_cast<char>(point);
    return 1;
  }
  // A half of a pair means nothing.
  if (point >= 0xD800 && point < 0xE000) point = '?';
  if (point < 0x80) return out[0] = static_cast<char>(point), 1;
  std::size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  out[0] = static_cast<char>((more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0) | point >> (6 * more));
  for (std::size_t i = 1; i <= more; ++i) {
    out[i] = static_cast<char>(0x80 | (point >> (6 * (more - i)) & 0x3F));
  }
  return more + 1;
}

void copy_text(PyObject* text, char* out, std::size_t size) {
  std::size_t used = 0;
  if (text && PyUnicode_Check(text)) {
    const int kind = static_cast<int>(PyUnicode_KIND(text));
    const void* const data = PyUnicode_DATA(text);
    const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    for (Py_ssize_t i = 0; i < length && used + 5 <= size; ++i) {
      const Py_UCS4 point = kind == 1   ? static_cast<const Py_UCS1*>(data)[i]
                            : kind == 2 ? static_cast<const Py_UCS2*>(data)[i]
                                        : static_cast<const Py_UCS4*>(data)[i];
      // A text ends at its first 0 byte.
      if (point == 0) break;
      used += put_utf8(point, out + used);
    }
  }
  out[used] = 0;
}

void describe(const void* object, memory::CodeText* out) {
  const auto* const code = static_cast<const PyCodeObject*>(object);
  copy_text(code->co_name, out->name, sizeof out->name);
#if PY_VERSION_HEX >= 0x030B0000
  copy_text(code->co_qualname, out->qualified_name, sizeof out->qualified_name);
#else
  out->qualified_name[0] = 0;
#endif
  copy_text(code->co_filename, out->file, sizeof out->file);
  out->flags = (code->co_flags & CO_GENERATOR ? tables::kGenerator : 0u) |
               (code->co_flags & CO_COROUTINE ? tables::kCoroutine : 0u) |
               (code->co_flags & CO_ASYNC_GENERATOR ? tables::kAsyncGenerator : 0u);
}

}  // namespace

const memory::PythonSource memory_source = {walk, line_of, describe, sonde_path};

}  // namespace sonde::python
