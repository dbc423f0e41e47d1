#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/ids.hpp"

namespace sonde {

enum class ArgType : std::uint8_t { Integer, Real, Text };

// What a program said about one of its slices: a key and a number or a text.
class SliceArg {
 public:
  SliceArg(SliceId slice, StringId key, std::int64_t number)
      : bits_(std::bit_cast<std::uint64_t>(number)), slice_(slice), key_(key) {}
  SliceArg(SliceId slice, StringId key, double number)
      : bits_(std::bit_cast<std::uint64_t>(number)),
        slice_(slice),
        key_(key),
        type_(ArgType::Real) {}
  SliceArg(SliceId slice, StringId key, StringId text)
      : bits_(text.value), slice_(slice), key_(key), type_(ArgType::Text) {}

  SliceId slice() const { return slice_; }
  StringId key() const { return key_; }
  ArgType type() const { return type_; }

  // Each for its own type.
  std::int64_t integer() const { return std::bit_cast<std::int64_t>(bits_); }
  double real() const { return std::bit_cast<double>(bits_); }
  StringId text() const { return StringId(static_cast<std::uint32_t>(bits_)); }

 private:
  std::uint64_t bits_;
  SliceId slice_;
  StringId key_;
  ArgType type_ = ArgType::Integer;
};
static_assert(sizeof(SliceArg) <= 24);

// The arguments of all slices, in the order of the slices; those of one slice as they were given.
class SliceArgs {
 public:
  // Slices come in ascending order, each as often as it has arguments.
  void append(const SliceArg& arg) { args_.push_back(arg); }

  std::span<const SliceArg> of(SliceId slice) const {
    const auto first = std::partition_point(
        args_.begin(), args_.end(), [&](const SliceArg& arg) { return arg.slice() < slice; });
    auto last = first;
    while (last != args_.end() && last->slice() == slice) ++last;
    return {first, last};
  }

  std::size_t size() const { return args_.size(); }
  bool empty() const { return args_.empty(); }
  const SliceArg& operator[](std::size_t i) const { return args_[i]; }
  std::size_t bytes() const { return args_.size() * sizeof(SliceArg); }

 private:
  std::vector<SliceArg> args_;
};

}  // namespace sonde
