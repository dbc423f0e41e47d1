#include "import/sonde_run/cupti/work_names.hpp"

#include <string>

#include "base/demangle.hpp"
#include "base/utf8.hpp"
#include "import/sonde_run/cupti/labels.hpp"

namespace sonde::cupti {

void WorkNames::add(const Name& name) {
  const std::string text = mend_utf8(name.text);
  switch (name.type) {
    case NameType::Text: {
      const StringId id = builder_.intern(demangled(text));
      texts_.set(name.id, id);
      addresses_.set(name.key, id);
      return;
    }
    case NameType::RuntimeCall:
    case NameType::DriverCall:
      calls_[name.type == NameType::RuntimeCall].set(name.key,
                                                     builder_.intern(without_version(text)));
      return;
  }
  builder_.losses().add("gpu_unknown_names", Severity::Info,
                        "Names of a type that this Sonde does not know; they are left out");
}

StringId WorkNames::find(Key type, std::uint64_t key) const {
  const FlatMap<StringId>* map = &texts_;
  if (type == Key::Address) map = &addresses_;
  if (type == Key::RuntimeCall) map = &calls_[1];
  if (type == Key::DriverCall) map = &calls_[0];
  const StringId* found = map->find(key);
  return found ? *found : StringId();
}

void WorkNames::name_or_wait(SliceId slice, Key type, std::uint64_t key) {
  const StringId name = find(type, key);
  // What lies at an address may change; the newest text is known at the end only.
  if (name.valid() && type != Key::Address) return builder_.set_name(slice, name);
  pending_.push_back({slice, type, key});
}

void WorkNames::finish() {
  for (const Pending& waiting : pending_) {
    StringId name = find(waiting.type, waiting.key);
    if (!name.valid()) {
      const bool is_kernel = waiting.type == Key::Id || waiting.type == Key::Address;
      if (is_kernel) {
        builder_.losses().add("gpu_lost_names", Severity::Warning,
                              "Kernels whose name was not kept; they are called \"(unknown)\"");
        name = builder_.intern("(unknown)");
      } else {
        const bool runtime = waiting.type == Key::RuntimeCall;
        name = builder_.intern((runtime ? "CUDA runtime call " : "CUDA driver call ") +
                               std::to_string(waiting.key));
      }
    }
    builder_.set_name(waiting.slice, name);
  }
  pending_.clear();
}

}  // namespace sonde::cupti
