#include "capture/python/rewrite/assembler.hpp"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#include <opcode.h>

namespace sonde::python {
namespace {

// An instruction to be written.
struct Item {
  std::uint8_t opcode;
  std::uint32_t argument;
  int caches;
  int target;          // item; -1: none
  int handler;         // as an instruction has it
  bool handler_probe;  // whether its handler begins with the probe
  Location location;
  int extended;  // how many EXTENDED_ARGs
  int start;     // unit
  int units() const { return extended + 1 + caches; }
};

int extended_for(std::uint32_t argument) {
  return argument > 0xFF'FFFF ? 3 : argument > 0xFFFF ? 2 : argument > 0xFF ? 1 : 0;
}

class Writer {
 public:
  Writer(PyCodeObject* code, const CodeBody& body, const LineEdges& edges,
         const ProbeConstants& probes, Assembly& out)
      : code_(code), body_(body), edges_(edges), probes_(probes), out_(out) {}

  bool write() {
    if (!make_items() || !place_items()) return false;
    write_code();
    write_locations();
    write_handlers();
    return !out_.code.failed() && !out_.locations.failed() && !out_.handlers.failed();
  }

 private:
  // In the range of the handler that the instruction `near` is in.
  void add(std::uint8_t opcode, std::uint32_t argument, const Location& location, int near) {
    Item item{};
    item.opcode = opcode;
    item.argument = argument;
    item.target = -1;
    item.location = location;
    item.handler = near < 0 ? -1 : body_.instructions[near].handler;
    item.handler_probe = near >= 0 && edges_.edges[near].exception_is_told;
    item.extended = extended_for(argument);
    items_.push(item);
  }

  bool make_items() {
    const int count = body_.instructions.count();
    own_item_.fill(static_cast<std::size_t>(count), -1);
    probe_item_.fill(static_cast<std::size_t>(count), -1);
    if (own_item_.failed() || probe_item_.failed()) return false;
    for (int i = 0; i < count; ++i) {
      const Instruction& instruction = body_.instructions[i];
      int skip = -1;
      if (edges_.edges[i].probe) {
        if (edges_.edges[i].skipped) {
          skip = items_.count();
          add(JUMP_FORWARD, 0, body_.instructions[i - 1].location, i - 1);
        }
        probe_item_[i] = items_.count();
        Location location;
        location.line = location.end_line = instruction.location.line;
        const auto constant = static_cast<std::uint32_t>(probes_.of(location.line));
        const bool asks_place = edges_.edges[i].depends_on_place;
        // What is inserted cannot raise. But a trace function of the program may, which is told of
        // the line at the first instruction that has it. And an interrupt at a jump back is looked
        // for at the unit before the target, which is that of the last one.
        if (asks_place) {
          add(COPY, 2, location, i);  // the place lies below the exception
          add(LOAD_CONST, constant, location, i);
          add(CONTAINS_OP, 0, location, i);
          add(POP_TOP, 0, location, i - 1);
        } else {
          add(LOAD_CONST, constant, location, i);
          add(POP_JUMP_FORWARD_IF_FALSE, 0, location, i - 1);
        }
      }
      own_item_[i] = items_.count();
      if (items_.failed()) return false;
      if (skip >= 0) items_[skip].target = own_item_[i];
      add(instruction.opcode, instruction.argument, instruction.location, i);
      if (items_.failed()) return false;
      items_[own_item_[i]].caches = instruction.caches;
      if (instruction.target < 0 &&
          items_[own_item_[i]].extended != instruction.unit - instruction.start) {
        return false;
      }
    }
    for (int i = 0; i < count; ++i) {
      const Instruction& instruction = body_.instructions[i];
      if (instruction.target < 0) continue;
      items_[own_item_[i]].target = edges_.edges[i].jump_is_told ? probe_item_[instruction.target]
                                                                 : own_item_[instruction.target];
      items_[own_item_[i]].extended = 0;
    }
    return true;
  }

