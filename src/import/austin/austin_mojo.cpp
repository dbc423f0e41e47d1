#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/austin/austin.hpp"
#include "import/austin/austin_samples.hpp"

namespace sonde {
namespace {

// The bytes of a source one by one, with one block in memory.
class ByteReader {
 public:
  explicit ByteReader(const ImportInput& input) : input_(input) {}

  // -1 at the end.
  int next() {
    if (at_ == size_) {
      if (ended_) return -1;
      const Result<std::size_t> count = input_.source.read(block_);
      if (input_.options.progress) {
        input_.options.progress({input_.path, input_.source.consumed(), input_.disk_bytes});
      }
      if (!count) failure_ = count.error();
      at_ = 0;
      size_ = count ? *count : 0;
      ended_ = size_ == 0;
      if (ended_) return -1;
    }
    ++offset_;
    return static_cast<unsigned char>(block_[at_++]);
  }

  std::uint64_t offset() const { return offset_; }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  const ImportInput& input_;
  std::array<char, 64 * 1024> block_{};
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  std::optional<Error> failure_;
};

enum Event : int {
  kMetadata = 1,
  kStack = 2,
  kFrame = 3,
  kInvalidFrame = 4,
  kFrameReference = 5,
  kKernelFrame = 6,
  kCollector = 7,
  kIdle = 8,
  kTime = 9,
  kMemory = 10,
  kString = 11,
  kStringReference = 12,
};

class MojoReader {
 public:
  explicit MojoReader(const ImportInput& input) : bytes_(input), samples_(builder_), input_(input) {
    builder_.meta().format = "austin";
    builder_.meta().producer = "Austin (MOJO)";
  }

  Result<Trace> read() {
    for (int i = 0; i < 3; ++i) bytes_.next();
    std::int64_t version = 0;
    if (!number(version) || version < 1 || version > kNewestVersion) {
      return Error{ErrorCode::Unsupported,
                   "a recording of Austin in version " + std::to_string(version) +
                       " of its binary format; versions 1 to " + std::to_string(kNewestVersion) +
                       " are known",
                   input_.path, 3, "convert it to text with mojo2austin"};
    }
    version_ = version;
    while (true) {
      const std::uint64_t at = bytes_.offset();
      const int event = bytes_.next();
      if (event < 0) break;
      ok_ = true;
      read_event(event);
      if (ok_) continue;
      builder_.losses().add("recording_cut", Severity::Error,
                            "The recording breaks off: it was cut or is damaged. What came before "
                            "is shown.",
                            1, at);
      open_ = false;
      break;
    }
    end_sample();
    if (bytes_.failure()) return *bytes_.failure();
    builder_.meta().input_bytes = bytes_.offset();
    if (builder_.meta().file_events == 0) {
      builder_.losses().add("no_events", Severity::Warning,
                            "There is no sample in the file: nothing was recorded.");
    }
    builder_.losses().merge(input_.source.losses());
    builder_.nest(1);
    return builder_.finish();
  }

 private:
  static constexpr std::int64_t kNewestVersion = 3;
  static constexpr std::size_t kMaxText = 1 << 20;
  static constexpr std::size_t kMaxFrames = 65'536;

  struct Frame {
    std::string function;
    std::string file;
    std::int64_t line = 0;
  };

  // Six bits and a sign in the first byte, seven bits in each that follows; the highest bit: more.
  bool number(std::int64_t& out) {
    int byte = bytes_.next();
    if (byte < 0) return ok_ = false;
    const bool negative = (byte & 0x40) != 0;
    std::uint64_t value = static_cast<unsigned>(byte) & 0x3Fu;
    for (int shift = 6; (byte & 0x80) != 0; shift += 7) {
      byte = bytes_.next();
      if (byte < 0 || shift > 62) return ok_ = false;
      value |= (std::uint64_t{static_cast<unsigned>(byte)} & 0x7Fu) << shift;
    }
    value &= INT64_MAX;
    out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return true;
  }

  std::int64_t number() {
    std::int64_t out = 0;
    number(out);
    return out;
  }

