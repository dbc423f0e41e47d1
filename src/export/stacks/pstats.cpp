#include "export/stacks/pstats.hpp"

#include <bit>
#include <map>
#include <tuple>

#include "analysis/call_sums.hpp"
#include "export/stacks/frame_text.hpp"

namespace sonde {
namespace {

// Python's marshal format, in the subset that every Python since 3.4 reads.
class Marshal {
 public:
  explicit Marshal(std::string& out) : out_(out) {}

  void number(std::int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      out_ += 'i';
      little(static_cast<std::uint32_t>(value), 4);
      return;
    }
    // Digits of 15 bits, the lowest first; the sign is that of their count.
    std::uint64_t rest = value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                                   : static_cast<std::uint64_t>(value);
    std::string digits;
    std::int32_t count = 0;
    for (; rest != 0; rest >>= 15, ++count) {
      digits += static_cast<char>(rest & 0xFF);
      digits += static_cast<char>(rest >> 8 & 0x7F);
    }
    out_ += 'l';
    little(static_cast<std::uint32_t>(value < 0 ? -count : count), 4);
    out_ += digits;
  }
  void real(double value) {
    out_ += 'g';
    little(std::bit_cast<std::uint64_t>(value), 8);
  }
  void text(std::string_view value) {
    bool ascii = true;
    for (const char c : value) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    if (ascii && value.size() < 256) {
      out_ += 'z';
      out_ += static_cast<char>(value.size());
    } else {
      out_ += ascii ? 'a' : 'u';
      little(value.size(), 4);
    }
    out_ += value;
  }
  void tuple(std::uint8_t members) {
    out_ += ')';
    out_ += static_cast<char>(members);
  }
  void begin_dict() { out_ += '{'; }
  void end_dict() { out_ += '0'; }

 private:
  void little(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  std::string& out_;
};

struct Entry {
  std::int64_t calls = 0;
  std::int64_t primitive = 0;
  double self = 0;
  double total = 0;
  void add(std::int64_t more_calls, std::int64_t more_primitive, double more_self,
           double more_total) {
    calls += more_calls;
    primitive += more_primitive;
    self += more_self;
    total += more_total;
  }
};

using Key = std::tuple<std::string_view, std::int32_t, std::string_view>;

struct Function {
  Entry entry;
  std::map<Key, Entry> callers;
};

// What has no file is shown by its name alone, as pstats does with built-in functions.
Key key_of(const CallSums::Function& function) {
  if (function.file.empty()) return {"~", 0, function.name};
  return {function.file, function.line, function.name};
}

void write_key(Marshal& out, const Key& key) {
  out.tuple(3);
  out.text(std::get<0>(key));
  out.number(std::get<1>(key));
  out.text(std::get<2>(key));
}

}  // namespace

Result<ExportNotes> write_pstats(const ExportInput& input, BufferedOutput& out) {
  Result<CallSums> sums = sum_calls(input.trace, input.weight);
  if (!sums) return sums.error();
  ExportNotes notes;
  std::size_t type = 0;
  while (type + 1 < sums->types.size() && !is_time_unit(sums->types[type].unit)) ++type;
  const bool time = is_time_unit(sums->types[type].unit);
  if (!time) type = 0;
  // A division, not a product: 0.1 and not 0.1000…01.
  const double per_second = time ? 1e9 / nanos_per(sums->types[type].unit) : 1;
  if (!time) notes.push_back("where pstats says seconds, the numbers are " + sums->types[0].name);
  if (sums->types.size() > 1)
    notes.push_back("only the cost '" + sums->types[type].name +
                    "' is written; the format has one");
  if (sums->sampled) notes.push_back("numbers of calls are numbers of samples");
  const auto value = [&](const std::vector<std::int64_t>& costs, std::size_t row) {
    return static_cast<double>(sums->cost(costs, row, type)) / per_second;
  };

  std::map<Key, Function> functions;
  for (std::size_t f = 0; f < sums->functions.size(); ++f) {
    const CallSums::Function& function = sums->functions[f];
    functions[key_of(function)].entry.add(function.calls, function.primitive_calls,
                                          value(sums->function_self, f),
                                          value(sums->function_total, f));
  }
  for (std::size_t c = 0; c < sums->calls.size(); ++c) {
    const CallSums::Call& call = sums->calls[c];
    if (call.caller >= sums->functions.size() || call.callee >= sums->functions.size()) continue;
    functions[key_of(sums->functions[call.callee])]
        .callers[key_of(sums->functions[call.caller])]
        .add(call.calls, call.primitive_calls, value(sums->call_self, c),
             value(sums->call_total, c));
  }

  Marshal marshal(out.buffer());
  marshal.begin_dict();
  for (const auto& [key, function] : functions) {
    write_key(marshal, key);
    marshal.tuple(5);
    marshal.number(function.entry.primitive);
    marshal.number(function.entry.calls);
    marshal.real(function.entry.self);
    marshal.real(function.entry.total);
    marshal.begin_dict();
    for (const auto& [caller, entry] : function.callers) {
      write_key(marshal, caller);
      marshal.tuple(4);
      marshal.number(entry.calls);  // here the other way round
      marshal.number(entry.primitive);
      marshal.real(entry.self);
      marshal.real(entry.total);
    }
    marshal.end_dict();
    out.settle();
    if (out.failed()) break;
  }
  marshal.end_dict();
  return notes;
}

}  // namespace sonde
