#include "import/pstats/pstats.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "import/input/read_whole.hpp"
#include "import/profile/call_profile_builder.hpp"
#include "import/pstats/marshal_reader.hpp"
#include "import/text/numbers.hpp"
#include "import/text/utf8.hpp"

namespace sonde {
namespace {

using Type = MarshalReader::Type;
using Value = MarshalReader::Value;

constexpr std::uint64_t kMaxFile = std::uint64_t{256} << 20;
constexpr double kSecond = 1e9;

std::optional<double> number_of(const Value& value) {
  if (value.type == Type::Integer) return static_cast<double>(value.integer);
  if (value.type == Type::Real) return value.real;
  return std::nullopt;
}

std::int32_t line_of(std::int64_t line) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(line, 0, INT32_MAX));
}

// (calls, primitive calls, own time, time with callees)
struct Costs {
  std::int64_t calls = 0;
  std::int64_t primitive = 0;
  std::int64_t self = 0;
  std::int64_t total = 0;
};

class PstatsReader {
 public:
  PstatsReader(const MarshalReader& marshal, TraceBuilder& builder)
      : marshal_(marshal), builder_(builder), names_(builder), table_(builder.call_profile(), 1) {
    builder.call_profile().types.push_back({builder.intern("time"), builder.intern("ns")});
  }

  void read() {
    const std::vector<std::uint32_t>& items = marshal_.items();
    // Functions are numbered in the order of the file, not by who is named first as a caller:
    // pstats lists equal ones in that order.
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      Costs ignored;
      const Value& entry = marshal_.value(items[i + 1]);
      if (entry.type == Type::List && entry.size >= 4 && costs(entry, 0, false, ignored)) {
        function(marshal_.value(items[i]));
      }
    }
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const Value& key = marshal_.value(items[i]);
      const Value& entry = marshal_.value(items[i + 1]);
      if (is_sampling_mark(key)) {
        builder_.call_profile().sampled = true;
      } else if (!read_entry(key, entry)) {
        builder_.losses().add("entry_unusable", Severity::Warning,
                              "Entries of the profile that are no function with its numbers; they "
                              "were passed over.");
      }
    }
    builder_.call_profile().call_costs_known = !counts_only_ || whole_callers_;
  }

  bool has_whole_callers() const { return whole_callers_; }
  bool counts_only() const { return counts_only_; }

 private:
  bool is_sampling_mark(const Value& key) const {
    if (key.type != Type::List || key.size != 1) return false;
    const Value& mark = marshal_.value(marshal_.child(key, 0));
    return mark.type == Type::Text && marshal_.text(mark) == "__sampled__";
  }

  // (file, first line, name); a name may be a code object.
  FunctionId function(const Value& key) {
    if (key.type != Type::List || key.size != 3) return {};
    const Value& file = marshal_.value(marshal_.child(key, 0));
    const Value& line = marshal_.value(marshal_.child(key, 1));
    const Value* name = &marshal_.value(marshal_.child(key, 2));
    if (name->type == Type::Code) name = &marshal_.value(marshal_.child(*name, 2));
    if (file.type != Type::Text || name->type != Type::Text || line.type != Type::Integer)
      return {};
    return table_.function(names_.intern(marshal_.text(*name)), names_.intern(marshal_.text(file)),
                           StringId(), line_of(line.integer));
  }

  // Four numbers from `first` on; a function has its primitive calls first, a caller all of them.
  bool costs(const Value& tuple, std::uint32_t first, bool of_caller, Costs& out) const {
    std::array<double, 4> numbers{};
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::optional<double> number =
          number_of(marshal_.value(marshal_.child(tuple, first + i)));
      if (!number) return false;
      numbers[i] = *number;
    }
    out.calls = add_costs(out.calls, to_cost(numbers[of_caller ? 0 : 1]));
    out.primitive = add_costs(out.primitive, to_cost(numbers[of_caller ? 1 : 0]));
    out.self = add_costs(out.self, to_cost(numbers[2] * kSecond));
    out.total = add_costs(out.total, to_cost(numbers[3] * kSecond));
    return true;
  }

  bool read_entry(const Value& key, const Value& entry) {
    Costs own;
    if (entry.type != Type::List || entry.size < 4 || !costs(entry, 0, false, own)) return false;
    const FunctionId callee = function(key);
    if (!callee.valid()) return false;
    CallProfile& profile = table_.profile();
    CallProfile::Function& row = profile.functions[callee.index()];
    row.calls = add_costs(row.calls, own.calls);
    row.primitive_calls = add_costs(row.primitive_calls, own.primitive);
    table_.add(profile.function_self, callee.index(), {&own.self, 1});
    table_.add(profile.function_total, callee.index(), {&own.total, 1});
    if (entry.size > 4) read_callers(callee, marshal_.value(marshal_.child(entry, 4)));
    return true;
  }

  void read_callers(FunctionId callee, const Value& callers) {
    const std::uint32_t size = callers.type == Type::Dict ? callers.size : 0;
    if (callers.type != Type::Dict) drop_caller();
    for (std::uint32_t i = 0; i + 1 < size; i += 2) {
      const FunctionId caller = function(marshal_.value(marshal_.child(callers, i)));
      const Value& value = marshal_.value(marshal_.child(callers, i + 1));
      Costs sum;
      if (!caller.valid() || !caller_costs(value, sum)) {
        drop_caller();
        continue;
      }
      CallProfile& profile = table_.profile();
      const std::uint32_t row = table_.call(caller, callee, 0);
      profile.calls[row].calls = add_costs(profile.calls[row].calls, sum.calls);
      profile.calls[row].primitive_calls =
          add_costs(profile.calls[row].primitive_calls, sum.primitive);
      table_.add(profile.call_self, row, {&sum.self, 1});
      table_.add(profile.call_total, row, {&sum.total, 1});
    }
  }

  // A count alone (profile), four numbers, or several times four (files that were merged).
  bool caller_costs(const Value& value, Costs& out) {
    if (value.type == Type::Integer) {
      counts_only_ = true;
      out.calls = value.integer;
      out.primitive = value.integer;
      return true;
    }
    if (value.type != Type::List || value.size == 0 || value.size % 4 != 0) return false;
    for (std::uint32_t i = 0; i < value.size; i += 4) {
      if (!costs(value, i, true, out)) return false;
    }
    whole_callers_ = true;
    return true;
  }

  void drop_caller() {
    builder_.losses().add("caller_unusable", Severity::Warning,
                          "Callers whose numbers cannot be read; they were passed over.");
  }

  const MarshalReader& marshal_;
  TraceBuilder& builder_;
  NamePool names_;
  CallProfileBuilder table_;
  bool counts_only_ = false;
  bool whole_callers_ = false;
};

