#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

namespace sonde::test {

// The bytes of an SQLite file that the statements leave.
inline std::string sqlite_file(const std::string& statements) {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  char* message = nullptr;
  if (sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
    ADD_FAILURE() << message;
    sqlite3_free(message);
  }
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return out;
}

}  // namespace sonde::test
