#pragma once

#include <algorithm>
#include <cstddef>

namespace sonde {

// Room for `extra` more elements. A vector that doubles wastes up to half of its memory and copies
// everything each time; where a known part (`done`, 0 … 1) of the input is read, the rest can be
// foreseen. The forecast is held between 1.5 and 16 times what is there.
template <class List>
void make_room(List& list, std::size_t extra, double done) {
  if (list.capacity() - list.size() >= extra) return;
  const auto size = static_cast<double>(list.size() + extra);
  const double forecast = done > 0 ? size / done * 1.03 : size * 2;
  list.reserve(static_cast<std::size_t>(std::clamp(forecast, size * 1.5, size * 16)));
}

}  // namespace sonde