std::unique_ptr<MarshalReader> parse(std::string_view bytes) {
  auto newer = std::make_unique<MarshalReader>(bytes, MarshalReader::CodeLayout::From311);
  if (newer->read_dictionary() && newer->position() == bytes.size()) return newer;
  auto older = std::make_unique<MarshalReader>(bytes, MarshalReader::CodeLayout::UpTo310);
  const bool whole = older->read_dictionary() && older->position() == bytes.size();
  return whole || older->items().size() > newer->items().size() ? std::move(older)
                                                                : std::move(newer);
}

}  // namespace

bool looks_like_pstats(std::string_view head) {
  if (head.size() < 2) return false;
  const auto byte = [&](std::size_t i) {
    return i < head.size() ? static_cast<unsigned char>(head[i]) : 0xFFu;
  };
  if ((byte(0) & 0x7F) != '{') return false;
  if (head.size() == 2 && head[1] == '0') return true;  // nothing was profiled
  // The first key is a tuple of three, or of one.
  const auto type = byte(1) & 0x7Fu;
  const bool small = byte(2) == 3 || byte(2) == 1;
  if (type == ')') return small;
  return type == '(' && small && byte(3) == 0 && byte(4) == 0 && byte(5) == 0;
}

Result<Trace> import_pstats(const ImportInput& input) {
  Result<std::string> bytes = read_whole(input, kMaxFile);
  if (!bytes) return bytes.error();
  const std::unique_ptr<MarshalReader> marshal = parse(*bytes);
  if (marshal->items().empty() && !marshal->failure().empty()) {
    return Error{ErrorCode::BrokenInput,
                 "looks like a profile of Python, but nothing can be read: " + marshal->failure(),
                 input.path, marshal->position(), "copy the file again"};
  }
  TraceBuilder builder;
  PstatsReader reader(*marshal, builder);
  reader.read();
  TraceMeta& meta = builder.meta();
  meta.format = "pstats";
  meta.producer = builder.call_profile().sampled ? "Python profiling.sampling"
                  : reader.counts_only() && !reader.has_whole_callers() ? "Python profile"
                                                                        : "Python cProfile";
  meta.input_bytes = bytes->size();
  meta.file_events = marshal->items().size() / 2;
  if (!marshal->failure().empty()) {
    builder.losses().add(
        "profile_cut", Severity::Error,
        "The profile breaks off: " + marshal->failure() + "; the functions before that are shown.",
        1, marshal->position());
  } else if (marshal->position() < bytes->size()) {
    builder.losses().add("text_behind_the_end", Severity::Warning,
                         "Bytes follow behind the end of the profile; they were passed over.", 1,
                         marshal->position());
  }
  if (marshal->items().empty()) {
    builder.losses().add("no_events", Severity::Warning,
                         "The profile is empty: nothing ran while the profiler was on.");
  }
  builder.losses().merge(input.source.losses());
  builder.nest(1);
  return builder.finish();
}

}  // namespace sonde
