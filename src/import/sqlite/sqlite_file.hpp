#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "import/importer.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace sonde {

// A foreign SQLite file, opened for reading only and trusted in nothing: no views, no triggers, no
// functions of the schema, and no more rows than a file of its size can hold.
class SqliteFile {
 public:
  // Opens the file itself where it is a plain one; else (packed, standard input) a copy, in memory
  // where it is small and in a temporary file, gone at once, where it is large.
  static Result<SqliteFile> open(const ImportInput& input);

  SqliteFile(SqliteFile&&) noexcept;
  SqliteFile& operator=(SqliteFile&&) noexcept;
  ~SqliteFile();

  struct Table {
    std::string name;
    std::vector<std::string> columns;
    std::string row_key;  // the column that is the row's own number; empty where there is none
  };
  // The real tables, in the order of the file.
  const std::vector<Table>& tables() const;
  // Null where there is no such table.
  const Table* table(std::string_view name) const;
  std::uint64_t bytes() const;

 private:
  friend class TableReader;
  struct Handle;
  explicit SqliteFile(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

bool looks_like_sqlite(std::string_view head);

// Goes over the rows of one table. Columns that the table does not have read as missing.
class TableReader {
 public:
  TableReader(SqliteFile& database, const SqliteFile::Table& table,
              std::initializer_list<const char*> columns);
  // Only the row with this number, for tables that have a row key. Call seek() before next().
  struct ByRowKey {};
  TableReader(SqliteFile& database, const SqliteFile::Table& table,
              std::initializer_list<const char*> columns, ByRowKey);
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  void seek(std::int64_t row_key);
  bool next();
  // Why the rows ended before the table did; empty where they did not.
  const std::string& damage() const { return damage_; }

  bool has(int column) const;
  bool is_null(int column) const;
  std::int64_t integer(int column, std::int64_t fallback) const;
  std::optional<std::int64_t> integer(int column) const;
  std::optional<double> real(int column) const;
  // Valid until the next row.
  std::string_view text(int column) const;

 private:
  void prepare(const SqliteFile::Table& table, std::initializer_list<const char*> columns,
               bool by_key);
  SqliteFile& database_;
  sqlite3_stmt* statement_ = nullptr;
  std::vector<bool> has_;
  std::string damage_;
};

}  // namespace sonde
