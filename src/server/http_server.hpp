#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sonde {

// Ends a server from another thread, or before it has begun. Copies end the same server.
class ServerStop {
 public:
  ServerStop();
  void stop() const;

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

struct ServeOptions {
  std::string log_folder;
  std::string host = "127.0.0.1";
  int port = 6006;  // 0: any free one
  // Called once the server can be reached, with the real port and an address to open.
  std::function<void(int port, const std::string& url)> listening;
  ServerStop stop;
};

// Serves until stopped, and gives the port that it used. Fails where the folder cannot be read or
// the address cannot be bound.
Result<int> serve(const ServeOptions& options);

// Whether a request with this Host header may be answered by a server bound to `bound`. One that
// listens on this machine only answers to its own names only: otherwise any web page could read
// the traces through a name that it points to 127.0.0.1.
bool is_host_allowed(std::string_view header, std::string_view bound);

}  // namespace sonde
