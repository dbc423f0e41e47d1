#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace sonde {

struct HttpRequest {
  std::string path;                           // decoded, without the query
  std::map<std::string, std::string> params;  // decoded
};

struct HttpResponse {
  // False when nobody listens any more.
  using Sink = std::function<bool(std::string_view)>;

  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  // Where set, it is called once in place of `body` and hands out the body piece by piece. False
  // means that the body is cut short.
  std::function<bool(const Sink&)> stream;
};

inline constexpr std::string_view kTensorboardPrefix = "/data/plugin/pytorch_profiler/";

// Answers the questions of the PyTorch profiler plugin of TensorBoard for the traces under one
// log folder. handle() may be called from many threads at once.
class TensorboardService {
 public:
  explicit TensorboardService(std::string log_folder);
  ~TensorboardService();

  HttpResponse handle(const HttpRequest& request);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde
