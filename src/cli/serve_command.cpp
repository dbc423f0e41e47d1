#include "cli/serve_command.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "cli/usage.hpp"
#include "server/http_server.hpp"

namespace sonde {

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

CommandInfo ServeCommand::info() const {
  CommandInfo info;
  info.name = "serve";
  info.description = "answer the questions of TensorBoard's PyTorch profiler plugin over HTTP";
  info.details =
      "Serves the traces below LOGDIR under /data/plugin/pytorch_profiler/ with the routes and "
      "parameters of the plugin (runs, views, workers, overview, operation, operation/table, "
      "operation/stack, kernel, kernel/table, trace), so that scripts written for it go on "
      "working. "
      "Nothing outside of LOGDIR is served. Ctrl-C ends it.";
  info.examples = {{"sonde serve logs/ --port 8080", "on another port"}};
  return info;
}

void ServeCommand::define(Options& options) {
  Option& folder = options.positional(folder_, "LOGDIR", "folder with run folders or traces in it");
  folder.required = true;
  folder.hint = ValueHint::Folder;
  Option& host = options.text(host_, "--host", "ADDRESS", "address to listen at");
  host.default_text = "127.0.0.1: this machine only";
  Option& port =
      options.integer(port_, "-p,--port", "PORT", "port to listen at; 0 for any free one");
  port.default_text = "6006";
  port.lowest = 0;
  port.highest = 65535;
}

int ServeCommand::run() {
  if (!is_loopback(host_)) {
    print_warning(
        fmt::format("{} can be reached from other machines; anyone there can read the "
                    "traces in {}",
                    host_, folder_));
  }
  ServeOptions options;
  options.log_folder = folder_;
  options.host = host_;
  options.port = static_cast<int>(port_);
  options.listening = [](int /*port*/, const std::string& url) {
    fmt::print("serving at {} (Ctrl-C ends it)\n", url);
    std::fflush(stdout);
  };

  // Signals are taken by a thread of their own: a handler could not end the server safely. They are
  // blocked before any other thread starts, so that none of those gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const ServerStop stop = options.stop;
  std::thread waiter([&signals, stop] {
    int signal = 0;
    sigwait(&signals, &signal);
    stop.stop();
  });
  const Result<int> served = serve(options);
  // Where the server ended by itself the waiter still waits.
  pthread_kill(waiter.native_handle(), SIGUSR1);
  waiter.join();
  if (!served) return report_failure(served.error(), "serve");
  return kExitOk;
}

}  // namespace sonde