  std::string text() {
    std::string out;
    for (int byte = bytes_.next(); byte != 0; byte = bytes_.next()) {
      if (byte < 0 || out.size() >= kMaxText) {
        ok_ = false;
        return out;
      }
      out += static_cast<char>(byte);
    }
    return out;
  }

  // Numbers of names and frames count for their process only.
  using Key = std::pair<std::int64_t, std::int64_t>;
  Key key(std::int64_t number) const { return {pid_, number}; }

  std::string string_of(std::int64_t number) {
    if (number == 1) return "<unknown>";
    const auto known = strings_.find(key(number));
    if (known != strings_.end()) return known->second;
    builder_.losses().add("text_missing", Severity::Warning,
                          "Names that the recording refers to, but does not hold.");
    return "<unknown>";
  }

  void read_event(int event) {
    switch (event) {
      case kMetadata: {
        const std::string name = text();
        const std::string value = text();
        if (ok_) samples_.add_metadata(name, value);
        return;
      }
      case kStack:
        return begin_sample();
      case kFrame:
        return define_frame();
      case kFrameReference:
        return push_reference(number());
      case kInvalidFrame:
        return push({"INVALID", {}, 0});
      case kKernelFrame:
        return push({text(), "kernel", 0});
      case kCollector:
        return push({"GC", {}, 0});
      case kIdle:
        metrics_.idle = true;
        return;
      case kTime:
        metrics_.micros = static_cast<double>(number());
        return;
      case kMemory:
        metrics_.bytes = static_cast<double>(number());
        return;
      case kString: {
        const Key id = key(number());
        std::string value = text();
        if (ok_) strings_[id] = std::move(value);
        return;
      }
      case kStringReference:
        number();
        return;
      default:
        ok_ = false;
    }
  }

  void begin_sample() {
    end_sample();
    pid_ = number();
    const std::int64_t interpreter = version_ >= 3 ? number() : -1;
    const std::string thread = text();
    if (!ok_) return;
    open_ = true;
    track_ = samples_.track(pid_, interpreter, thread);
  }

  void define_frame() {
    const Key id = key(number());
    Frame frame;
    const std::int64_t file = number();
    const std::int64_t scope = number();
    frame.line = number();
    if (version_ > 1) {
      for (int i = 0; i < 3; ++i) number();  // end of the line, columns
    }
    if (!ok_) return;
    frame.file = string_of(file);
    frame.function = string_of(scope);
    known_[id] = std::move(frame);
  }

  void push_reference(std::int64_t number) {
    if (!ok_) return;
    const auto known = known_.find(key(number));
    if (known == known_.end()) {
      builder_.losses().add("frame_missing", Severity::Warning,
                            "Frames that the recording refers to, but does not hold.");
      return push({"[unknown]", {}, 0});
    }
    push(known->second);
  }

  void push(const Frame& frame) {
    if (!ok_ || frames_.size() >= kMaxFrames) return;
    const StackId caller = frames_.empty() ? StackId() : frames_.back();
    frames_.push_back(samples_.push(caller, frame.function, frame.file, frame.line));
  }

  void end_sample() {
    if (open_ && (metrics_.micros || metrics_.bytes)) {
      samples_.add(track_, frames_.empty() ? StackId() : frames_.back(), metrics_);
    }
    open_ = false;
    frames_.clear();
    metrics_ = {};
  }

  ByteReader bytes_;
  TraceBuilder builder_;
  AustinSamples samples_;
  const ImportInput& input_;
  std::map<Key, std::string> strings_;
  std::map<Key, Frame> known_;
  std::vector<StackId> frames_;
  AustinMetrics metrics_;
  TrackId track_;
  std::int64_t pid_ = 0;
  std::int64_t version_ = 0;
  bool open_ = false;
  bool ok_ = true;
};

}  // namespace

bool looks_like_mojo(std::string_view head) {
  return head.size() > 3 && head.starts_with("MOJ") && static_cast<unsigned char>(head[3]) < 0x20;
}

Result<Trace> import_mojo(const ImportInput& input) { return MojoReader(input).read(); }

}  // namespace sonde
