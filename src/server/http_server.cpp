#include "server/http_server.hpp"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "server/routes.hpp"

namespace sonde {
namespace {

// "localhost:6006" -> "localhost", "[::1]:6006" -> "::1"; lower case.
std::string host_name(std::string_view header) {
  if (header.starts_with('[')) {
    header = header.substr(1, header.find(']') - 1);
  } else if (std::count(header.begin(), header.end(), ':') == 1) {
    header = header.substr(0, header.find(':'));
  }
  std::string out(header);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool is_loopback(const std::string& name) {
  if (name == "localhost" || name == "::1") return true;
  // Digits and dots only: "127.0.0.1.example.org" is a name like any other.
  return name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos;
}

HttpRequest to_request(const httplib::Request& from) {
  HttpRequest request;
  request.path = from.path;
  for (const auto& [key, value] : from.params) request.params.emplace(key, value);
  return request;
}

void to_response(HttpResponse from, httplib::Response& to) {
  to.status = from.status;
  if (!from.stream) {
    to.set_content(from.body, from.content_type);
    return;
  }
  to.set_chunked_content_provider(from.content_type, [stream = std::move(from.stream)](
                                                         std::size_t, httplib::DataSink& sink) {
    if (!stream([&](std::string_view piece) { return sink.write(piece.data(), piece.size()); })) {
      return false;
    }
    sink.done();
    return true;
  });
}

void refuse(httplib::Response& response, int status, const std::string& reason) {
  response.status = status;
  response.set_content("{\"error\": \"" + reason + "\"}", "application/json");
}

void set_up(httplib::Server& server, TensorboardService& service, const std::string& bound) {
  // The library's default would let two servers share a port, each with half of the requests.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  server.set_payload_max_length(std::size_t{64} << 10);
  server.set_write_timeout(std::chrono::seconds(30));
  server.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                              {"Content-Security-Policy", "default-src 'none'"},
                              {"Cache-Control", "no-store"}});
  server.set_pre_routing_handler(
      [&service, bound](const httplib::Request& request, httplib::Response& response) {
        if (!is_host_allowed(request.get_header_value("Host"), bound)) {
          refuse(response, 403, "this server answers to its own address only");
        } else if (request.method != "GET" && request.method != "HEAD") {
          refuse(response, 405, "only GET is known here");
        } else {
          to_response(service.handle(to_request(request)), response);
        }
        return httplib::Server::HandlerResponse::Handled;
      });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        refuse(response, 500, "out of memory or another failure inside of the server");
      });
}

std::string url_of(const std::string& host, int port) {
  std::string name = host;
  if (host == "0.0.0.0" || host.empty()) name = "127.0.0.1";
  if (host == "::") name = "::1";
  if (name.find(':') != std::string::npos) name = "[" + name + "]";
  return "http://" + name + ":" + std::to_string(port) + "/";
}

}  // namespace

struct ServerStop::State {
  std::mutex mutex;
  httplib::Server* server = nullptr;  // while it listens or is about to
  bool stopped = false;
};

ServerStop::ServerStop() : state_(std::make_shared<State>()) {}

void ServerStop::stop() const {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
  }
  // A server that is just starting does not hear a stop: wait until it runs.
  for (;;) {
    {
      const std::lock_guard lock(state_->mutex);
      if (!state_->server) return;
      if (state_->server->is_running()) {
        state_->server->stop();
        return;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool is_host_allowed(std::string_view header, std::string_view bound) {
  const std::string own = host_name(bound);
  if (!is_loopback(own)) return true;
  const std::string name = host_name(header);
  return is_loopback(name) || name == own;
}

Result<int> serve(const ServeOptions& options) {
  std::error_code failed;
  if (!std::filesystem::exists(options.log_folder, failed)) {
    return Error{ErrorCode::NotFound, "no such folder", options.log_folder, {}, "check the path"};
  }
  if (options.port < 0 || options.port > 65535) {
    return Error{ErrorCode::UsageError, "the port must be a number from 0 to 65535", {}, {}, {}};
  }
  TensorboardService service(options.log_folder);
  httplib::Server server;
  set_up(server, service, options.host);

  int port = options.port;
  if (port == 0) {
    port = server.bind_to_any_port(options.host);
  } else if (!server.bind_to_port(options.host, port)) {
    port = -1;
  }
  if (port < 0) {
    return Error{ErrorCode::IoError,
                 "cannot listen on " + options.host + ", port " + std::to_string(options.port),
                 {},
                 {},
                 "another program may use it; port 0 takes any free one"};
  }

  const std::shared_ptr<ServerStop::State>& state = options.stop.state();
  {
    const std::lock_guard lock(state->mutex);
    if (state->stopped) return port;
    state->server = &server;
  }
  // The socket queues connections from here on, also before the first is taken.
  if (options.listening) options.listening(port, url_of(options.host, port));
  const bool ended_well = server.listen_after_bind();
  {
    const std::lock_guard lock(state->mutex);
    state->server = nullptr;
  }
  if (!ended_well) {
    return Error{ErrorCode::IoError, "the server broke off", {}, {}, {}};
  }
  return port;
}

}  // namespace sonde
