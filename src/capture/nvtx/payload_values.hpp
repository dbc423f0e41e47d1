#pragma once

#include <cstddef>
#include <cstdint>

#include "sonde/sonde.h"

namespace sonde::capture::nvtx {

// What was found in the payloads of one event, in order. Bounded: what has no room is counted.
class PayloadValues {
 public:
  // Names may be cut; they and texts are copied.
  void add_integer(const char* name, std::int64_t value);
  void add_real(const char* name, double value);
  void add_text(const char* name, const char* value);
  void lose() { ++lost_; }

  // Each value becomes an argument; where there are more than `most`, the last one is a text of all
  // that are left.
  void write(sonde_arguments* out, std::size_t most) const;

 private:
  enum class Kind : unsigned char { Integer, Real, Text };
  struct Item {
    const char* name;
    const char* text;
    std::int64_t integer;
    double real;
    Kind kind;
  };
  static constexpr std::size_t kMostItems = 48;
  static constexpr std::size_t kRoom = 6144;

  const char* copy(const char* text);
  Item* next(const char* name, Kind kind);
  void write_one(sonde_arguments* out, const Item& item) const;

  Item items_[kMostItems];
  std::size_t count_ = 0;
  char text_[kRoom];
  std::size_t used_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace sonde::capture::nvtx
