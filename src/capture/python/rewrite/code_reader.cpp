#include "capture/python/rewrite/code_reader.hpp"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#include <opcode.h>

namespace sonde::python {
namespace {

constexpr int kMaxUnits = 4 << 20;

// Reads the bytes of a table; past its end there are zeroes, and it has failed.
class Bytes {
 public:
  explicit Bytes(PyObject* bytes)
      : at_(reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes))),
        end_(at_ + PyBytes_GET_SIZE(bytes)) {}

  bool done() const { return at_ == end_; }
  bool failed() const { return failed_; }
  unsigned next() {
    if (at_ == end_) {
      failed_ = true;
      return 0;
    }
    return *at_++;
  }
  // Six bits in each byte, the lowest ones first.
  int number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 6) {
      const unsigned byte = next();
      if (shift > 30) failed_ = true;
      if (failed_) return 0;
      value |= std::uint64_t{byte & 63} << shift;
      if (!(byte & 64)) break;
    }
    return value > 0x7FFF'FFFF ? (failed_ = true, 0) : static_cast<int>(value);
  }
  int signed_number() {
    const int value = number();
    return value & 1 ? -(value >> 1) : value >> 1;
  }
  // Six bits in each byte, the highest ones first.
  int high_number() {
    std::uint64_t value = 0;
    for (;;) {
      const unsigned byte = next();
      value = value << 6 | (byte & 63);
      if (value > 0x7FFF'FFFF) failed_ = true;
      if (failed_) return 0;
      if (!(byte & 64)) return static_cast<int>(value);
    }
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
  bool failed_ = false;
};

// One location for each unit.
bool read_locations(PyCodeObject* code, int units, Buffer<Location>& out) {
  Bytes bytes(code->co_linetable);
  int line = code->co_firstlineno;
  while (!bytes.done()) {
    const unsigned first = bytes.next();
    if (!(first & 0x80)) return false;
    const unsigned kind = first >> 3 & 15;
    Location location;
    if (kind == 15) {
      // no location
    } else if (kind == 14) {
      location.line = line += bytes.signed_number();
      location.end_line = line + bytes.number();
      location.column = bytes.number() - 1;
      location.end_column = bytes.number() - 1;
    } else if (kind == 13) {
      location.line = location.end_line = line += bytes.signed_number();
    } else if (kind >= 10) {
      location.line = location.end_line = line += static_cast<int>(kind) - 10;
      location.column = static_cast<int>(bytes.next());
      location.end_column = static_cast<int>(bytes.next());
    } else {
      const unsigned second = bytes.next();
      location.line = location.end_line = line;
      location.column = static_cast<int>(kind << 3 | second >> 4);
      location.end_column = location.column + static_cast<int>(second & 15);
    }
    if (kind != 15 && (location.line < 0 || location.end_line < location.line)) return false;
    for (unsigned i = 0; i <= (first & 7); ++i) out.push(location);
    if (bytes.failed() || out.failed() || out.count() > units) return false;
  }
  return out.count() == units;
}

bool same(const Location& a, const Location& b) {
  return a.line == b.line && a.end_line == b.end_line && a.column == b.column &&
         a.end_column == b.end_column;
}

bool read_instructions(const unsigned char* bytes, int units, const Buffer<Location>& locations,
                       CodeBody& body, Buffer<int>& at_unit) {
  for (int at = 0; at < units;) {
    Instruction instruction{};
    instruction.start = at;
    instruction.target = instruction.handler = -1;
    int extended = 0;
    while (at < units && bytes[2 * at] == EXTENDED_ARG) {
      instruction.argument = (instruction.argument | bytes[2 * at + 1]) << 8;
      if (++extended > 3) return false;
      ++at;
    }
    if (at == units || bytes[2 * at] == CACHE) return false;
    instruction.unit = at;
    instruction.opcode = bytes[2 * at];
    instruction.argument |= bytes[2 * at + 1];
    instruction.location = locations[at];
    ++at;
    while (at < units && bytes[2 * at] == CACHE) {
      ++instruction.caches;
      ++at;
    }
    for (int unit = instruction.start; unit < at; ++unit) {
      if (!same(locations[unit], instruction.location)) return false;
    }
    at_unit[instruction.start] = body.instructions.count();
    body.instructions.push(instruction);
    if (body.instructions.failed()) return false;
  }
  return true;
}

bool find_targets(CodeBody& body, const Buffer<int>& at_unit, int units) {
  for (Instruction& instruction : body.instructions) {
    if (!is_jump(instruction.opcode)) continue;
    if (instruction.caches != 0 || instruction.argument > static_cast<std::uint32_t>(kMaxUnits)) {
      return false;
    }
    const int distance = static_cast<int>(instruction.argument);
    const int unit =
        instruction.unit + 1 + (is_backward_jump(instruction.opcode) ? -distance : distance);
    if (unit < 0 || unit >= units || at_unit[unit] < 0) return false;
    instruction.target = at_unit[unit];
  }
  return true;
}

bool read_handlers(PyCodeObject* code, CodeBody& body, const Buffer<int>& at_unit, int units) {
  Bytes bytes(code->co_exceptiontable);
  int last = 0;
  while (!bytes.done()) {
    const int start = bytes.high_number();
    const int length = bytes.high_number();
    const int target = bytes.high_number();
    const int depth = bytes.high_number();
    if (bytes.failed() || start < last || length > units - start || target >= units) return false;
    last = start + length;
    if (at_unit[target] < 0 || at_unit[start] < 0 || (last < units && at_unit[last] < 0)) {
      return false;
    }
    const int number = body.handlers.count();
    body.handlers.push({at_unit[target], depth >> 1, (depth & 1) != 0});
    for (int i = at_unit[start]; i < body.instructions.count() && body.instructions[i].start < last;
         ++i) {
      body.instructions[i].handler = number;
    }
  }
  return !body.handlers.failed();
}

}  // namespace

