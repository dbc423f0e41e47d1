#pragma once

#include <cstdint>
#include <string>

#include "cli/command.hpp"

namespace sonde {

// sonde serve LOGDIR: the HTTP API of TensorBoard's PyTorch profiler plugin.
class ServeCommand : public Command {
 public:
  CommandInfo info() const override;
  void define(Options& options) override;
  int run() override;

 private:
  std::string folder_;
  std::string host_ = "127.0.0.1";
  std::int64_t port_ = 6006;
};

// Whether only programs of the same machine can reach this address.
bool is_loopback(const std::string& host);

}  // namespace sonde
