#include "import/sonde_run/companions.hpp"

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

}  // namespace

std::vector<std::unique_ptr<Companion>> read_companions(const std::string& path,
                                                        const CompanionContext& context) {
  std::vector<std::unique_ptr<Companion>> out;
  if (!path.ends_with(kRecording)) return out;
  const std::string stem = path.substr(0, path.size() - kRecording.size());
  for (const CompanionType& type : companion_types()) {
    const std::string file = stem + std::string(type.ending);
    std::error_code error;
    if (!fs::is_regular_file(file, error)) continue;
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
