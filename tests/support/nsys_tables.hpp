#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "import/nsys/nsys.hpp"
#include "tests/support/import_text.hpp"
#include "tests/support/sqlite_file.hpp"

namespace sonde::test {

// Process 10 (0x0A) with thread 11, process 12 with thread 13, both on machine 1.
inline const std::string kProcess =
    std::to_string((std::int64_t{1} << 48) + (std::int64_t{10} << 24));
inline const std::string kThread =
    std::to_string((std::int64_t{1} << 48) + (std::int64_t{10} << 24) + 11);
inline const std::string kOther =
    std::to_string((std::int64_t{1} << 48) + (std::int64_t{12} << 24));
inline const std::string kOtherThread =
    std::to_string((std::int64_t{1} << 48) + (std::int64_t{12} << 24) + 13);

inline std::string strings(const std::string& rows) {
  return "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
         "INSERT INTO StringIds VALUES " +
         rows + ";";
}

inline std::string cuda_tables() {
  return "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"
         " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,"
         " callchainId INTEGER);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
         " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
         " demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread"
         " INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,"
         " blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,"
         " graphNodeId INTEGER);";
}

inline std::string call(long start, long end, int event_class, const std::string& tid,
                        int correlation, int name, int result = 0) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + "," +
         std::to_string(end) + "," + std::to_string(event_class) + "," + tid + "," +
         std::to_string(correlation) + "," + std::to_string(name) + "," + std::to_string(result) +
         ",NULL);";
}

inline std::string kernel(long start, long end, const std::string& pid, int correlation, int name,
                          int context = 1) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start) + "," +
         std::to_string(end) + ",0," + std::to_string(context) + ",7," +
         std::to_string(correlation) + "," + pid + "," + std::to_string(name) +
         ",NULL,NULL,32,18,2,1,64,2,1,1024,512,NULL);";
}

inline std::string devices() {
  return "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER,"
         " smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER, maxWarpsPerSm INTEGER,"
         " threadsPerWarp INTEGER);"
         "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Test GPU', 1000, 9, 8, 6, 48, 32);";
}

inline Trace nsys(const std::string& statements) {
  const std::string bytes = sqlite_file(statements);
  EXPECT_TRUE(looks_like_nsys(bytes));
  return import_or_fail(bytes, import_nsys);
}

}  // namespace sonde::test
