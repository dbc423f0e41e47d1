#include <array>
#include <string>
#include <utility>

#include "import/kineto/categories.hpp"
#include "import/nsys/report_file.hpp"
#include "import/nsys/torch_range.hpp"

namespace sonde::nsys {
namespace {

enum EventType : std::int64_t {
  kCategory = 33,
  kMark = 34,
  kThreadName = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kDomain = 75,
};

enum Column {
  kStart,
  kEnd,
  kType,
  kText,
  kTextId,
  kTid,
  kCategoryId,
  kDomainId,
  kEndTid,
  kFirstWhole,
  kLastWhole = kFirstWhole + 3,
  kFirstReal,
  kLastReal = kFirstReal + 1,
  kJson,
  kJsonId,
};

// "iteration 12", "step_3", "Iter#7": how training scripts mark their steps.
bool names_a_step(std::string_view text) {
  std::size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  if (digits == text.size()) return false;
  std::size_t end = digits;
  while (end > 0 && std::string_view(" _#:-").find(text[end - 1]) != std::string_view::npos) --end;
  std::string word(text.substr(0, end));
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return word == "step" || word == "iteration" || word == "iter" || word == "train step" ||
         word == "train_step" || word == "training step" || word == "training_step";
}

class NvtxReader {
 public:
  NvtxReader(ReportFile& file, const SqliteFile::Table& table) : file_(file), table_(table) {}

