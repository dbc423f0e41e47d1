// Runs a fuzz target over given files, so that its seeds are a plain test where libFuzzer is not at
// hand.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

// Adds the file, or all files below the folder, in a fixed order.
bool collect(const fs::path& path, std::vector<fs::path>& files) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    files.push_back(path);
    return true;
  }
  const std::size_t first = files.size();
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code type_error;
    if (entry->is_regular_file(type_error)) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  return !error;
}

bool replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return false;
  }
  // The name comes first, so that it is known when the target dies.
  std::printf("%s (%zu bytes)\n", path.c_str(), bytes.size());
  std::fflush(stdout);
  // A copy of the exact size lets AddressSanitizer see the first byte read beyond it.
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!collect(argv[i], files)) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return 2;
    }
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s FILE_OR_FOLDER...\n", argv[0]);
    return 2;
  }
  for (const fs::path& file : files) {
    if (!replay(file)) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 2;
    }
  }
  std::printf("%zu inputs\n", files.size());
  return 0;
}
