#include <algorithm>
#include <array>
#include <string_view>

#include "sampler/native_frames.hpp"

namespace sonde {
namespace {

bool is_evaluation_name(std::string_view name) {
  return name.starts_with("_PyEval_EvalFrameDefault") || name == "PyEval_EvalFrameEx";
}

bool has_prefix(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// What explains why a thread waits, or what the interpreter is busy with.
constexpr std::array<std::string_view, 18> kTelling = {"PyGILState",
                                                       "take_gil",
                                                       "PyEval_RestoreThread",
                                                       "PyEval_AcquireLock",
                                                       "PyThread_acquire",
                                                       "lock_",
                                                       "time_",
                                                       "pysleep",
                                                       "os_",
                                                       "gc_collect",
                                                       "_PyGC_",
                                                       "_PySemaphore_",
                                                       "_PyParkingLot_",
                                                       "_PyMutex_",
                                                       "PyMutex_",
                                                       "PyGC_Colle",
                                                       "sys_",
                                                       "_PyImport_"};

constexpr std::array<std::string_view, 4> kInterpreter = {"Py", "_Py", "pymain_", "Py_"};

// Helpers of the evaluation loop without a prefix of their own.
constexpr std::array<std::string_view, 20> kInternal = {"call_function",
                                                        "function_code_fastcall",
                                                        "method_vectorcall",
                                                        "object_vectorcall",
                                                        "cfunction_",
                                                        "slot_tp_",
                                                        "type_call",
                                                        "tuple_",
                                                        "run_mod",
                                                        "run_eval_code_obj",
                                                        "builtin_exec",
                                                        "do_call_core",
                                                        "fast_function",
                                                        "object_isinstance",
                                                        "vectorcall_",
                                                        "gen_send_ex",
                                                        "gen_iternext",
                                                        "context_run",
                                                        "partial_vectorcall",
                                                        "slot_sq_"};

bool is_internal(std::string_view name) {
  if (name.empty()) return true;  // a function of the interpreter without a symbol
  if (has_prefix(name, kTelling)) return false;
  return has_prefix(name, kInterpreter) || has_prefix(name, kInternal);
}

// Names of the interpreter are internal only in the interpreter itself.
bool is_interpreter_module(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.starts_with("python") || name.starts_with("libpython");
}

SampledFrame native_frame(const NativeFrame& frame, CodeCache& functions) {
  FunctionInfo info;
  info.name = frame.name.empty() ? "?" : frame.name;
  info.file = frame.module;
  info.native = true;
  return {functions.intern(std::move(info)), 0};
}

// Which C frames are the activations of the evaluation function, by where the interpreter's own
// frames lie on the stack: a compiler may split that function so that it has no name where it
// works. Nothing where that is not told, or does not fit.
std::vector<bool> evaluations_by_place(const std::vector<NativeFrame>& native,
                                       const std::vector<FrameEntry>& entries) {
  std::vector<bool> out(native.size());
  std::size_t at = 0;
  for (const FrameEntry& entry : entries) {
    if (!entry.is_entry) continue;
    if (entry.activation == 0) return {};
    const auto holds = [&](std::size_t i) {
      return native[i].stack != 0 && native[i].stack <= entry.activation &&
             entry.activation < native[i + 1].stack;
    };
    while (at + 1 < native.size() && !holds(at)) ++at;
    if (at + 1 >= native.size()) return {};
    out[at++] = true;
  }
  return out;
}

std::vector<bool> evaluations_by_name(const std::vector<NativeFrame>& native) {
  std::vector<bool> out;
  for (const NativeFrame& frame : native) out.push_back(is_evaluation_name(frame.name));
  return out;
}

}  // namespace

bool merge_stacks(const std::vector<NativeFrame>& native, const std::vector<SampledFrame>& python,
                  const std::vector<FrameEntry>& entries, CodeCache& functions,
                  std::vector<SampledFrame>& out) {
  out.clear();
  std::vector<bool> is_evaluation = evaluations_by_place(native, entries);
  if (is_evaluation.empty()) is_evaluation = evaluations_by_name(native);
  const auto evaluations =
      static_cast<std::size_t>(std::count(is_evaluation.begin(), is_evaluation.end(), true));
  const auto activations = static_cast<std::size_t>(std::count_if(
      entries.begin(), entries.end(), [](const FrameEntry& entry) { return entry.is_entry; }));
  const std::size_t difference =
      std::max(evaluations, activations) - std::min(evaluations, activations);
  const bool fits = difference <= 1;
  // One more evaluation than activations: the innermost one has no frame yet.
  std::size_t skip = evaluations > activations ? 1 : 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < native.size(); ++i) {
    const NativeFrame& frame = native[i];
    if (!is_evaluation[i]) {
      if (!is_interpreter_module(frame.module) || !is_internal(frame.name)) {
        out.push_back(native_frame(frame, functions));
      }
      continue;
    }
    if (!fits) continue;
    if (skip > 0) {
      --skip;
      continue;
    }
    while (next < python.size()) {
      out.push_back(python[next]);
      if (entries[next++].is_entry) break;
    }
  }
  // One more activation than evaluations, or nothing that fits: what is left belongs to the
  // outside.
  for (; next < python.size(); ++next) out.push_back(python[next]);
  return fits;
}

}  // namespace sonde