bool is_jump(int opcode) {
  switch (opcode) {
    case FOR_ITER:
    case SEND:
    case JUMP_FORWARD:
    case JUMP_IF_FALSE_OR_POP:
    case JUMP_IF_TRUE_OR_POP:
    case POP_JUMP_FORWARD_IF_FALSE:
    case POP_JUMP_FORWARD_IF_TRUE:
    case POP_JUMP_FORWARD_IF_NONE:
    case POP_JUMP_FORWARD_IF_NOT_NONE:
      return true;
    default:
      return is_backward_jump(opcode);
  }
}

bool is_backward_jump(int opcode) {
  switch (opcode) {
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_TRUE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE:
      return true;
    default:
      return false;
  }
}

bool falls_through(int opcode) {
  switch (opcode) {
    case RETURN_VALUE:
    case RAISE_VARARGS:
    case RERAISE:
    case JUMP_FORWARD:
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
      return false;
    default:
      return true;
  }
}

bool read_code(PyCodeObject* code, CodeBody& body) {
  // As it was compiled, not as the interpreter has adapted it.
  const Reference bytes(PyCode_GetCode(code));
  if (!bytes) {
    PyErr_Clear();
    return false;
  }
  const Py_ssize_t size = PyBytes_GET_SIZE(bytes.get());
  if (size % 2 != 0 || size / 2 > kMaxUnits) return false;
  const int units = static_cast<int>(size / 2);
  Buffer<Location> locations;
  Buffer<int> at_unit;
  at_unit.fill(static_cast<std::size_t>(units) + 1, -1);
  if (at_unit.failed() || !read_locations(code, units, locations)) return false;
  const auto* const text = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes.get()));
  if (!read_instructions(text, units, locations, body, at_unit) ||
      !find_targets(body, at_unit, units) || !read_handlers(code, body, at_unit, units)) {
    return false;
  }
  while (body.first_traceable < body.instructions.count() &&
         body.instructions[body.first_traceable].opcode != RESUME) {
    ++body.first_traceable;
  }
  return body.first_traceable < body.instructions.count() &&
         body.instructions[body.first_traceable].unit == code->_co_firsttraceable;
}

}  // namespace sonde::python

#endif
