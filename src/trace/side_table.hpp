#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "trace/growth.hpp"
#include "trace/ids.hpp"
#include "trace/long_vector.hpp"

namespace sonde {

// Fields that only some slices have: rows in ascending slice order, found by slice in constant
// time through one bit per slice and a running count per 64 of them.
template <class Row>
class SideTable {
 public:
  // Slices come in ascending order, each at most once.
  Row& append(SliceId slice, const Row& row) {
    keys_.push_back(slice);
    rows_.push_back(row);
    return rows_.back();
  }

  // Room for `extra` more rows, in a way that fits a table of which `done` (0 … 1) is there.
  void make_room(std::size_t extra, double done) {
    sonde::make_room(keys_, extra, done);
    sonde::make_room(rows_, extra, done);
  }

  // Call once after the last append; `slice_count` is the number of slices of the trace.
  void seal(std::size_t slice_count) {
    words_.assign(slice_count / 64 + 1, {});
    for (const SliceId key : keys_) {
      words_[key.index() / 64].bits |= std::uint64_t{1} << (key.index() % 64);
    }
    std::uint32_t before = 0;
    for (Word& word : words_) {
      word.before = before;
      before += static_cast<std::uint32_t>(std::popcount(word.bits));
    }
  }

  const Row* find(SliceId slice) const {
    const std::size_t at = slice.index() / 64;
    if (at >= words_.size()) return nullptr;
    const std::uint64_t bit = std::uint64_t{1} << (slice.index() % 64);
    const Word& word = words_[at];
    if (!(word.bits & bit)) return nullptr;
    return &rows_[word.before + static_cast<std::size_t>(std::popcount(word.bits & (bit - 1)))];
  }

  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  SliceId key(std::size_t i) const { return keys_[i]; }
  const Row& row(std::size_t i) const { return rows_[i]; }
  Row& row(std::size_t i) { return rows_[i]; }

  std::size_t bytes() const {
    return keys_.size() * sizeof(SliceId) + rows_.size() * sizeof(Row) +
           words_.size() * sizeof(Word);
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;
  };

  LongVector<SliceId> keys_;
  LongVector<Row> rows_;
  LongVector<Word> words_;
};

}  // namespace sonde
