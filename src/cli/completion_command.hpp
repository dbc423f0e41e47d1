#pragma once

#include <string>

#include "cli/command.hpp"

namespace sonde {

// sonde completion bash|zsh: the script that completes Sonde's command line.
class CompletionCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string shell_;
};

std::string bash_completion(const CommandList& commands);
std::string zsh_completion(const CommandList& commands);

}  // namespace sonde
