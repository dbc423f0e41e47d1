// Any bytes give a pickle's plain values or an error, and every value answers every question.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "import/pickle/pickle_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  PickleLimits limits;
  limits.max_values = 100'000;
  const Result<PickleDocument> document =
      PickleDocument::parse(std::string(reinterpret_cast<const char*>(data), size), limits);
  if (!document) {
    if (document.error().text().empty()) std::abort();
    return 0;
  }
  std::vector<bool> seen(document->value_count());
  std::vector<PickleValue> waiting{document->root()};
  while (!waiting.empty()) {
    const PickleValue value = waiting.back();
    waiting.pop_back();
    if (value.is_none()) continue;
    if (value.id() >= seen.size()) std::abort();
    if (seen[value.id()]) continue;
    seen[value.id()] = true;
    if (value.text().size() > size || value.module().size() + value.name().size() > size) {
      std::abort();
    }
    if (value.integer() && !value.number()) std::abort();
    for (std::size_t i = 0; i < value.size(); ++i) {
      waiting.push_back(value.item(i));
      waiting.push_back(value.key(i));
      waiting.push_back(value.value(i));
    }
    waiting.push_back(value.arguments());
    waiting.push_back(value.state());
    waiting.push_back(value.find("timings"));
  }
  return 0;
}
