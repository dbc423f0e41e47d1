#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"

namespace sonde {

// One argument as timeline formats write it.
struct Fact {
  enum class Type : std::uint8_t { Integer, Real, Single, Text, Json };
  std::string_view key;
  Type type = Type::Integer;
  std::int64_t integer = 0;
  double real = 0;        // Single: a float; Text: the number, where it is an infinite one or none
  std::string_view text;  // Text; Json: a whole JSON value
};

// Everything that a trace knows about a slice, marker, counter value or allocation besides the
// columns, under the names that PyTorch's profiler (Kineto) gives it. Texts point into the trace or
// into this object and stay good until the next call.
class FactSource {
 public:
  explicit FactSource(const Trace& trace) : trace_(trace) {}

  const std::vector<Fact>& of(SliceId slice);
  const std::vector<Fact>& of(MarkerId marker);
  const std::vector<Fact>& of(CounterId counter);
  const std::vector<Fact>& of(const Allocation& allocation);

  // Arguments so far whose key stood there already: of those the first counts.
  std::uint64_t left_out() const { return left_out_; }

 private:
  void add(std::string_view key, std::int64_t number);
  void add_single(std::string_view key, float number);
  void add_text(std::string_view key, StringId text);
  void add_json(std::string_view key, StringId text);
  void add_triple(std::string_view key, const std::array<std::int32_t, 3>& triple,
                  std::string& text);
  template <class Owner>
  void add_argument(const Argument<Owner>& argument);
  template <class Owner>
  void add_arguments(const Arguments<Owner>& arguments, Owner owner);
  bool has(std::string_view key) const;
  bool is_json(StringId text);
  void add_operator(const OperatorRow& row);
  void add_device_work(const DeviceRow& row);
  void add_collective(const CollectiveRow& row);

  const Trace& trace_;
  std::vector<Fact> facts_;
  std::uint64_t left_out_ = 0;
  std::string grid_;
  std::string block_;
  std::vector<std::uint8_t> json_state_;  // of each string: 0 unknown, 1 JSON, 2 not
};

// {"key": value, …}
void append_json_facts(std::string& out, const std::vector<Fact>& facts);
// The value alone.
void append_json_fact(std::string& out, const Fact& fact);

}  // namespace sonde
