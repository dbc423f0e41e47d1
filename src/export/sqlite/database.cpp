#include "export/sqlite/database.hpp"

namespace sonde {

Database::Database(const std::string& path) : path_(path) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &handle_, kFlags, nullptr) != SQLITE_OK) {
    fail("cannot open");
    return;
  }
  // The file is new, and whole or nothing: it needs no protection against a crash.
  run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA page_size = 16384; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
      "BEGIN;");
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::fail(const char* what) {
  if (error_) return;
  error_ =
      Error{ErrorCode::IoError,
            std::string(what) + ": " + (handle_ != nullptr ? sqlite3_errmsg(handle_) : "no memory"),
            path_,
            {},
            {}};
}

void Database::run(std::string_view sql) {
  if (error_) return;
  if (sqlite3_exec(handle_, std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    fail("cannot write the database");
}

std::optional<Error> Database::finish() {
  run("COMMIT");
  if (handle_ != nullptr && sqlite3_close(handle_) != SQLITE_OK) fail("cannot close");
  handle_ = nullptr;
  return error_;
}

Insert::Insert(Database& database, std::string_view table, int columns) : database_(database) {
  if (database.failed()) return;
  std::string sql = "INSERT INTO " + std::string(table) + " VALUES (?";
  for (int i = 1; i < columns; ++i) sql += ",?";
  sql += ")";
  if (sqlite3_prepare_v3(database.handle_, sql.c_str(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) != SQLITE_OK)
    database.fail("cannot prepare a table");
}

}  // namespace sonde
