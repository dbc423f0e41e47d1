#pragma once

#include <cstdint>
#include <vector>

#include "trace/builder.hpp"

namespace sonde {

// Slices that name the frame of the program in which they began. What the number stands for is
// known when the tables beside the recording have been read.
class WaitingPlaces {
 public:
  struct Place {
    SliceId slice;
    std::uint32_t frame = 0;
    StackId stack{};
  };

  void add(SliceId slice, std::uint32_t frame) { places_.push_back({slice, frame}); }
  // Of a call whose slice goes by that correlation id, and is added later.
  void add_call(std::uint32_t correlation, std::uint32_t frame) {
    calls_.push_back({correlation, frame});
  }
  // After the calls were read.
  void find_calls(const TraceBuilder& builder);
  std::vector<Place>& all() { return places_; }

  // After all slices are there, and before they are nested. Those without a stack are a loss.
  void finish(TraceBuilder& builder);

 private:
  struct Call {
    std::uint32_t correlation;
    std::uint32_t frame;
  };

  std::vector<Place> places_;
  std::vector<Call> calls_;
};

}  // namespace sonde
