#pragma once

#include <cstddef>
#include <cstdint>

// What the recorder of torch operators knows of libtorch's binary interface. libtorch is never
// linked: its functions are looked up in the running process, and places inside of its objects are
// found by a probe with known values (probe.cpp), so that one library serves many versions.

namespace sonde::capture::torch {

// at::RecordFunction: opaque.
using RecordFunction = void;

// std::unique_ptr<at::ObserverContext>: returned through memory, since its destructor is not
// trivial. Sonde keeps its state elsewhere and always returns none.
struct NoContext {
  void* context = nullptr;
  NoContext() = default;
  NoContext(const NoContext&) = delete;
  ~NoContext() {}  // NOLINT(modernize-use-equals-default): the way of returning depends on it
};

using StartCallback = NoContext (*)(const RecordFunction*);
using EndCallback = void (*)(const RecordFunction*, void*);

// at::RecordScope
enum class Scope : std::uint8_t {
  Function = 0,
  BackwardFunction = 1,
  TorchScript = 2,
  User = 7,
};
inline constexpr std::size_t kScopes = 10;

// at::RecordFunctionCallback, passed by value.
struct Callback {
  void* start;
  void* end;
  double sampling_probability;
  bool scopes[kScopes];
  bool needs_inputs;
  bool needs_outputs;
  bool needs_ids;
};
static_assert(sizeof(Callback) == 40);

// c10::IValue
struct Value {
  const void* payload;
  std::uint32_t tag;
  std::uint32_t padding;
};
static_assert(sizeof(Value) == 16);
inline constexpr std::uint32_t kTensorTag = 1;

struct Functions {
  std::uint64_t (*add_global_callback)(Callback) = nullptr;  // the handle
  void (*remove_callback)(std::uint64_t) = nullptr;
  const char* (*name)(const void* record) = nullptr;  // null in versions that have it inline
};

// Where things lie, in bytes from the start of the object; 0: not known.
struct Places {
  std::size_t sequence = 0;  // in a RecordFunction
  std::size_t inputs = 0;    // in a RecordFunction: pointer and count of Values
  std::size_t sizes = 0;     // in a TensorImpl: count of dimensions, then up to five of them
};

// The name of an operator or a scope: a std::string, or a reference to a schema that begins with
// one, directly before the sequence number.
inline constexpr std::size_t kNameBeforeSequence = 40;
inline constexpr std::size_t kNameKindBeforeSequence = 8;

inline constexpr std::size_t kMaxInlineDimensions = 5;

const char* name_of(const void* record, const Functions& functions, const Places& places);

}  // namespace sonde::capture::torch
