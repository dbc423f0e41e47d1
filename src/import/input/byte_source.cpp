#include "import/input/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

class FileReader final : public RawReader {
 public:
  FileReader(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~FileReader() override {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  Result<std::size_t> read(std::span<char> out) override {
    std::size_t got = 0;
    while (got < out.size()) {
      const ssize_t n = ::read(fd_, out.data() + got, out.size() - got);
      if (n == 0) break;
      if (n < 0) {
        if (errno == EINTR) continue;
        return Error{
            ErrorCode::IoError, std::string("cannot read: ") + std::strerror(errno), path_, {}, {}};
      }
      got += static_cast<std::size_t>(n);
    }
    return got;
  }

 private:
  int fd_;
  std::string path_;
};

class MemoryReader final : public RawReader {
 public:
  explicit MemoryReader(std::string_view bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), bytes_.size());
    if (n > 0) std::memcpy(out.data(), bytes_.data(), n);
    bytes_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view bytes_;
};

class PlainSource final : public ByteSource {
 public:
  PlainSource(std::unique_ptr<RawReader> raw, std::string begin)
      : raw_(std::move(raw)), begin_(std::move(begin)) {}

  Result<std::size_t> read(std::span<char> out) override {
    std::size_t got = std::min(out.size(), begin_.size() - used_);
    if (got > 0) std::memcpy(out.data(), begin_.data() + used_, got);
    used_ += got;
    if (got < out.size()) {
      Result<std::size_t> more = raw_->read(out.subspan(got));
      if (!more) return more;
      got += *more;
    }
    consumed_ += got;
    return got;
  }

  std::uint64_t consumed() const override { return consumed_; }

 private:
  std::unique_ptr<RawReader> raw_;
  std::string begin_;
  std::size_t used_ = 0;
  std::uint64_t consumed_ = 0;
};

// Gives the head back before the rest of the source.
class ReplaySource final : public ByteSource {
 public:
  ReplaySource(std::unique_ptr<ByteSource> inner, std::string head)
      : inner_(std::move(inner)), head_(std::move(head)) {
    losses_ = inner_->losses();  // the end may lie in the head already
  }

  Result<std::size_t> read(std::span<char> out) override {
    std::size_t got = std::min(out.size(), head_.size() - used_);
    if (got > 0) std::memcpy(out.data(), head_.data() + used_, got);
    used_ += got;
    if (got < out.size()) {
      Result<std::size_t> more = inner_->read(out.subspan(got));
      if (!more) return more;
      got += *more;
    }
    if (got < out.size()) losses_ = inner_->losses();
    return got;
  }

  std::uint64_t consumed() const override { return inner_->consumed(); }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::string head_;
  std::size_t used_ = 0;
};

bool has_magic(std::string_view bytes, std::string_view magic) { return bytes.starts_with(magic); }

Error open_error(const std::string& path, int code) {
  const std::string reason = std::strerror(code);
  if (path.empty()) {
    return {ErrorCode::NotFound, "a path is empty", path, {}, "is a variable of the shell unset?"};
  }
  if (code == ENOENT || code == ENOTDIR) {
    return {ErrorCode::NotFound, "no such file or folder", path, {}, "check the path"};
  }
  if (code == EACCES || code == EPERM) {
    return {ErrorCode::NoPermission,
            "no permission to read it",
            path,
            {},
            "ask its owner, or copy it to a place of your own"};
  }
  return {ErrorCode::IoError, "cannot open: " + reason, path, {}, {}};
}

}  // namespace

std::unique_ptr<RawReader> make_memory_reader(std::string_view bytes) {
  return std::make_unique<MemoryReader>(bytes);
}

std::unique_ptr<ByteSource> make_plain_source(std::unique_ptr<RawReader> raw, std::string begin) {
  return std::make_unique<PlainSource>(std::move(raw), std::move(begin));
}

Result<OpenedInput> open_raw(std::unique_ptr<RawReader> raw) {
  std::string begin(4096, '\0');
  Result<std::size_t> got = raw->read(begin);
  if (!got) return got.error();
  begin.resize(*got);
  OpenedInput input;
  if (has_magic(begin, "\x1F\x8B")) {
    input.source = make_gzip_source(std::move(raw), std::move(begin));
  } else if (has_magic(begin, "\x28\xB5\x2F\xFD")) {
    input.source = make_zstd_source(std::move(raw), std::move(begin));
  } else {
    input.source = make_plain_source(std::move(raw), std::move(begin));
  }
  input.head.resize(kHeadBytes);
  got = input.source->read(input.head);
  if (!got) return got.error();
  input.head.resize(*got);
  input.source = std::make_unique<ReplaySource>(std::move(input.source), input.head);
  return input;
}

Result<OpenedInput> open_input(const std::string& path) {
  int fd = STDIN_FILENO;
  std::uint64_t disk_bytes = 0;
  if (path != "-") {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return open_error(path, errno);
    struct stat info {};
    if (::fstat(fd, &info) == 0) {
      if (S_ISDIR(info.st_mode)) {
        ::close(fd);
        return Error{ErrorCode::IoError, "is a folder, not a file", path, {}, {}};
      }
      if (S_ISREG(info.st_mode)) disk_bytes = static_cast<std::uint64_t>(info.st_size);
    }
  }
  Result<OpenedInput> input = open_raw(std::make_unique<FileReader>(fd, path));
  if (!input) {
    Error error = input.error();
    error.path = path;
    return error;
  }
  input->disk_bytes = disk_bytes;
  return input;
}

}  // namespace sonde
