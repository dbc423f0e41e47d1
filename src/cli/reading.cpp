#include "cli/reading.hpp"

#include <utility>

#include "cli/progress.hpp"
#include "cli/usage.hpp"
#include "import/loader.hpp"
#include "report/document.hpp"

namespace sonde {

Result<TraceSet> read_traces(const std::vector<std::string>& paths) {
  Progress progress;
  LoadOptions options;
  options.progress = [&progress](const LoadProgress& state) { progress.update(state); };
  Result<LoadedSet> loaded = load_traces(paths, options);
  progress.finish();
  if (!loaded) return loaded.error();
  for (const Error& error : loaded->skipped) print_warning("left out " + error.text());
  return std::move(loaded->traces);
}

void warn_of_losses(const TraceSet& traces) {
  for (const Loss& loss : collect_losses(traces)) {
    if (loss.entry.severity == Severity::Info) continue;
    print_warning(loss.path + ": " + loss_sentence(loss.entry));
  }
}

bool is_process(const Trace& trace, const std::string& worker, const std::string& process) {
  if (worker == process) return true;
  for (const auto& [key, value] : trace.meta().properties) {
    if (key == "pid" && value == process) return true;
  }
  return false;
}

}  // namespace sonde
