#include "import/sonde_run/companions.hpp"

#include <algorithm>
#include <filesystem>

#include "import/input/byte_source.hpp"

namespace sonde {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRecording = ".sonde";

void lose(TraceBuilder& builder, std::string_view description, const std::string& reason) {
  builder.losses().add("companion_files", Severity::Warning,
                       std::string(description) + " beside the recording: " + reason);
}

// Empty where the path is none of a recording.
std::string beside(const std::string& path, const CompanionType& type) {
  if (!path.ends_with(kRecording)) return {};
  const std::string file =
      path.substr(0, path.size() - kRecording.size()) + std::string(type.ending);
  std::error_code error;
  return fs::is_regular_file(file, error) ? file : std::string();
}

}  // namespace

bool has_companions(const std::string& path) {
  const std::span<const CompanionType> types = companion_types();
  return std::any_of(types.begin(), types.end(),
                     [&](const CompanionType& type) { return !beside(path, type).empty(); });
}

std::vector<std::unique_ptr<Companion>> read_companions(const std::string& path,
                                                        const CompanionContext& context) {
  std::vector<std::unique_ptr<Companion>> out;
  for (const CompanionType& type : companion_types()) {
    const std::string file = beside(path, type);
    if (file.empty()) continue;
    Result<OpenedInput> input = open_input(file);
    if (!input) {
      lose(context.builder, type.description, input.error().text());
      continue;
    }
    if (!type.sniff(input->head)) {
      lose(context.builder, type.description, "it was never begun, or is not what its name says");
      continue;
    }
    out.push_back(type.make());
    out.back()->read(*input->source, context);
    context.builder.losses().merge(input->source->losses());
  }
  return out;
}

}  // namespace sonde
