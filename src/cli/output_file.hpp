#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace sonde {

// A result that is written bit by bit: standard output for "" and "-", or a file that holds all of
// it after commit() and is as it was before without it.
class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> open(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int file() const { return file_; }
  // As messages call it.
  const std::string& shown() const { return shown_; }
  // The file that is being written, for what opens it by name; empty where there is none (standard
  // output, a device, a pipe).
  const std::string& scratch() const { return scratch_; }

  std::optional<Error> commit();
  // What to tell when a write to file() ended with this errno.
  Error cannot_write(int code) const;

 private:
  OutputFile() = default;

  std::string path_;
  std::string shown_;
  std::string scratch_;
  int file_ = -1;
  bool own_ = true;
};

bool is_standard_output(const std::string& path);

}  // namespace sonde
