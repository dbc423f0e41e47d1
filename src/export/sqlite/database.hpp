#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/result.hpp"
#include "trace/ids.hpp"

namespace sonde {

// A number that may be missing: kNoNumber, or -1 where that says "none".
struct Maybe {
  std::int64_t number;
  bool there;
};

// How values of the model become values of SQLite; texts must stay as long as the row is written.
inline void set_result(sqlite3_context* to, std::int64_t value) { sqlite3_result_int64(to, value); }
inline void set_result(sqlite3_context* to, std::uint32_t value) {
  sqlite3_result_int64(to, value);
}
inline void set_result(sqlite3_context* to, std::int32_t value) { sqlite3_result_int64(to, value); }
inline void set_result(sqlite3_context* to, std::size_t value) {
  sqlite3_result_int64(to, static_cast<std::int64_t>(value));
}
inline void set_result(sqlite3_context* to, bool value) { sqlite3_result_int64(to, value ? 1 : 0); }
inline void set_result(sqlite3_context* to, double value) { sqlite3_result_double(to, value); }
inline void set_result(sqlite3_context* to, std::string_view value) {
  sqlite3_result_text64(to, value.data() != nullptr ? value.data() : "", value.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
}
inline void set_result(sqlite3_context* to, const Maybe& value) {
  if (value.there)
    sqlite3_result_int64(to, value.number);
  else
    sqlite3_result_null(to);
}
// A float that is -1 where it is unknown.
inline void set_result(sqlite3_context* to, float value) {
  if (value >= 0)
    sqlite3_result_double(to, static_cast<double>(value));
  else
    sqlite3_result_null(to);
}
template <class Tag>
void set_result(sqlite3_context* to, Id<Tag> id) {
  set_result(to, Maybe{id.value, id.valid()});
}
template <class... Values>
void set_result(sqlite3_context* to, const std::variant<Values...>& value) {
  std::visit([&](const auto& held) { set_result(to, held); }, value);
}

// The rows of a table, asked for one after the other, each column by column.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int columns() const = 0;
  virtual void begin(std::size_t row) = 0;
  virtual void column(sqlite3_context* to, int column) const = 0;
};

// make_row(i) gives row i as a tuple.
template <class MakeRow>
class TupleRows : public RowSource {
 public:
  using Row = std::invoke_result_t<MakeRow, std::size_t>;
  explicit TupleRows(const MakeRow& make_row) : make_row_(make_row) {}

  int columns() const override { return static_cast<int>(std::tuple_size_v<Row>); }
  void begin(std::size_t row) override { row_.emplace(make_row_(row)); }
  void column(sqlite3_context* to, int column) const override {
    set_column(to, column, std::make_index_sequence<std::tuple_size_v<Row>>());
  }

 private:
  template <std::size_t... Is>
  void set_column(sqlite3_context* to, int column, std::index_sequence<Is...>) const {
    (void)((static_cast<int>(Is) == column && (set_result(to, std::get<Is>(*row_)), true)) || ...);
  }

  const MakeRow& make_row_;
  std::optional<Row> row_;
};

// A database that is written once: no journal, one transaction. The first failure is kept, and all
// that follows does nothing.
class Database {
 public:
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(std::string_view sql);
  // Fills a table with make_row(0) … make_row(rows - 1), tuples of the table's columns. SQLite
  // takes the rows in one statement, from a table that only looks like one: about twice as fast as
  // a statement for each row.
  template <class MakeRow>
  void fill(std::string_view table, std::size_t rows, const MakeRow& make_row) {
    TupleRows<MakeRow> source(make_row);
    fill_from(table, rows, source);
  }
  // Ends the transaction and closes the file; the first failure, where there was one.
  std::optional<Error> finish();
  bool failed() const { return error_.has_value(); }

  // What the pretended table shows just now.
  RowSource* source() const { return source_; }
  std::size_t source_rows() const { return source_rows_; }

 private:
  void fail(const char* what);
  void fill_from(std::string_view table, std::size_t rows, RowSource& source);

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::optional<Error> error_;
  RowSource* source_ = nullptr;
  std::size_t source_rows_ = 0;
};

}  // namespace sonde
