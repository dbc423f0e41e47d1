#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "trace/loss_ledger.hpp"

namespace sonde {

// Where bytes come from: a file or standard input, inflated on the way where it is packed.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills the front of `out`; fewer bytes than asked for only at the end, 0 after it. Damage that
  // leaves a readable beginning (a cut gzip file) is an end, with an entry in losses().
  virtual Result<std::size_t> read(std::span<char> out) = 0;

  // Bytes taken from the disk so far, for progress.
  virtual std::uint64_t consumed() const = 0;

  LossLedger& losses() { return losses_; }

 protected:
  LossLedger losses_;
};

// A source and its first bytes, which stay in the stream.
struct OpenedInput {
  std::unique_ptr<ByteSource> source;
  std::string head;              // inflated; up to kHeadBytes
  std::uint64_t disk_bytes = 0;  // size on disk; 0 where unknown
};

inline constexpr std::size_t kHeadBytes = 64 * 1024;

// Opens `path` ("-": standard input) and looks through gzip and zstd by their magic numbers.
Result<OpenedInput> open_input(const std::string& path);

// Reads raw bytes. Internal to input/, but tests feed memory through the decoders with it.
class RawReader {
 public:
  virtual ~RawReader() = default;
  virtual Result<std::size_t> read(std::span<char> out) = 0;
};

// A decoder over raw bytes; `begin` are bytes that were read to find the format.
std::unique_ptr<ByteSource> make_plain_source(std::unique_ptr<RawReader> raw, std::string begin);
std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<RawReader> raw, std::string begin);
std::unique_ptr<ByteSource> make_zstd_source(std::unique_ptr<RawReader> raw, std::string begin);

// Picks the decoder for raw bytes by their magic number, and reads the head.
Result<OpenedInput> open_raw(std::unique_ptr<RawReader> raw);

// Bytes in memory as a raw reader. The memory must outlive it.
std::unique_ptr<RawReader> make_memory_reader(std::string_view bytes);

}  // namespace sonde
