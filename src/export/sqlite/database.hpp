#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "trace/ids.hpp"

namespace sonde {

// A number that may be missing: kNoNumber, or -1 where that says "none".
struct Maybe {
  std::int64_t number;
  bool there;
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
  // Ends the transaction and closes the file; the first failure, where there was one.
  std::optional<Error> finish();
  bool failed() const { return error_.has_value(); }

 private:
  friend class Insert;
  void fail(const char* what);

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::optional<Error> error_;
};

// Adds rows to one table.
class Insert {
 public:
  Insert(Database& database, std::string_view table, int columns);
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  template <class... Values>
  void row(const Values&... values) {
    if (database_.failed()) return;
    int column = 0;
    (bind(++column, values), ...);
    if (sqlite3_step(statement_) != SQLITE_DONE) database_.fail("cannot add a row");
    sqlite3_reset(statement_);
  }

 private:
  void bind(int column, std::int64_t value) { sqlite3_bind_int64(statement_, column, value); }
  void bind(int column, std::uint32_t value) { sqlite3_bind_int64(statement_, column, value); }
  void bind(int column, std::int32_t value) { sqlite3_bind_int64(statement_, column, value); }
  void bind(int column, std::size_t value) {
    sqlite3_bind_int64(statement_, column, static_cast<std::int64_t>(value));
  }
  void bind(int column, bool value) { sqlite3_bind_int64(statement_, column, value ? 1 : 0); }
  void bind(int column, double value) { sqlite3_bind_double(statement_, column, value); }
  void bind(int column, std::string_view value) {
    sqlite3_bind_text64(statement_, column, value.data() ? value.data() : "", value.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
  }
  void bind(int column, const Maybe& value) {
    if (value.there)
      sqlite3_bind_int64(statement_, column, value.number);
    else
      sqlite3_bind_null(statement_, column);
  }
  // A float that is -1 where it is unknown.
  void bind(int column, float value) {
    if (value >= 0)
      sqlite3_bind_double(statement_, column, static_cast<double>(value));
    else
      sqlite3_bind_null(statement_, column);
  }
  template <class Tag>
  void bind(int column, Id<Tag> id) {
    bind(column, Maybe{id.value, id.valid()});
  }

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace sonde
