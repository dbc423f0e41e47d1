#include "import/sqlite/sqlite_file.hpp"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace sonde {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kInMemory = std::size_t{16} << 20;
constexpr std::size_t kMaxTables = 2000;

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

bool is_plain_database(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, 16> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return file && std::string_view(begin.data(), begin.size()) == kMagic;
}

// For "file:" names: everything but the simplest characters as %XX.
std::string uri_of(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool simple = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= 'a' && byte <= 'z') || byte == '/' || byte == '.' || byte == '-' ||
                        byte == '_';
    if (simple) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out + "?immutable=1";
}

}  // namespace

struct SqliteFile::Handle {
  sqlite3* database = nullptr;
  std::string temporary;  // a file that is still to be removed
  std::vector<Table> tables;
  std::uint64_t bytes = 0;
  std::uint64_t rows_left = 0;
  std::uint64_t steps_left = 0;

  ~Handle() {
    sqlite3_close(database);
    remove_temporary();
  }
  void remove_temporary() {
    if (!temporary.empty()) ::unlink(temporary.c_str());
    temporary.clear();
  }
};

namespace {

// Ends a statement that runs longer than any honest one.
int count_steps(void* steps_left) {
  auto& left = *static_cast<std::uint64_t*>(steps_left);
  if (left == 0) return 1;
  --left;
  return 0;
}

void restrict(sqlite3* database) {
  for (const auto& [setting, value] :
       {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        std::pair{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}}) {
    sqlite3_db_config(database, setting, value, nullptr);
  }
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(database, SQLITE_LIMIT_VDBE_OP, 25'000);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_exec(database,
               "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-8192; PRAGMA "
               "temp_store=MEMORY; PRAGMA query_only=ON",
               nullptr, nullptr, nullptr);
}

Error broken(sqlite3* database, const std::string& path) {
  return {ErrorCode::BrokenInput,
          std::string("the SQLite file cannot be read: ") + sqlite3_errmsg(database),
          path,
          {},
          "was it copied whole?"};
}

// The file's bytes, up to kInMemory of them.
Result<std::string> read_small(ByteSource& source, bool& more) {
  std::string bytes(std::size_t{1} << 16, '\0');
  std::size_t size = 0;
  while (size < kInMemory) {
    if (size == bytes.size()) bytes.resize(std::min(size * 2, kInMemory));
    Result<std::size_t> got = source.read(std::span(bytes).subspan(size));
    if (!got) return got.error();
    if (*got == 0) break;
    size += *got;
  }
  more = size == kInMemory;
  bytes.resize(size);
  return bytes;
}

Result<std::string> copy_to_temporary(const std::string& begin, ByteSource& source,
                                      std::uint64_t& bytes) {
  const auto failed = [&](std::string reason, const std::string& path) {
    return Error{ErrorCode::IoError,
                 std::move(reason),
                 path,
                 {},
                 "set TMPDIR to a folder with more space, or unpack the file"};
  };
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  std::string path = (folder / "sonde-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0) return failed(std::string("no temporary file: ") + std::strerror(errno), path);
  const auto write_all = [&](const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t written = ::write(file, data, size);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      data += written;
      size -= static_cast<std::size_t>(written);
    }
    return true;
  };
  bool good = write_all(begin.data(), begin.size());
  bytes = begin.size();
  std::vector<char> part(std::size_t{1} << 20);
  std::optional<Error> read_error;
  while (good) {
    Result<std::size_t> got = source.read(part);
    if (!got) {
      read_error = got.error();
      break;
    }
    if (*got == 0) break;
    good = write_all(part.data(), *got);
    bytes += *got;
  }
  const int code = errno;
  ::close(file);
  if (good && !read_error) return path;
  ::unlink(path.c_str());
  if (read_error) return *read_error;
  return failed(
      std::string("the file must be unpacked to be read, which failed: ") + std::strerror(code),
      path);
}

}  // namespace

