#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "system/gpu_sampler.hpp"
#include "system/machine.hpp"
#include "system/process_curves.hpp"
#include "system/process_tree.hpp"
#include "system/run_file_writer.hpp"

namespace sonde {

// Watches a program and the machine from outside and writes what it sees as counters into a .sonde
// file of its own. Called from one thread, at whatever times the caller likes.
class SystemAgent {
 public:
  // `gpus`: whether the machine's GPUs are watched as well.
  SystemAgent(const std::string& path, std::string_view program, pid_t root, bool gpus = false);

  bool ok() const { return writer_.ok(); }
  void sample();
  // The last sample: `usage` is what the system counted for the program and all that it waited for,
  // which is exact also for what lived between two samples.
  void finish(const rusage& usage);
  // The same for a process that Sonde did not start, and that may go on.
  void finish();

 private:
  void write(const TreeTotals& totals, std::int64_t now);

  RunFileWriter writer_;
  ProcessTree tree_;
  RunFileWriter::DomainId processes_;
  RunFileWriter::DomainId machine_;
  RunFileWriter::NameId cpu_time_;
  RunFileWriter::NameId cpu_percent_;
  RunFileWriter::NameId resident_;
  RunFileWriter::NameId peak_resident_;
  RunFileWriter::NameId process_count_;
  RunFileWriter::NameId threads_;
  RunFileWriter::NameId switches_;
  RunFileWriter::NameId read_;
  RunFileWriter::NameId written_;
  RunFileWriter::NameId busy_time_;
  RunFileWriter::NameId total_time_;
  RunFileWriter::NameId memory_used_;
  std::optional<GpuSampler> gpus_;
  ProcessCurves curves_;
  MachineTimes first_machine_;
  MachineTimes last_machine_;
  TreeTotals last_;
  std::int64_t peak_ = 0;
  std::int64_t last_time_ = 0;
};

}  // namespace sonde
