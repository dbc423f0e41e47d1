#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace sonde {

// A 32-bit index that cannot be mistaken for an index of another kind.
template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}

  constexpr bool valid() const { return value != kNone; }
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using StringId = Id<struct StringTag>;
using SliceId = Id<struct SliceTag>;
using TrackId = Id<struct TrackTag>;
using StackId = Id<struct StackTag>;
using InputsId = Id<struct InputsTag>;
using MarkerId = Id<struct MarkerTag>;
using CounterId = Id<struct CounterTag>;
using FunctionId = Id<struct FunctionTag>;

}  // namespace sonde
