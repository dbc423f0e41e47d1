#include "export/byte_sink.hpp"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>

#include "base/write_error.hpp"

namespace sonde {
namespace {

constexpr std::size_t kPart = 64 * 1024;

Error packing_failed(const char* why) {
  return {ErrorCode::IoError, std::string("cannot pack the output: ") + why, {}, {}, {}};
}

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(ByteSink& below) : below_(below) {
    ready_ = deflateInit2(&stream_, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipSink() override {
    if (ready_) deflateEnd(&stream_);
  }

  std::optional<Error> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kPart);
      if (std::optional<Error> error = pack(part, Z_NO_FLUSH)) return error;
      bytes.remove_prefix(part.size());
    }
    return std::nullopt;
  }
  std::optional<Error> finish() override {
    if (std::optional<Error> error = pack({}, Z_FINISH)) return error;
    return below_.finish();
  }

 private:
  std::optional<Error> pack(std::string_view bytes, int how) {
    if (!ready_) return packing_failed("no memory");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      if (deflate(&stream_, how) == Z_STREAM_ERROR) return packing_failed("zlib");
      const std::size_t got = out_.size() - stream_.avail_out;
      if (std::optional<Error> error = below_.write({out_.data(), got})) return error;
    } while (stream_.avail_out == 0);
    return std::nullopt;
  }

  ByteSink& below_;
  z_stream stream_{};
  bool ready_ = false;
  std::string out_ = std::string(kPart, '\0');
};

class ZstdSink : public ByteSink {
 public:
  explicit ZstdSink(ByteSink& below) : below_(below), stream_(ZSTD_createCStream()) {
    if (stream_ != nullptr) ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdSink() override { ZSTD_freeCStream(stream_); }

  std::optional<Error> write(std::string_view bytes) override {
    return pack(bytes, ZSTD_e_continue);
  }
  std::optional<Error> finish() override {
    if (std::optional<Error> error = pack({}, ZSTD_e_end)) return error;
    return below_.finish();
  }

 private:
  std::optional<Error> pack(std::string_view bytes, ZSTD_EndDirective how) {
    if (stream_ == nullptr) return packing_failed("no memory");
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_, &out, &in, how);
      if (ZSTD_isError(left)) return packing_failed(ZSTD_getErrorName(left));
      if (std::optional<Error> error = below_.write({out_.data(), out.pos})) return error;
      if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return std::nullopt;
    }
  }

  ByteSink& below_;
  ZSTD_CStream* stream_;
  std::string out_ = std::string(kPart, '\0');
};

class PlainSink : public ByteSink {
 public:
  explicit PlainSink(ByteSink& below) : below_(below) {}
  std::optional<Error> write(std::string_view bytes) override { return below_.write(bytes); }
  std::optional<Error> finish() override { return below_.finish(); }

 private:
  ByteSink& below_;
};

}  // namespace

std::optional<Error> FileSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      reader_left_ = errno == EPIPE;
      return write_error("cannot write", path_, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return std::nullopt;
}

std::unique_ptr<ByteSink> make_packer(Packing packing, ByteSink& below) {
  switch (packing) {
    case Packing::Gzip:
      return std::make_unique<GzipSink>(below);
    case Packing::Zstd:
      return std::make_unique<ZstdSink>(below);
    case Packing::None:
      break;
  }
  return std::make_unique<PlainSink>(below);
}

void BufferedOutput::flush() {
  if (!error_) error_ = sink_.write(buffer_);
  buffer_.clear();
}

std::optional<Error> BufferedOutput::finish() {
  flush();
  if (!error_) error_ = sink_.finish();
  return error_;
}

}  // namespace sonde
