#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/arguments.hpp"
#include "trace/side_table.hpp"

namespace sonde {

using ArgumentSetId = Id<struct ArgumentSetTag>;
using SetArg = Argument<ArgumentSetId>;

// Arguments that many slices have in common (what is known of an operation, whenever it runs): each
// different list once. A slice has at most one list, besides the arguments of its own.
class ArgumentSets {
 public:
  // The owners of `list` do not matter: its set becomes the owner.
  ArgumentSetId intern(std::span<const SetArg> list);
  void append(SliceId slice, ArgumentSetId set) { sets_.append(slice, set); }
  void make_room(std::size_t extra, double done) { sets_.make_room(extra, done); }
  void seal(std::size_t slice_count) { sets_.seal(slice_count); }

  // What `slice` shares with others; nothing for most.
  std::span<const SetArg> of(SliceId slice) const {
    const ArgumentSetId* set = sets_.find(slice);
    return set == nullptr ? std::span<const SetArg>() : list(*set);
  }
  // The set of `slice`; invalid where it shares nothing.
  ArgumentSetId set_of(SliceId slice) const {
    const ArgumentSetId* set = sets_.find(slice);
    return set == nullptr ? ArgumentSetId() : *set;
  }

  std::size_t slices() const { return sets_.size(); }
  std::size_t size() const { return begins_.size(); }
  bool empty() const { return sets_.empty(); }
  std::size_t bytes() const {
    return sets_.bytes() + args_.size() * sizeof(SetArg) + begins_.size() * sizeof(std::uint32_t);
  }

 private:
  std::span<const SetArg> list(ArgumentSetId set) const {
    const std::size_t begin = begins_[set.index()];
    const std::size_t end =
        set.index() + 1 < begins_.size() ? begins_[set.index() + 1] : args_.size();
    return {args_.data() + begin, end - begin};
  }

  SideTable<ArgumentSetId> sets_;
  std::vector<SetArg> args_;
  std::vector<std::uint32_t> begins_;
  FlatMap<std::uint32_t> known_;
};

}  // namespace sonde
