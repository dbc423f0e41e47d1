#include <algorithm>
#include <array>
#include <string_view>

#include "sampler/native_frames.hpp"

namespace sonde {
namespace {

bool is_evaluation(std::string_view name) {
  return name.starts_with("_PyEval_EvalFrameDefault") || name == "PyEval_EvalFrameEx";
}

bool has_prefix(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// What explains why a thread waits, or what the interpreter is busy with.
constexpr std::array<std::string_view, 14> kTelling = {"PyGILState",
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

}  // namespace

bool merge_stacks(const std::vector<NativeFrame>& native, const std::vector<SampledFrame>& python,
                  const std::vector<bool>& entries, CodeCache& functions,
                  std::vector<SampledFrame>& out) {
  out.clear();
  const auto evaluations = static_cast<std::size_t>(
      std::count_if(native.begin(), native.end(),
                    [](const NativeFrame& frame) { return is_evaluation(frame.name); }));
  const auto activations =
      static_cast<std::size_t>(std::count(entries.begin(), entries.end(), true));
  const std::size_t difference =
      std::max(evaluations, activations) - std::min(evaluations, activations);
  const bool fits = difference <= 1;
  // One more evaluation than activations: the innermost one has no frame yet.
  std::size_t skip = evaluations > activations ? 1 : 0;
  std::size_t next = 0;
  for (const NativeFrame& frame : native) {
    if (!is_evaluation(frame.name)) {
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
      if (entries[next++]) break;
    }
  }
  // One more activation than evaluations, or nothing that fits: what is left belongs to the
  // outside.
  for (; next < python.size(); ++next) out.push_back(python[next]);
  return fits;
}

}  // namespace sonde