SqliteFile::SqliteFile(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
SqliteFile::SqliteFile(SqliteFile&&) noexcept = default;
SqliteFile& SqliteFile::operator=(SqliteFile&&) noexcept = default;
SqliteFile::~SqliteFile() = default;

const std::vector<SqliteFile::Table>& SqliteFile::tables() const { return handle_->tables; }
std::uint64_t SqliteFile::bytes() const { return handle_->bytes; }

const SqliteFile::Table* SqliteFile::table(std::string_view name) const {
  for (const Table& table : handle_->tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

Result<SqliteFile> SqliteFile::open(const ImportInput& input) {
  auto handle = std::make_unique<Handle>();
  constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                         SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  std::string path = input.path;
  std::string bytes;
  bool in_memory = false;
  if (is_plain_database(path)) {
    std::error_code error;
    handle->bytes = std::filesystem::file_size(path, error);
  } else {
    bool more = false;
    Result<std::string> begin = read_small(input.source, more);
    if (!begin) return begin.error();
    in_memory = !more;
    if (in_memory) {
      bytes = std::move(*begin);
      handle->bytes = bytes.size();
    } else {
      Result<std::string> copy = copy_to_temporary(*begin, input.source, handle->bytes);
      if (!copy) return copy.error();
      path = handle->temporary = *copy;
    }
  }
  const std::string name =
      in_memory ? ":memory:" : uri_of(std::filesystem::absolute(path).string());
  if (sqlite3_open_v2(name.c_str(), &handle->database, kFlags, nullptr) != SQLITE_OK) {
    return broken(handle->database, input.path);
  }
  if (in_memory) {
    // SQLite frees the copy when the database is closed.
    auto* copy =
        static_cast<unsigned char*>(sqlite3_malloc64(std::max<std::size_t>(bytes.size(), 1)));
    if (copy == nullptr) return broken(handle->database, input.path);
    std::memcpy(copy, bytes.data(), bytes.size());
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    if (sqlite3_deserialize(handle->database, "main", copy, size, size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
        SQLITE_OK) {
      return broken(handle->database, input.path);
    }
  }
  sqlite3* const database = handle->database;
  // A row takes four bytes and more, so that a file's size bounds its rows. Steps are counted by
  // the thousand; a row takes a few dozen.
  handle->rows_left = handle->bytes / 4 + 1000;
  handle->steps_left = handle->bytes / 10 + 100'000;
  sqlite3_progress_handler(database, 1000, count_steps, &handle->steps_left);
  restrict(database);

  sqlite3_stmt* list = nullptr;
  if (sqlite3_prepare_v2(database,
                         "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND "
                         "name NOT LIKE 'sqlite_%'",
                         -1, &list, nullptr) != SQLITE_OK) {
    return broken(database, input.path);
  }
  int status = SQLITE_ROW;
  while ((status = sqlite3_step(list)) == SQLITE_ROW && handle->tables.size() < kMaxTables) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(list, 0));
    if (text != nullptr) handle->tables.push_back({text, {}, {}});
  }
  const bool listed = status == SQLITE_DONE || status == SQLITE_ROW;
  if (!listed) {
    const Error error = broken(database, input.path);
    sqlite3_finalize(list);
    return error;
  }
  sqlite3_finalize(list);
  handle->remove_temporary();  // the open file stays readable
  for (Table& table : handle->tables) {
    sqlite3_stmt* columns = nullptr;
    if (sqlite3_prepare_v2(database, ("PRAGMA table_info(" + quoted_name(table.name) + ")").c_str(),
                           -1, &columns, nullptr) != SQLITE_OK) {
      continue;
    }
    int keys = 0;
    std::string key;
    while (sqlite3_step(columns) == SQLITE_ROW) {
      const auto* name_text = reinterpret_cast<const char*>(sqlite3_column_text(columns, 1));
      const auto* type_text = reinterpret_cast<const char*>(sqlite3_column_text(columns, 2));
      if (name_text == nullptr) continue;
      table.columns.emplace_back(name_text);
      if (sqlite3_column_int(columns, 5) == 0) continue;
      ++keys;
      if (type_text != nullptr && sqlite3_stricmp(type_text, "INTEGER") == 0) key = name_text;
    }
    if (keys == 1) table.row_key = key;
    sqlite3_finalize(columns);
  }
  return SqliteFile(std::move(handle));
}

bool looks_like_sqlite(std::string_view head) { return head.starts_with(kMagic); }

TableReader::TableReader(SqliteFile& database, const SqliteFile::Table& table,
                         std::initializer_list<const char*> columns)
    : database_(database) {
  prepare(table, columns, false);
}

TableReader::TableReader(SqliteFile& database, const SqliteFile::Table& table,
                         std::initializer_list<const char*> columns, ByRowKey)
    : database_(database) {
  prepare(table, columns, true);
}

void TableReader::prepare(const SqliteFile::Table& table,
                          std::initializer_list<const char*> columns, bool by_key) {
  std::string sql = "SELECT ";
  for (const char* column : columns) {
    const bool known =
        std::find(table.columns.begin(), table.columns.end(), column) != table.columns.end();
    if (!has_.empty()) sql += ", ";
    sql += known ? quoted_name(column) : "NULL";
    has_.push_back(known);
  }
  sql += " FROM " + quoted_name(table.name);
  if (by_key) sql += " WHERE " + quoted_name(table.row_key) + " = ?";
  sqlite3* const handle = database_.handle_->database;
  if (sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
    damage_ = sqlite3_errmsg(handle);
  }
}

TableReader::~TableReader() { sqlite3_finalize(statement_); }

void TableReader::seek(std::int64_t row_key) {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, row_key);
}

bool TableReader::next() {
  if (statement_ == nullptr) return false;
  const int status = sqlite3_step(statement_);
  if (status == SQLITE_ROW) {
    if (database_.handle_->rows_left > 0) {
      --database_.handle_->rows_left;
      return true;
    }
    damage_ = "it has more rows than a file of this size can hold";
    return false;
  }
  if (status != SQLITE_DONE) damage_ = sqlite3_errmsg(database_.handle_->database);
  return false;
}

bool TableReader::has(int column) const { return has_[static_cast<std::size_t>(column)]; }

bool TableReader::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t TableReader::integer(int column, std::int64_t fallback) const {
  return integer(column).value_or(fallback);
}

std::optional<std::int64_t> TableReader::integer(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}

std::optional<double> TableReader::real(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}

std::string_view TableReader::text(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(size));
}

}  // namespace sonde
