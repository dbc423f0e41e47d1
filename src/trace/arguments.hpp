#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/growth.hpp"
#include "trace/ids.hpp"

namespace sonde {

// Json: a list, an object, a truth value or null, as the text that stands in the file.
enum class ArgType : std::uint8_t { Integer, Real, Text, Json };

// What a program said about one of its slices, markers or counter values: a key and a number or a
// text.
template <class Owner>
class Argument {
 public:
  Argument(Owner owner, StringId key, std::int64_t number)
      : bits_(std::bit_cast<std::uint64_t>(number)), owner_(owner), key_(key) {}
  Argument(Owner owner, StringId key, double number)
      : bits_(std::bit_cast<std::uint64_t>(number)),
        owner_(owner),
        key_(key),
        type_(ArgType::Real) {}
  Argument(Owner owner, StringId key, StringId text, ArgType type = ArgType::Text)
      : bits_(text.value), owner_(owner), key_(key), type_(type) {}

  Owner owner() const { return owner_; }
  StringId key() const { return key_; }
  ArgType type() const { return type_; }

  // The same argument of another owner.
  template <class Other>
  Argument<Other> of(Other owner) const {
    if (type_ == ArgType::Integer) return {owner, key_, integer()};
    if (type_ == ArgType::Real) return {owner, key_, real()};
    return {owner, key_, text(), type_};
  }

  // Each for its own type; text() for Json as well.
  std::int64_t integer() const { return std::bit_cast<std::int64_t>(bits_); }
  double real() const { return std::bit_cast<double>(bits_); }
  StringId text() const { return StringId(static_cast<std::uint32_t>(bits_)); }

 private:
  std::uint64_t bits_;
  Owner owner_;
  StringId key_;
  ArgType type_ = ArgType::Integer;
};
static_assert(sizeof(Argument<SliceId>) <= 24);

// The arguments of all owners, in the order of the owners; those of one as they were given.
template <class Owner>
class Arguments {
 public:
  // Owners come in ascending order, each as often as it has arguments.
  void append(const Argument<Owner>& arg) { args_.push_back(arg); }

  void make_room(std::size_t extra, double done) { sonde::make_room(args_, extra, done); }

  std::span<const Argument<Owner>> of(Owner owner) const {
    const auto first =
        std::partition_point(args_.begin(), args_.end(),
                             [&](const Argument<Owner>& arg) { return arg.owner() < owner; });
    auto last = first;
    while (last != args_.end() && last->owner() == owner) ++last;
    return {first, last};
  }

  std::size_t size() const { return args_.size(); }
  bool empty() const { return args_.empty(); }
  const Argument<Owner>& operator[](std::size_t i) const { return args_[i]; }
  std::size_t bytes() const { return args_.size() * sizeof(Argument<Owner>); }

 private:
  std::vector<Argument<Owner>> args_;
};

using SliceArg = Argument<SliceId>;
using MarkerArg = Argument<MarkerId>;
using CounterArg = Argument<CounterId>;

}  // namespace sonde
