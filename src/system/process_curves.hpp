#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "system/process_tree.hpp"
#include "system/run_file_writer.hpp"

namespace sonde {

// The memory of each process over time, as counters of a domain of its own.
class ProcessCurves {
 public:
  ProcessCurves(RunFileWriter& writer, RunFileWriter::NameId resident);

  // After tree.sample().
  void add(const ProcessTree& tree, std::int64_t now);
  // Everything has ended.
  void finish(std::int64_t now) { end_all(now, nullptr); }

 private:
  using Identity = std::pair<pid_t, std::uint64_t>;
  // A process has no domain at its first sample: it may still be about to become another program.
  struct Curve {
    RunFileWriter::DomainId domain = 0;
    std::int64_t first_time = 0;
    std::int64_t first_resident = 0;
    unsigned samples = 0;
    unsigned next_proportional = 0;  // number of the sample
  };

  void add_domains(const ProcessTree& tree);
  void add_proportional(const ProcessTree& tree, pid_t pid, Curve& curve, std::int64_t now);
  // Those that `tree` does not have; all without a tree.
  void end_all(std::int64_t now, const ProcessTree* tree);

  RunFileWriter& writer_;
  RunFileWriter::NameId resident_;
  RunFileWriter::NameId proportional_;
  std::map<Identity, Curve> curves_;
  std::size_t domains_ = 0;
};

}  // namespace sonde