  // Jumps get longer until all of them fit.
  bool place_items() {
    for (bool again = true; again;) {
      again = false;
      int unit = 0;
      for (Item& item : items_) {
        item.start = unit;
        unit += item.units();
      }
      for (Item& item : items_) {
        if (item.target < 0) continue;
        const int next = item.start + item.extended + 1;
        const int distance = items_[item.target].start - next;
        const bool backward = is_backward_jump(item.opcode);
        if (backward ? distance > 0 : distance < 0) return false;
        item.argument = static_cast<std::uint32_t>(backward ? -distance : distance);
        const int needed = extended_for(item.argument);
        if (needed <= item.extended) continue;
        item.extended = needed;
        again = true;
      }
    }
    // generator.throw() reads the argument of a SEND from its last byte alone.
    for (const Item& item : items_) {
      if (item.opcode == SEND && item.extended != 0) return false;
    }
    return true;
  }

  void write_code() {
    for (const Item& item : items_) {
      for (int i = item.extended; i > 0; --i) {
        out_.code.push(EXTENDED_ARG);
        out_.code.push(static_cast<unsigned char>(item.argument >> 8 * i));
      }
      out_.code.push(item.opcode);
      out_.code.push(static_cast<unsigned char>(item.argument));
      for (int i = 0; i < item.caches; ++i) {
        out_.code.push(CACHE);
        out_.code.push(0);
      }
    }
  }

  void write_number(unsigned value) {
    for (; value >= 64; value >>= 6) {
      out_.locations.push(static_cast<unsigned char>((value & 63) | 64));
    }
    out_.locations.push(static_cast<unsigned char>(value));
  }

  void write_location(const Location& location, int units) {
    const bool has_columns =
        location.column >= 0 || location.end_column >= 0 || location.end_line != location.line;
    const unsigned kind = location.line < 0 ? 15 : has_columns ? 14 : 13;
    out_.locations.push(static_cast<unsigned char>(0x80 | kind << 3 | (units - 1)));
    if (location.line < 0) return;
    const int delta = location.line - line_;
    line_ = location.line;
    write_number(delta < 0 ? static_cast<unsigned>(-delta) << 1 | 1
                           : static_cast<unsigned>(delta) << 1);
    if (!has_columns) return;
    write_number(static_cast<unsigned>(location.end_line - location.line));
    write_number(static_cast<unsigned>(location.column + 1));
    write_number(static_cast<unsigned>(location.end_column + 1));
  }

  void write_locations() {
    line_ = code_->co_firstlineno;
    for (const Item& item : items_) {
      int units = item.units();
      for (; units > 8; units -= 8) write_location(item.location, 8);
      write_location(item.location, units);
    }
  }

  void write_high_number(unsigned value, unsigned mark) {
    for (int shift = 30; shift > 0; shift -= 6) {
      if (value >> shift == 0) continue;
      out_.handlers.push(static_cast<unsigned char>((value >> shift & 63) | 64 | mark));
      mark = 0;
    }
    out_.handlers.push(static_cast<unsigned char>((value & 63) | mark));
  }

  int handler_item(const Item& item) const {
    const int target = body_.handlers[item.handler].target;
    return item.handler_probe ? probe_item_[target] : own_item_[target];
  }

  void write_handlers() {
    for (int first = 0; first < items_.count();) {
      const Item& item = items_[first];
      int last = first;
      while (last + 1 < items_.count() && items_[last + 1].handler == item.handler &&
             items_[last + 1].handler_probe == item.handler_probe) {
        ++last;
      }
      if (item.handler >= 0) {
        const Handler& handler = body_.handlers[item.handler];
        const int end = items_[last].start + items_[last].units();
        write_high_number(static_cast<unsigned>(item.start), 0x80);
        write_high_number(static_cast<unsigned>(end - item.start), 0);
        write_high_number(static_cast<unsigned>(items_[handler_item(item)].start), 0);
        write_high_number(static_cast<unsigned>(handler.depth << 1 | (handler.keeps_place ? 1 : 0)),
                          0);
      }
      first = last + 1;
    }
  }

  PyCodeObject* code_;
  const CodeBody& body_;
  const LineEdges& edges_;
  const ProbeConstants& probes_;
  Assembly& out_;
  Buffer<Item> items_;
  Buffer<int> own_item_;
  Buffer<int> probe_item_;
  int line_ = 0;
};

}  // namespace

bool assemble(PyCodeObject* code, const CodeBody& body, const LineEdges& edges,
              const ProbeConstants& probes, Assembly& out) {
  return Writer(code, body, edges, probes, out).write();
}

}  // namespace sonde::python

#endif
