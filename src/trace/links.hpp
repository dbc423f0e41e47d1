#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/ids.hpp"
#include "trace/long_vector.hpp"

namespace sonde {

// Arrows between slices. A source may have many targets; a target has at most one source.
class Links {
 public:
  void add(SliceId from, SliceId to) {
    from_.push_back(from);
    to_.push_back(to);
  }

  // Call once after the last add: orders by (source, target), later duplicates of a target go.
  void seal();

  std::size_t size() const { return from_.size(); }
  SliceId from(std::size_t i) const { return from_[i]; }
  SliceId to(std::size_t i) const { return to_[i]; }

  // All targets of `from`, ascending.
  std::span<const SliceId> targets(SliceId from) const;
  // The source of `to`, invalid where it has none.
  SliceId source(SliceId to) const;

  std::size_t bytes() const;

 private:
  LongVector<SliceId> from_;
  LongVector<SliceId> to_;
  LongVector<std::uint32_t> by_target_;
};

}  // namespace sonde
