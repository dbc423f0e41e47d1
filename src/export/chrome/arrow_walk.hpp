#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "trace/links.hpp"

namespace sonde {

// The arrows of one kind, walked along with the slices: both ends stand directly behind their
// slice, which is how a reader knows it.
class ArrowWalk {
 public:
  explicit ArrowWalk(const Links& links) : links_(links), by_target_(links.size()) {
    std::iota(by_target_.begin(), by_target_.end(), 0u);
    std::sort(by_target_.begin(), by_target_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return links.to(a) < links.to(b); });
  }

  // Slices come in ascending order.
  template <class Visit>
  void outgoing(SliceId slice, Visit visit) {
    for (; source_ < links_.size() && links_.from(source_) == slice; ++source_) visit(source_);
  }
  template <class Visit>
  void incoming(SliceId slice, Visit visit) {
    for (; target_ < by_target_.size() && links_.to(by_target_[target_]) == slice; ++target_)
      visit(by_target_[target_]);
  }

 private:
  const Links& links_;
  std::vector<std::uint32_t> by_target_;
  std::size_t source_ = 0;
  std::size_t target_ = 0;
};

}  // namespace sonde
