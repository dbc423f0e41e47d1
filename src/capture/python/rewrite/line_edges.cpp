#include "capture/python/rewrite/line_edges.hpp"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000

#include <opcode.h>

namespace sonde::python {
namespace {

class Finder {
 public:
  Finder(const CodeBody& body, LineEdges& out) : body_(body), out_(out) {}

  bool find() {
    const int count = body_.instructions.count();
    out_.edges.fill(static_cast<std::size_t>(count), LineEdge{});
    if (out_.edges.failed()) return false;
    for (int i = 0; i < count; ++i) {
      if (!find_unclear_handler(i)) return false;
    }
    for (int i = 0; i < count; ++i) {
      if (!find_jump(i)) return false;
      find_exception(i);
    }
    // The way from the instruction before is known when all others are.
    for (int i = 1; i < count; ++i) {
      if (!falls_through(body_.instructions[i - 1].opcode)) continue;
      if (is_told(i - 1, i)) {
        if (out_.edges[i].depends_on_place) return false;
        out_.edges[i].probe = true;
      } else {
        out_.edges[i].skipped = out_.edges[i].probe;
      }
      if (out_.edges[i].probe && !may_part(body_.instructions[i - 1], body_.instructions[i])) {
        return false;
      }
    }
    return true;
  }

 private:
  // As maybe_call_line_trace() of the interpreter decides.
  bool is_told(int from, int to) const {
    return is_told_from(line_after(from), body_.instructions[from].unit, to);
  }

  bool is_told_from(int last_line, int last_unit, int to) const {
    const Instruction& target = body_.instructions[to];
    const int line = target.location.line;
    if (to < body_.first_traceable || target.opcode == RESUME || line == -1) return false;
    if (line != last_line) return true;
    return target.start < last_unit && (target.opcode != SEND || target.start != target.unit);
  }

  int line_after(int from) const {
    return from <= body_.first_traceable ? -1 : body_.instructions[from].location.line;
  }

  // The interpreter looks at neighbours of these, and specialized ones skip theirs.
  static bool may_part(const Instruction& before, const Instruction& after) {
    if (before.opcode == PRECALL && after.opcode == CALL) return false;
    if (before.opcode == SEND || before.opcode == YIELD_VALUE) return false;
    return true;
  }

  bool find_jump(int i) {
    const Instruction& instruction = body_.instructions[i];
    if (instruction.target < 0) return true;
    if (instruction.opcode == SEND) {
      // generator.throw() goes to the target by itself, as if from the instruction before it.
      const int before = instruction.target - 1;
      if (before <= i || falls_through(body_.instructions[before].opcode) ||
          body_.instructions[before].location.line != instruction.location.line) {
        return false;
      }
    }
    if (is_told(i, instruction.target)) {
      if (out_.edges[instruction.target].depends_on_place) return false;
      out_.edges[i].jump_is_told = true;
      out_.edges[instruction.target].probe = true;
    }
    return true;
  }

  // Handlers that are reached from places that are known at run time only.
  bool find_unclear_handler(int i) {
    const Instruction& instruction = body_.instructions[i];
    if (instruction.handler < 0 || !restores_place(instruction)) return true;
    const Handler& handler = body_.handlers[instruction.handler];
    const Ways ways = ways_of_places(i, handler.target);
    if (!ways.told || !ways.silent) return true;
    if (visited_.failed() || !handler.keeps_place) return false;
    out_.edges[handler.target].depends_on_place = true;
    return true;
  }

  void find_exception(int i) {
    const Instruction& instruction = body_.instructions[i];
    if (instruction.handler < 0) return;
    const int target = body_.handlers[instruction.handler].target;
    bool told = is_told(i, target);
    if (restores_place(instruction)) told = ways_of_places(i, target).told;
    if (told || out_.edges[target].depends_on_place) {
      out_.edges[i].exception_is_told = true;
      out_.edges[target].probe = true;
    }
  }

  struct Ways {
    bool told = false;
    bool silent = false;
  };

  // It pretends to be where the exception was raised that its handler was entered for.
  static bool restores_place(const Instruction& instruction) {
    return instruction.opcode == RERAISE && instruction.argument != 0;
  }

