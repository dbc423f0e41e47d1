#pragma once

#include <string_view>

#include "trace/trace.hpp"

namespace sonde {

// How "otherData" begins in a trace-event file that Sonde wrote of another source. The words of
// such a file are Kineto's, its layout is not: the reader tells the two apart by this.
inline constexpr std::string_view kWrittenBySonde = "{\"writer\": \"sonde\"";

// The category of a slice in a trace-event file. A trace of PyTorch gets the categories of its
// profiler, of the age and the hardware that it came from; others get today's, or, where the
// profiler has none, the word for their kind, which Sonde's reader understands too, or the category
// that they had. A trace-event file keeps its own words.
class SliceCategories {
 public:
  explicit SliceCategories(const Trace& trace);

  std::string_view of(SliceId slice) const;
  std::string_view launch_flow() const { return old_ ? "async_cpu_to_gpu" : "ac2g"; }
  bool kineto() const { return kineto_; }

 private:
  // Where the kind alone tells; empty for the others.
  std::string_view of_plain(SliceKind kind) const;
  std::string_view of_kineto(SliceId slice) const;
  std::string_view of_others(SliceId slice) const;

  const Trace& trace_;
  bool kineto_;
  bool old_;  // before torch 1.12
  std::string_view operators_ = "cpu_op";
  std::string_view runtime_ = "cuda_runtime";
  std::string_view driver_ = "cuda_driver";
  std::string_view kernel_ = "kernel";
  std::string_view memcpy_ = "gpu_memcpy";
  std::string_view memset_ = "gpu_memset";
  std::string_view sync_ = "cuda_sync";
};

}  // namespace sonde
