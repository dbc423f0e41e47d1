#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sampler/python_sampler.hpp"
#include "system/run_file_writer.hpp"
#include "trace/tables/writer.hpp"

namespace sonde {

struct SampleFileOptions {
  std::string folder;           // of the run
  std::uint64_t max_bytes = 0;  // of one process's samples; 0: no limit
  bool idle = true;             // threads that wait are written too
};

// The samples of one process in a run folder: NAME-PID-samples.sonde with its .tables beside it.
class SampleFile : public ProcessSink {
 public:
  SampleFile(const PythonProcess& process, const SamplerOptions& sampling,
             const SampleFileOptions& options);

  // 0, or the errno of what could not be written.
  int error() const { return error_; }
  std::uint64_t written() const { return written_; }
  std::uint64_t left_out() const { return left_out_; }

  void add(const ThreadSample& sample) override;
  void tell(const PythonProcess& process, const SamplingStats& stats, double rate,
            std::uint64_t own_cpu_nanos, bool ended) override;

 private:
  struct FrameKey {
    std::uint32_t caller;
    std::uint32_t code;
    std::int32_t line;
    friend bool operator==(const FrameKey&, const FrameKey&) = default;
  };
  struct FrameHash {
    std::size_t operator()(const FrameKey& key) const;
  };
  struct Thread {
    std::string name;
    tables::SampleRow* last = nullptr;  // the newest row, where later ones may be added to it
    std::uint64_t begin = 0;            // of that row
  };

  std::uint32_t text(std::string_view text);
  std::uint32_t code(const FunctionInfo& function);
  std::uint32_t frame(const ThreadSample& sample);
  void property(const char* key, const std::string& value);

  SampleFileOptions options_;
  std::unique_ptr<RunFileWriter> recording_;
  tables::Writer writer_;
  int error_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t left_out_ = 0;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::unordered_map<const FunctionInfo*, std::uint32_t> codes_;
  std::unordered_map<FrameKey, std::uint32_t, FrameHash> frames_;
  std::map<pid_t, Thread> threads_;
};

}  // namespace sonde
