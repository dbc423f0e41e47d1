#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "report/report.hpp"

namespace sonde {

// sonde report PATH...: what took the time, as text or data.
class ReportCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  // Leaves the process or rank that is asked for; an Error where there is none.
  Result<bool> keep_asked(TraceSet& traces) const;

  std::vector<std::string> paths_;
  ReportRequest request_;
  std::int64_t limit_ = kNoLimit;
  std::int64_t precision_ = kNoLimit;
  std::string color_ = "auto";
  std::string output_;
  std::string process_;
  std::int64_t rank_ = kAnyRank;

  static constexpr std::int64_t kNoLimit = INT64_MIN;
  static constexpr std::int64_t kAnyRank = -1;
};

}  // namespace sonde
