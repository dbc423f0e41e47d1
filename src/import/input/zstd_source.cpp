#include <zstd.h>

#include <cstring>
#include <vector>

#include "import/input/byte_source.hpp"

namespace sonde {
namespace {

// A frame may ask for this much history at the most (2^27 bytes, zstd's own default).
constexpr int kMaxWindowLog = 27;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<RawReader> raw, std::string begin)
      : raw_(std::move(raw)), context_(ZSTD_createDCtx()), input_(256 * 1024) {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
    std::memcpy(input_.data(), begin.data(), begin.size());
    in_ = {input_.data(), begin.size(), 0};
    consumed_ = begin.size();
  }

  Result<std::size_t> read(std::span<char> out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos < to.size && !ended_) {
      if (in_.pos == in_.size && !input_ended_) {
        Result<std::size_t> got = raw_->read(input_);
        if (!got) return got.error();
        input_ended_ = *got < input_.size();
        in_ = {input_.data(), *got, 0};
        consumed_ += *got;
      }
      const std::size_t before = to.pos;
      const bool no_input = in_.pos == in_.size;
      const std::size_t status = ZSTD_decompressStream(context_.get(), &to, &in_);
      if (ZSTD_isError(status)) {
        damaged(status);
      } else if (no_input && input_ended_ && to.pos == before) {
        if (!frame_done_) {
          losses_.add(
              "zstd_cut", Severity::Error,
              "The zstd file ends before its data does: it was cut. What came before is read.", 1,
              consumed_);
        }
        ended_ = true;
      } else {
        frame_done_ = status == 0;
      }
    }
    return to.pos;
  }

  std::uint64_t consumed() const override { return consumed_ - (in_.size - in_.pos); }

 private:
  void damaged(std::size_t status) {
    if (frame_done_) {
      losses_.add("bytes_after_zstd", Severity::Warning,
                  "Bytes that are no zstd data follow the packed trace; they were passed over.", 1,
                  consumed_ - (in_.size - in_.pos));
    } else {
      losses_.add("zstd_damaged", Severity::Error,
                  std::string("The zstd data is damaged (") + ZSTD_getErrorName(status) +
                      "); what came before is read, the rest is lost.",
                  1, consumed_ - (in_.size - in_.pos));
    }
    ended_ = true;
  }

  std::unique_ptr<RawReader> raw_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::vector<char> input_;
  ZSTD_inBuffer in_{};
  std::uint64_t consumed_ = 0;
  bool input_ended_ = false;
  bool frame_done_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_zstd_source(std::unique_ptr<RawReader> raw, std::string begin) {
  return std::make_unique<ZstdSource>(std::move(raw), std::move(begin));
}

}  // namespace sonde
