#include "cli/run_limits.hpp"

#include "cli/size_option.hpp"
#include "cli/usage.hpp"

namespace sonde {
namespace {

constexpr const char* kDefaultMaxSize = "1G";

}  // namespace

void RunLimits::define(Options& options) {
  Option& most = options.text(max_size_, "--max-size", "SIZE",
                              "stop recording a process when its file has this size (K, M, G); 0 "
                              "for no limit");
  most.default_text = kDefaultMaxSize;
  options.text(keep_last_, "--keep-last", "SIZE",
               "keep the last records of a process only, as many as fit into this size (K, M, G)");
}

std::optional<Error> RunLimits::check() {
  if (!max_size_.empty() && !keep_last_.empty()) {
    return usage_error("--max-size and --keep-last exclude each other");
  }
  const Result<std::uint64_t> bytes =
      keep_last_.empty()
          ? size_option("--max-size", max_size_.empty() ? kDefaultMaxSize : max_size_)
          : size_option("--keep-last", keep_last_);
  if (!bytes) return bytes.error();
  if (!keep_last_.empty() && *bytes == 0) {
    return usage_error("--keep-last needs a size such as 64M or 1G, not '" + keep_last_ + "'");
  }
  bytes_ = *bytes;
  return std::nullopt;
}

void RunLimits::apply(Program::Environment& environment) const {
  const auto set = [&](const char* name, bool wanted) {
    environment.emplace_back(name, wanted ? std::optional(std::to_string(bytes_)) : std::nullopt);
  };
  set("SONDE_MAX_SIZE", keep_last_.empty() && bytes_ > 0);
  set("SONDE_KEEP_LAST", !keep_last_.empty());
}

}  // namespace sonde
