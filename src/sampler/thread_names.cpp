#include "sampler/thread_names.hpp"

namespace sonde {

std::map<Address, std::string> read_thread_names(const PythonObjects& objects,
                                                 Address interpreter) {
  std::map<Address, std::string> out;
  Address modules = 0;
  if (!objects.memory().get(interpreter + objects.layout().interpreter.modules, modules))
    return out;
  const Address threading = objects.item(modules, "threading");
  Address dict = 0;
  constexpr std::uint64_t kModuleDictionary = 16;
  if (threading == 0 || objects.type_name(threading) != "module" ||
      !objects.memory().get(threading + kModuleDictionary, dict)) {
    return out;
  }
  const Address active = objects.item(dict, "_active");
  // Memory that is none of a dict must not keep Sonde busy.
  constexpr int kMostThreads = 4096;
  constexpr int kMostAttributes = 64;
  int threads = 0;
  objects.each_item(active, [&](Address key, Address thread) {
    if (++threads > kMostThreads) return false;
    const std::optional<std::int64_t> handle = objects.number(key);
    if (!handle) return true;
    int attributes = 0;
    objects.each_attribute(thread, [&](Address name, Address value) {
      if (++attributes > kMostAttributes) return false;
      if (objects.text(name, 16) != "_name") return true;
      if (std::optional<std::string> text = objects.text(value, 256)) {
        out[static_cast<Address>(*handle)] = std::move(*text);
      }
      return false;
    });
    return true;
  });
  return out;
}

}  // namespace sonde
