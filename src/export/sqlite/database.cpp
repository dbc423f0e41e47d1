#include "export/sqlite/database.hpp"

namespace sonde {
namespace {

constexpr int kMostColumns = 24;

struct RowTable {
  sqlite3_vtab base{};
  Database* database = nullptr;
};

struct RowCursor {
  sqlite3_vtab_cursor base{};
  std::size_t row = 0;
};

Database& database_of(sqlite3_vtab_cursor* cursor) {
  return *reinterpret_cast<RowTable*>(cursor->pVtab)->database;
}

void move_to(sqlite3_vtab_cursor* cursor, std::size_t row) {
  reinterpret_cast<RowCursor*>(cursor)->row = row;
  Database& database = database_of(cursor);
  if (database.source() != nullptr && row < database.source_rows()) database.source()->begin(row);
}

// A table of SQLite's that has no place of its own: its rows are those of Database::source().
sqlite3_module row_module() {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xConnect = [](sqlite3* handle, void* database, int, const char* const*, sqlite3_vtab** out,
                       char**) {
    std::string columns = "CREATE TABLE x(c0";
    for (int i = 1; i < kMostColumns; ++i) columns += ",c" + std::to_string(i);
    const int status = sqlite3_declare_vtab(handle, (columns + ")").c_str());
    if (status != SQLITE_OK) return status;
    auto* table = new RowTable();
    table->database = static_cast<Database*>(database);
    *out = &table->base;
    return SQLITE_OK;
  };
  module.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; };
  module.xDisconnect = [](sqlite3_vtab* table) {
    delete reinterpret_cast<RowTable*>(table);
    return SQLITE_OK;
  };
  module.xOpen = [](sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    *out = &(new RowCursor())->base;
    return SQLITE_OK;
  };
  module.xClose = [](sqlite3_vtab_cursor* cursor) {
    delete reinterpret_cast<RowCursor*>(cursor);
    return SQLITE_OK;
  };
  module.xFilter = [](sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
    move_to(cursor, 0);
    return SQLITE_OK;
  };
  module.xNext = [](sqlite3_vtab_cursor* cursor) {
    move_to(cursor, reinterpret_cast<RowCursor*>(cursor)->row + 1);
    return SQLITE_OK;
  };
  module.xEof = [](sqlite3_vtab_cursor* cursor) {
    const Database& database = database_of(cursor);
    const bool more = database.source() != nullptr &&
                      reinterpret_cast<RowCursor*>(cursor)->row < database.source_rows();
    return more ? 0 : 1;
  };
  module.xColumn = [](sqlite3_vtab_cursor* cursor, sqlite3_context* to, int column) {
    database_of(cursor).source()->column(to, column);
    return SQLITE_OK;
  };
  module.xRowid = [](sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>(reinterpret_cast<RowCursor*>(cursor)->row);
    return SQLITE_OK;
  };
  return module;
}

}  // namespace

Database::Database(const std::string& path) : path_(path) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path.c_str(), &handle_, kFlags, nullptr) != SQLITE_OK) {
    fail("cannot open");
    return;
  }
  static const sqlite3_module kModule = row_module();
  if (sqlite3_create_module(handle_, "sonde_rows", &kModule, this) != SQLITE_OK)
    fail("cannot open");
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
            handle_ != nullptr && sqlite3_errcode(handle_) == SQLITE_FULL
                ? "make room, or write somewhere else"
                : ""};
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

void Database::fill_from(std::string_view table, std::size_t rows, RowSource& source) {
  if (error_ || rows == 0) return;
  source_ = &source;
  source_rows_ = rows;
  std::string sql = "INSERT INTO " + std::string(table) + " SELECT c0";
  for (int i = 1; i < source.columns(); ++i) sql += ",c" + std::to_string(i);
  run(sql + " FROM sonde_rows");
  source_ = nullptr;
}

}  // namespace sonde
