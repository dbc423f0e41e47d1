#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace sonde {

// Where an exporter's bytes go. A failure is told once, by the call that met it or a later one;
// what is written after it goes nowhere.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Nothing, or why the bytes could not be written.
  virtual std::optional<Error> write(std::string_view bytes) = 0;
  // After the last byte: what a packer still holds goes out.
  virtual std::optional<Error> finish() { return std::nullopt; }
};

// Keeps everything: for tests and small files.
class StringSink : public ByteSink {
 public:
  std::optional<Error> write(std::string_view bytes) override {
    text_ += bytes;
    return std::nullopt;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// An open file, which stays open. `path` is for messages.
class FileSink : public ByteSink {
 public:
  FileSink(int file, std::string path) : file_(file), path_(std::move(path)) {}

  std::optional<Error> write(std::string_view bytes) override;
  // The failure was a pipe whose reader went away, as in "sonde export … | head".
  bool reader_left() const { return reader_left_; }

 private:
  int file_;
  std::string path_;
  bool reader_left_ = false;
};

enum class Packing { None, Gzip, Zstd };

// Packs on the way to `below`, which must live as long.
std::unique_ptr<ByteSink> make_packer(Packing packing, ByteSink& below);

// What an exporter writes with: a buffer in front of a sink. Failures wait for finish(), so that
// the writing itself stays plain; failed() lets a long loop stop early.
class BufferedOutput {
 public:
  explicit BufferedOutput(ByteSink& sink) : sink_(sink) { buffer_.reserve(kFull + kFull / 4); }

  // Append to this, then settle().
  std::string& buffer() { return buffer_; }
  void settle() {
    if (buffer_.size() >= kFull) flush();
  }
  void write(std::string_view bytes) {
    buffer_ += bytes;
    settle();
  }

  bool failed() const { return error_.has_value(); }
  // Writes what is left; the first failure, where there was one.
  std::optional<Error> finish();

 private:
  static constexpr std::size_t kFull = 256 * 1024;
  void flush();

  ByteSink& sink_;
  std::string buffer_;
  std::optional<Error> error_;
};

}  // namespace sonde
