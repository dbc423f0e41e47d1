#include "trace/argument_sets.hpp"

#include <algorithm>

namespace sonde {
namespace {

std::uint64_t bits_of(const SetArg& arg) {
  switch (arg.type()) {
    case ArgType::Integer:
      return static_cast<std::uint64_t>(arg.integer());
    case ArgType::Real:
      return std::bit_cast<std::uint64_t>(arg.real());
    case ArgType::Text:
    case ArgType::Json:
      break;
  }
  return arg.text().value;
}

bool same(const SetArg& a, const SetArg& b) {
  return a.key() == b.key() && a.type() == b.type() && bits_of(a) == bits_of(b);
}

}  // namespace

ArgumentSetId ArgumentSets::intern(std::span<const SetArg> list) {
  std::uint64_t key = list.size();
  for (const SetArg& arg : list) {
    key = mix_bits(key * 0x100000001B3ull + arg.key().value);
    key = mix_bits(key ^ bits_of(arg)) + static_cast<std::uint64_t>(arg.type());
  }
  const auto next = static_cast<std::uint32_t>(begins_.size());
  for (;; key = mix_bits(key + 1)) {  // two different lists under one key: try the next one
    const std::uint32_t id = known_.get_or_insert(key, next);
    if (id == next) {
      begins_.push_back(static_cast<std::uint32_t>(args_.size()));
      for (const SetArg& arg : list) args_.push_back(arg.of(ArgumentSetId(next)));
      return ArgumentSetId(next);
    }
    const std::span<const SetArg> has = this->list(ArgumentSetId(id));
    if (std::equal(has.begin(), has.end(), list.begin(), list.end(), same)) {
      return ArgumentSetId(id);
    }
  }
}

}  // namespace sonde
