#include <isa-l/igzip_lib.h>

#include <cstring>
#include <vector>

#include "import/input/byte_source.hpp"

namespace sonde {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;

// Inflates all members of a gzip file with ISA-L, about three times as fast as zlib.
class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<RawReader> raw, std::string begin)
      : raw_(std::move(raw)), input_(kInputBytes) {
    std::memcpy(input_.data(), begin.data(), begin.size());
    state_ = std::make_unique<inflate_state>();
    start_member();
    state_->next_in = input_.data();
    state_->avail_in = static_cast<std::uint32_t>(begin.size());
    loaded_ = state_->avail_in;
    consumed_ = begin.size();
  }

  Result<std::size_t> read(std::span<char> out) override {
    state_->next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_->avail_out = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), UINT32_MAX));
    while (state_->avail_out > 0 && !ended_) {
      if (state_->avail_in == 0) {
        Result<bool> more = refill();
        if (!more) return more.error();
      }
      if (state_->block_state == ISAL_BLOCK_FINISH) {
        next_member();
        continue;
      }
      if (state_->avail_in == 0 && input_ended_) {
        // Decoded bytes may still wait inside of the decoder.
        const std::uint32_t room = state_->avail_out;
        const int status = inflate();
        if (status == ISAL_DECOMP_OK && state_->avail_out < room) continue;
        if (state_->block_state == ISAL_BLOCK_FINISH) continue;
        losses_.add(
            "gzip_cut", Severity::Error,
            "The gzip file ends before its data does: it was cut. What came before is read.", 1,
            consumed_);
        ended_ = true;
        break;
      }
      const int status = inflate();
      if (status != ISAL_DECOMP_OK) damaged(status);
    }
    return out.size() - state_->avail_out;
  }

  std::uint64_t consumed() const override { return consumed_ - state_->avail_in; }

 private:
  void start_member() {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  // ISA-L may step over the end of its input by a byte or two when the data is damaged there.
  int inflate() {
    const int status = isal_inflate(state_.get());
    if (state_->avail_in <= loaded_) return status;
    state_->next_in = input_.data();
    state_->avail_in = 0;
    return status == ISAL_DECOMP_OK ? ISAL_INVALID_BLOCK : status;
  }

  Result<bool> refill() {
    if (input_ended_) return false;
    Result<std::size_t> got = raw_->read({reinterpret_cast<char*>(input_.data()), input_.size()});
    if (!got) return got.error();
    input_ended_ = *got < input_.size();
    state_->next_in = input_.data();
    state_->avail_in = static_cast<std::uint32_t>(*got);
    loaded_ = state_->avail_in;
    consumed_ += *got;
    return true;
  }

  // After a member: another one, the end, or bytes that do not belong here.
  void next_member() {
    if (state_->avail_in == 0 && input_ended_) {
      ended_ = true;
      return;
    }
    std::uint8_t* in = state_->next_in;
    const std::uint32_t left = state_->avail_in;
    const bool another =
        left >= 2 ? in[0] == 0x1F && in[1] == 0x8B : in[0] == 0x1F && !input_ended_;
    if (!another) {
      losses_.add("bytes_after_gzip", Severity::Warning,
                  "Bytes that are no gzip data follow the packed trace; they were passed over.", 1,
                  consumed_ - left);
      ended_ = true;
      return;
    }
    std::uint8_t* out = state_->next_out;
    const std::uint32_t room = state_->avail_out;
    start_member();
    state_->next_in = in;
    state_->avail_in = left;
    state_->next_out = out;
    state_->avail_out = room;
  }

  void damaged(int status) {
    const bool checksum = status == ISAL_INCORRECT_CHECKSUM;
    losses_.add(checksum ? "gzip_checksum" : "gzip_damaged", Severity::Error,
                checksum
                    ? "The gzip checksum does not match: the file was damaged after it was written."
                    : "The gzip data is damaged; what came before is read, the rest is lost.",
                1, consumed_ - state_->avail_in);
    ended_ = true;
  }

  std::unique_ptr<RawReader> raw_;
  std::vector<std::uint8_t> input_;
  std::unique_ptr<inflate_state> state_;
  std::uint32_t loaded_ = 0;  // bytes in input_
  std::uint64_t consumed_ = 0;
  bool input_ended_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<RawReader> raw, std::string begin) {
  return std::make_unique<GzipSource>(std::move(raw), std::move(begin));
}

}  // namespace sonde
