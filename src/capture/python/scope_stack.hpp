#pragma once

#include <stdlib.h>

#include <cstdint>

#include "sonde/sonde.h"

namespace sonde::python {

// The open scopes of a thread. Those that are too deep are counted, and not recorded. Lives in
// thread storage; what it holds is made at the first scope and stays with the process.
class ScopeStack {
 public:
  // False where there is no memory. Of a name 0 nothing is recorded.
  bool begin(std::uint32_t name, sonde_domain* domain, sonde_kind kind) {
    if (!open_) open_ = static_cast<sonde_scope*>(calloc(kMaxDepth, sizeof(sonde_scope)));
    if (!open_) return false;
    const int depth = depth_++;
    if (depth < kMaxDepth) sonde_begin_id(&open_[depth], name, domain, kind);
    return true;
  }

  // False where none is open.
  bool end() {
    if (depth_ == 0) return false;
    const int depth = --depth_;
    if (depth < kMaxDepth) sonde_end(&open_[depth]);
    return true;
  }

  bool empty() const { return depth_ == 0; }
  // When the outermost scope began, in ticks; 0 where none is open or nothing records.
  std::uint64_t began() const { return depth_ > 0 ? open_[0].start : 0; }

 private:
  static constexpr int kMaxDepth = 256;
  sonde_scope* open_;
  int depth_;
};

}  // namespace sonde::python
