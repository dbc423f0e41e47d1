#pragma once

#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde {

// The whole terminal for a program that draws it again and again and reads single keys. The
// terminal is as before when this object goes.
class LiveTerminal {
 public:
  // Takes the terminal where standard input and output both are one.
  LiveTerminal();
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  bool ok() const { return ok_; }
  std::size_t width() const;
  std::size_t height() const;

  // Draws the lines from the top; what is beyond the last row is left out.
  void draw(std::string_view text) const;
  // The next key, 0 where none came until `time` (monotonic, ns) or a signal did.
  char key(std::uint64_t time) const;

 private:
  bool ok_ = false;
  termios before_{};
};

}  // namespace sonde
