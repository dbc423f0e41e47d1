#include "cli/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/write_error.hpp"

namespace sonde {

bool is_standard_output(const std::string& path) { return path.empty() || path == "-"; }

Result<std::unique_ptr<OutputFile>> OutputFile::open(const std::string& path) {
  std::unique_ptr<OutputFile> output(new OutputFile());
  output->path_ = path;
  output->shown_ = path;
  if (is_standard_output(path)) {
    output->shown_ = "standard output";
    output->file_ = STDOUT_FILENO;
    output->own_ = false;
    return output;
  }
  // A device, pipe or terminal cannot be replaced by a rename.
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    output->file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (output->file_ < 0) return output->cannot_write(errno);
    return output;
  }
  std::string scratch = path + ".XXXXXX";
  output->file_ = ::mkostemp(scratch.data(), O_CLOEXEC);
  if (output->file_ < 0) return output->cannot_write(errno);
  output->scratch_ = scratch;
  return output;
}

Error OutputFile::cannot_write(int code) const { return write_error("cannot write", shown_, code); }

OutputFile::~OutputFile() {
  if (own_ && file_ >= 0) ::close(file_);
  if (!scratch_.empty()) ::unlink(scratch_.c_str());
}

std::optional<Error> OutputFile::commit() {
  if (!own_) return std::nullopt;
  int code = 0;
  if (!scratch_.empty()) {
    // mkostemp() makes files for the owner alone; the result is an ordinary file.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(file_, 0666 & ~mask) != 0) code = errno;
  }
  if (::close(file_) != 0 && code == 0) code = errno;
  file_ = -1;
  if (code == 0 && !scratch_.empty() && std::rename(scratch_.c_str(), path_.c_str()) != 0)
    code = errno;
  if (code != 0) return cannot_write(code);
  scratch_.clear();
  return std::nullopt;
}

}  // namespace sonde