  Ways ways_of_places(int reraise, int target) {
    Ways ways;
    visited_.fill(body_.instructions.size(), 0);
    if (visited_.failed()) return {true, true};
    look_at_places(reraise, target, ways);
    return ways;
  }

  // The way to `target` from every place that the instruction may pretend to be at.
  void look_at_places(int reraise, int target, Ways& ways) {
    const int handler = own_handler(reraise);
    if (handler >= 0 && visited_[handler]) return;
    if (handler >= 0) visited_[handler] = 1;
    for (int i = 0; i < body_.instructions.count(); ++i) {
      const Instruction& other = body_.instructions[i];
      if (other.handler < 0 || !body_.handlers[other.handler].keeps_place) continue;
      if (handler >= 0 && body_.handlers[other.handler].target != handler) continue;
      if (handler >= 0 && restores_place(other)) {
        look_at_places(i, target, ways);
      } else {
        (is_told(i, target) ? ways.told : ways.silent) = true;
      }
    }
  }

  // The beginning of the handler that the instruction ends, where there is one way to it only; -1
  // where that is not to be seen: it may be any.
  int own_handler(int reraise) const {
    for (int i = reraise; i >= 0; --i) {
      if (i != reraise && !falls_through(body_.instructions[i].opcode)) return -1;
      bool begins = false;
      for (const Handler& handler : body_.handlers) {
        if (handler.target != i) continue;
        if (!handler.keeps_place) return -1;
        begins = true;
      }
      if (begins) return i;
      for (const Instruction& other : body_.instructions) {
        if (other.target == i) return -1;
      }
    }
    return -1;
  }

  const CodeBody& body_;
  LineEdges& out_;
  Buffer<char> visited_;
};

// The largest depth of the stack before each instruction; -1 where it is never reached.
bool find_depths(PyCodeObject* code, const CodeBody& body, Buffer<int>& depths) {
  const int count = body.instructions.count();
  Buffer<int> waiting;
  depths.fill(static_cast<std::size_t>(count), -1);
  if (depths.failed()) return false;
  const auto reach = [&](int instruction, int depth) {
    if (depth <= depths[instruction]) return;
    depths[instruction] = depth;
    waiting.push(instruction);
  };
  reach(body.first_traceable, 0);
  for (const Handler& handler : body.handlers) {
    reach(handler.target, handler.depth + (handler.keeps_place ? 1 : 0) + 1);
  }
  Buffer<int> turn;
  while (waiting.size() != 0) {
    turn.fill(0, 0);
    for (const int i : waiting) turn.push(i);
    if (turn.failed() || waiting.failed()) return false;
    waiting.fill(0, 0);
    for (const int i : turn) {
      const Instruction& instruction = body.instructions[i];
      const auto argument = static_cast<int>(instruction.argument);
      for (int jump = 0; jump < 2; ++jump) {
        const int next = jump ? instruction.target : i + 1;
        if (jump ? next < 0 : next >= count || !falls_through(instruction.opcode)) continue;
        const int effect = PyCompile_OpcodeStackEffectWithJump(
            instruction.opcode, instruction.opcode >= HAVE_ARGUMENT ? argument : 0, jump);
        const int depth = depths[i] + effect;
        if (effect == PY_INVALID_STACK_EFFECT || depth < 0 || depth > code->co_stacksize) {
          return false;
        }
        reach(next, depth);
      }
    }
  }
  return true;
}

}  // namespace

bool find_line_edges(PyCodeObject* code, const CodeBody& body, LineEdges& out) {
  Buffer<int> depths;
  if (!find_depths(code, body, depths) || !Finder(body, out).find()) return false;
  for (int i = 0; i < body.instructions.count(); ++i) {
    if (!out.edges[i].probe) continue;
    const int needed = depths[i] + (out.edges[i].depends_on_place ? 2 : 1);
    const int more = needed - code->co_stacksize;
    if (more > out.more_stack) out.more_stack = more;
  }
  return true;
}

}  // namespace sonde::python

#endif
