#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "sampler/python_objects.hpp"
#include "sampler/stack_reader.hpp"

namespace sonde {

// A function as reports name it. The same one for as long as the cache lives.
struct FunctionInfo {
  std::string name;
  std::string qualified_name;  // empty to 3.10
  std::string file;
  int first_line = 0;
  std::uint32_t flags = 0;  // co_flags
  bool native = false;      // a C or C++ function; `file` is the shared object
};

struct SampledFrame {
  const FunctionInfo* function = nullptr;
  int line = 0;  // 0: not known
};

// Names and lines of frames. A code object is read once; whether its place was given to another one
// is looked at each time.
class CodeCache {
 public:
  explicit CodeCache(const PythonObjects& objects) : objects_(objects) {}

  // False where a frame is none: its code object cannot be read. Frames that the interpreter makes
  // for itself are left out.
  bool resolve(const std::vector<RawFrame>& frames, std::vector<SampledFrame>& out);
  // The same, and which frames of `out` end an activation of the interpreter's C function.
  bool resolve(const std::vector<RawFrame>& frames, std::vector<SampledFrame>& out,
               std::vector<FrameEntry>& entries);

  // Nothing of these frames has to be read for the first time.
  bool knows(const std::vector<RawFrame>& frames) const;

  // One for all functions that are named alike.
  const FunctionInfo* intern(FunctionInfo info);
  std::size_t size() const { return entries_.size(); }

 private:
  // What tells one code object from another that later lies at its place.
  struct Identity {
    Address file = 0;
    Address name = 0;
    Address lines = 0;
    std::int32_t first_line = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  struct Entry {
    Identity identity;
    const FunctionInfo* function = nullptr;  // nullptr: a frame that is left out
    std::string lines;
    std::unordered_map<std::int64_t, int> known_lines;
  };

  Entry* read_code(Address code, const Identity& identity);

  const PythonObjects& objects_;
  std::unordered_map<Address, Entry> entries_;
  std::deque<FunctionInfo> functions_;
  std::unordered_map<std::string, const FunctionInfo*> by_name_;
  std::vector<Identity> identities_;
  std::vector<MemoryPiece> pieces_;
  std::vector<FrameEntry> unused_;
};

}  // namespace sonde