  void read() {
    read_rows(true);
    read_rows(false);
    file_.builder().losses().add(
        "open_ranges", Severity::Info,
        "NVTX ranges that were still open when the recording ended; they reach to its end.", open_);
    file_.builder().losses().add(
        "unknown_nvtx", Severity::Warning,
        "NVTX events of a type that Sonde does not know; they are left out.", unknown_);
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;

  // Names of categories and domains may come behind their first use: they are read first.
  void read_rows(bool names) {
    TableReader rows(file_.database(), table_,
                     {"start", "end", "eventType", "text", "textId", "globalTid", "category",
                      "domainId", "endGlobalTid", "int64Value", "uint64Value", "int32Value",
                      "uint32Value", "doubleValue", "floatValue", "jsonText", "jsonTextId"});
    while (rows.next()) {
      const std::int64_t type = rows.integer(kType, -1);
      const bool is_name = type == kCategory || type == kDomain || type == kThreadName;
      if (is_name == names) names ? add_name(type, rows) : add_event(type, rows);
    }
    file_.note_damage(table_, rows);
  }

  StringId text_of(const TableReader& rows) {
    const std::string_view text = rows.text(kText);
    if (!text.empty()) return file_.names().intern(text);
    const StringId shared = file_.text(rows.integer(kTextId));
    return shared.valid() ? shared : file_.builder().intern("");
  }

  void add_name(std::int64_t type, const TableReader& rows) {
    file_.count_row();
    const StringId text = text_of(rows);
    const std::int64_t domain = rows.integer(kDomainId, 0);
    if (type == kDomain) domains_[domain] = text;
    if (type == kCategory) categories_[{domain, rows.integer(kCategoryId, 0)}] = text;
    if (type == kThreadName) {
      if (const auto tid = rows.integer(kTid)) file_.set_thread_name(*tid, text);
    }
  }

  void add_event(std::int64_t type, const TableReader& rows) {
    TraceBuilder& builder = file_.builder();
    const std::int64_t tid = rows.integer(kTid, 0);
    if (type == kMark) return add_mark(rows, tid);
    if (type != kPushPop && type != kStartEnd) {
      file_.count_row();
      ++unknown_;
      return;
    }
    const std::string_view own = rows.text(kText);
    const bool plain = !own.empty() && is_utf8(own);
    const StringId shared = plain ? StringId() : text_of(rows);
    const std::string_view text = plain ? own : builder.text(shared);
    TorchRange torch;
    SliceKind kind = SliceKind::UserRange;
    const bool is_operator = parse_torch_range(text, torch);
    OperatorRow row;
    SliceIds ids;
    if (is_operator) {
      kind = SliceKind::Operator;
      if (torch.sequence >= 0) row.sequence = ids.sequence = torch.sequence;
      if (!torch.sizes.empty()) builder.meta().record_shapes = true;
    }
    const std::string name(is_operator ? torch.name : text);
    kind = kineto_kind_by_name(kind, name);
    if (kind == SliceKind::UserRange && type == kPushPop && names_a_step(name)) {
      kind = SliceKind::Step;
    }
    row.is_annotation = !is_operator;
    // Ranges of the second sort may overlap in part and end on another thread.
    const TrackId track = type == kPushPop ? file_.thread(tid)
                                           : file_.lane(ReportFile::process_of(tid),
                                                        lane_name(rows), TrackType::Async);
    open_ += rows.is_null(kEnd);
    const SliceId slice =
        file_.add_slice_named(rows.integer(kStart), rows.integer(kEnd), track, kind, ids, name,
                              [&] { return builder.intern(name); });
    if (is_operator && slice.valid() && !torch.sizes.empty()) {
      OperatorInputs inputs;
      inputs.shapes = builder.intern(std::string(torch.sizes));
      row.inputs = builder.intern_inputs(inputs);
    }
    if (!slice.valid()) return;
    builder.add_operator(slice, row);
    if (const StringId category = category_of(rows); category.valid()) {
      builder.add_category(slice, category);
    }
    if (is_operator && torch.op_id >= 0) {
      builder.add_argument({slice, builder.intern("op_id"), torch.op_id});
    }
    if (type == kStartEnd) {
      builder.add_argument({slice, builder.intern("thread"), ReportFile::tid_of(tid)});
      const auto end_tid = rows.integer(kEndTid);
      if (end_tid && *end_tid != tid) {
        builder.add_argument({slice, builder.intern("end thread"), ReportFile::tid_of(*end_tid)});
      }
    }
    add_payload(rows, slice);
  }

  void add_mark(const TableReader& rows, std::int64_t tid) {
    file_.count_row();
    const auto time = file_.time(rows.integer(kStart));
    if (!time) return;
    Marker marker;
    marker.time = *time;
    marker.track = file_.thread(tid);
    if (!file_.builder().takes(Point::Marker, *time)) return;
    marker.name = text_of(rows);
    marker.category = category_of(rows);
    add_payload(rows, file_.builder().add_marker(marker));
  }

  std::string lane_name(const TableReader& rows) {
    const auto domain = domains_.find(rows.integer(kDomainId, 0));
    std::string name = "NVTX ranges";
    if (domain != domains_.end())
      name += " of " + std::string(file_.builder().text(domain->second));
    return name;
  }

  StringId category_of(const TableReader& rows) {
    const auto id = rows.integer(kCategoryId);
    if (!id || *id == 0) return {};
    const auto known = categories_.find({rows.integer(kDomainId, 0), *id});
    if (known != categories_.end()) return known->second;
    return file_.builder().intern("category " + std::to_string(*id));
  }

  template <class Owner>
  void add_payload(const TableReader& rows, Owner owner) {
    TraceBuilder& builder = file_.builder();
    if (const auto domain = domains_.find(rows.integer(kDomainId, 0)); domain != domains_.end()) {
      builder.add_argument(Argument<Owner>(owner, builder.intern("domain"), domain->second));
    }
    const auto key = [&] { return builder.intern("payload"); };
    for (int column = kFirstWhole; column <= kLastWhole; ++column) {
      if (const auto value = rows.integer(column)) {
        builder.add_argument(Argument<Owner>(owner, key(), *value));
        return;
      }
    }
    for (int column = kFirstReal; column <= kLastReal; ++column) {
      if (const auto value = rows.real(column)) {
        builder.add_argument(Argument<Owner>(owner, key(), *value));
        return;
      }
    }
    StringId json;
    if (const std::string_view text = rows.text(kJson); !text.empty()) {
      json = file_.names().intern(text);
    } else {
      json = file_.text(rows.integer(kJsonId));
    }
    if (json.valid()) builder.add_argument(Argument<Owner>(owner, key(), json));
  }

  ReportFile& file_;
  const SqliteFile::Table& table_;
  std::map<std::int64_t, StringId> domains_;
  std::map<Key, StringId> categories_;
  std::uint64_t open_ = 0;
  std::uint64_t unknown_ = 0;
};

}  // namespace

void read_nvtx(ReportFile& file) {
  if (const SqliteFile::Table* table = file.database().table("NVTX_EVENTS")) {
    NvtxReader(file, *table).read();
  }
}

}  // namespace sonde::nsys
