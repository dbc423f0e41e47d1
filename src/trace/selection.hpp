#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/filter.hpp"
#include "trace/taken.hpp"

namespace sonde {

// What a reader keeps of a file of which only a piece is wanted. The file is read several times;
// what is kept in the end is the piece and what decides about its links, so that filtering it gives
// the same as filtering the whole trace.
//
//   Survey      where the trace begins, its steps, where arrows lie; nothing is kept
//   Neighbours  the ids of what lies in the piece, and the ends of its arrows; nothing is kept
//   Build       the piece, and the slices that share an id or an arrow with it
//
// All times are those of the file. A reader that does not look at the selection reads everything.
class Selection {
 public:
  enum class Phase : std::uint8_t { Survey, Neighbours, Build };

  struct Step {
    std::string name;
    Nanos start = 0;
    Nanos end = 0;
  };

  Phase phase() const { return phase_; }
  // Whether the reader of the last phase looked at the selection.
  bool used() const { return used_; }
  void use() { used_ = true; }
  // The reader needs the phase once more: the file has behind its events what they are read by, and
  // state() keeps it.
  void ask_again() { again_ = true; }
  bool takes_again() { return std::exchange(again_, false); }
  std::shared_ptr<void>& state() { return state_; }
  // The reader cannot tell the piece without the rest: the file must be read whole.
  void give_up() { given_up_ = true; }
  bool given_up() const { return given_up_; }

  // The trace's own time 0, and its steps in the order of the file: after the survey.
  Nanos origin() const;
  const std::vector<Step>& steps() const { return steps_; }
  // What the survey saw of all slices.
  bool has_calls() const { return has_calls_; }
  bool has_device_work() const { return has_device_work_; }
  bool has_fractions() const { return has_fractions_; }  // of a microsecond
  bool has_hip_calls() const { return has_hip_calls_; }
  bool has_backward_arrows() const { return has_backward_arrows_; }
  void note_backward_arrow() { has_backward_arrows_ = true; }

  // After the survey: `filter` with times from the trace's origin on.
  void choose(const TraceFilter& filter);
  // Whether the second phase has anything to find out.
  bool needs_neighbours() const { return !filter_.windows.empty(); }
  // After the phase of that name.
  void begin_neighbours();
  void begin_build();
  // The filter for a trace that was built, whose own time 0 is `origin`.
  TraceFilter filter_from(Nanos origin) const;

  // For every slice of the file, whose track has the same number in all phases.
  Taken takes(Nanos start, Nanos duration, TrackId track, SliceKind kind, const SliceIds& ids,
              std::string_view name);
  // For every point of the file.
  bool takes(Point point, Nanos time);

  // Whether a slice may lie in the piece.
  bool may_hold(Nanos start, Nanos end, SliceKind kind) const {
    return in_windows(start, end) || (filter_.device_work_by_launch && is_device_work(kind));
  }

  // One end of an arrow that `key` names: what it is bound to, where that is known from its place
  // in the file. Tells whether the reader keeps it.
  enum class Binding : std::uint8_t { Unknown, InPiece, Elsewhere };
  bool takes_arrow_end(std::uint64_t key, TrackId track, Nanos time, Binding binding);
  void need_arrow(std::uint64_t key) { arrows_.insert(key); }
  bool needs_arrow(std::uint64_t key) const {
    return filter_.windows.empty() || arrows_.contains(key);
  }
  // A link between slices of these ids.
  void note_link(std::uint64_t from, std::uint64_t to);
  bool needs_link(std::uint64_t id) const { return filter_.windows.empty() || links_.contains(id); }

 private:
  struct Extent {
    Nanos start;
    Nanos end;
  };
  struct ArrowEnd {
    std::uint64_t key;
    TrackId track;
    Nanos time;
    bool unbound;  // it may lie in a slice that reaches out of the piece
  };

  bool in_windows(Nanos start, Nanos end) const;
  bool surely_inside(Nanos time) const;
  bool in_one_window(Nanos start, Nanos end) const;
  bool serves_links(SliceKind kind, TrackId track, const SliceIds& ids) const;
  bool is_at_arrow(TrackId track, Nanos start, Nanos end) const;
  void survey(Nanos start, Nanos duration, TrackId track, SliceKind kind, const SliceIds& ids,
              std::string_view name);
  void note_neighbours(Nanos start, Nanos end, TrackId track, SliceKind kind, const SliceIds& ids);
  static void mark(std::vector<bool>& flags, TrackId track) {
    if (flags.size() <= track.index()) flags.resize(track.index() + 1);
    flags[track.index()] = true;
  }
  static bool marked(const std::vector<bool>& flags, TrackId track) {
    return track.index() < flags.size() && flags[track.index()];
  }

  Phase phase_ = Phase::Survey;
  bool used_ = false;
  bool given_up_ = false;
  bool again_ = false;
  std::shared_ptr<void> state_;
  TraceFilter filter_;  // its windows in the file's time

  Nanos first_ = INT64_MAX;
  Nanos first_marker_ = INT64_MAX;
  std::vector<Step> steps_;
  std::uint64_t calls_with_both_ids_ = 0;
  std::uint64_t calls_with_equal_ids_ = 0;
  std::uint64_t calls_ = 0;
  bool has_calls_ = false;
  bool has_device_work_ = false;
  bool has_fractions_ = false;
  bool has_hip_calls_ = false;
  bool has_backward_arrows_ = false;
  std::vector<bool> arrow_tracks_;
  std::vector<bool> device_tracks_;

  std::unordered_set<std::int64_t> correlations_;
  std::unordered_set<std::int64_t> external_ids_;
  std::unordered_set<std::int64_t> sequences_;
  std::unordered_set<std::uint64_t> links_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> link_ends_;
  std::unordered_map<std::uint32_t, std::vector<Extent>> extents_;  // by track
  std::unordered_set<std::uint64_t> arrows_;                        // with an end in the piece
  std::vector<ArrowEnd> outer_ends_;
  std::unordered_map<std::uint32_t, std::vector<Nanos>> arrow_times_;  // by track, ascending
};

}  // namespace sonde
