#include <stdlib.h>
#include <string.h>

#include "capture/cuda/collector.hpp"
#include "sonde/sonde.h"
#include "trace/file_format.hpp"

namespace sonde::capture::cuda {
namespace {

Cupti functions;
Subscriber held;

// The runtime calls the driver: work goes by the id of the outer call.
__thread std::uint32_t runtime_depth __attribute__((tls_model("initial-exec"))) = 0;

constexpr std::uint32_t kMostFunctions = 2048;

void enable(Domain domain) {
  for (std::uint32_t i = 1; i < kMostFunctions; ++i) {
    const char* name = nullptr;
    if (functions.cuptiGetCallbackName(domain, i, &name) != kSuccess || !name) return;
    if (launches_work(name)) functions.cuptiEnableCallback(1, held, domain, i);
  }
}

}  // namespace

bool places_wanted() {
  if (!__atomic_load_n(&sonde_place_, __ATOMIC_ACQUIRE)) return false;
  const char* const wish = secure_getenv("SONDE_CUDA_LINES");
  if (wish && strcmp(wish, "off") == 0) return false;
  if (wish && strcmp(wish, "on") == 0) return true;
  // Their own profilers want to subscribe, and torch's operators tell their places themselves.
  return !framework_is_loaded();
}

bool holds_places() { return held != nullptr; }

void keep_places(const Cupti& found, Subscriber subscriber) {
  functions = found;
  held = subscriber;
  if (!functions.cuptiEnableCallback) return drop_places();
  enable(Domain::Runtime);
  enable(Domain::Driver);
  header().call_places = cupti::CallPlaces::Recorded;
}

void drop_places() {
  if (!held) return;
  functions.cuptiUnsubscribe(held);
  held = nullptr;
}

void on_callback(void*, std::uint32_t domain, std::uint32_t, const void* data) {
  const auto& call = *static_cast<const CallbackData*>(data);
  const bool runtime = domain == static_cast<std::uint32_t>(Domain::Runtime);
  if (call.site != kEntersCall) {
    if (runtime && runtime_depth > 0) --runtime_depth;
    return;
  }
  const bool inside = runtime_depth > 0;
  if (runtime) ++runtime_depth;
  const auto place = __atomic_load_n(&sonde_place_, __ATOMIC_ACQUIRE);
  if (inside || !place || !sonde_enabled()) return;
  const std::uint32_t frame = place();
  if (frame == 0) return;
  sonde_record_(sonde_ticks(), frame, call.correlation,
                file::make_word(0, 0, file::RecordType::CallPlace, 0));
}

}  // namespace sonde::capture::cuda
