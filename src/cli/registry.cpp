#include "cli/attach_command.hpp"
#include "cli/command.hpp"
#include "cli/completion_command.hpp"
#include "cli/convert_command.hpp"
#include "cli/cut_command.hpp"
#include "cli/dump_command.hpp"
#include "cli/export_command.hpp"
#include "cli/help_command.hpp"
#include "cli/info_command.hpp"
#include "cli/man_command.hpp"
#include "cli/report_command.hpp"
#include "cli/run_command.hpp"
#include "cli/serve_command.hpp"
#include "cli/top_command.hpp"

namespace sonde {

CommandList all_commands() {
  CommandList commands;
  commands.push_back(std::make_unique<RunCommand>());
  commands.push_back(std::make_unique<AttachCommand>());
  commands.push_back(std::make_unique<DumpCommand>());
  commands.push_back(std::make_unique<TopCommand>());
  commands.push_back(std::make_unique<ReportCommand>());
  commands.push_back(std::make_unique<InfoCommand>());
  commands.push_back(std::make_unique<ExportCommand>());
  commands.push_back(std::make_unique<ConvertCommand>());
  commands.push_back(std::make_unique<CutCommand>());
  commands.push_back(std::make_unique<ServeCommand>());
  commands.push_back(std::make_unique<CompletionCommand>());
  commands.push_back(std::make_unique<HelpCommand>());
  commands.push_back(std::make_unique<ManCommand>());
  return commands;
}

}  // namespace sonde
