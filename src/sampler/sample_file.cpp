#include "sampler/sample_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/utf8.hpp"
#include "system/proc_files.hpp"
#include "system/process_tree.hpp"

namespace sonde {
namespace {

// Rows of a thread that waits are made one for this long, so that fifty idle threads cost nothing.
constexpr std::uint64_t kLongestWait = 1'000'000'000;

constexpr std::uint32_t kGeneratorCode = 0x20;
constexpr std::uint32_t kCoroutineCode = 0x80;
constexpr std::uint32_t kAsyncGeneratorCode = 0x200;

std::uint32_t code_flags(const FunctionInfo& function) {
  if (function.native) return tables::kNativeFrame;
  std::uint32_t out = 0;
  if (function.flags & kGeneratorCode) out |= tables::kGenerator;
  if (function.flags & kCoroutineCode) out |= tables::kCoroutine;
  if (function.flags & kAsyncGeneratorCode) out |= tables::kAsyncGenerator;
  return out;
}

std::string fixed(double number, int digits) {
  std::array<char, 64> out;
  std::snprintf(out.data(), out.size(), "%.*f", digits, number);
  return out.data();
}

std::string process_name(pid_t pid) {
  std::string out = read_small_file("/proc/" + std::to_string(pid) + "/comm");
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out.empty() ? "python" : mend_utf8(out);
}

pid_t parent_of(pid_t pid) {
  ProcessStat stat;
  const std::string text = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  return parse_process_stat(text, stat) ? stat.parent : 0;
}

std::string file_stem(const std::string& name, pid_t pid) {
  std::string out;
  for (const char c : name) out += c == '/' || c == '.' ? '_' : c;
  return out + "-" + std::to_string(pid) + "-samples";
}

}  // namespace

std::size_t SampleFile::FrameHash::operator()(const FrameKey& key) const {
  std::uint64_t hash = std::uint64_t{key.caller} << 32 | key.code;
  hash = (hash ^ static_cast<std::uint32_t>(key.line) * 0x9E3779B97F4A7C15u) * 0xFF51AFD7ED558CCDu;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

SampleFile::SampleFile(const PythonProcess& process, const SamplerOptions& sampling,
                       const SampleFileOptions& options)
    : options_(options), start_(monotonic_nanos()) {
  const pid_t pid = process.pid();
  const std::string name = process_name(pid);
  const auto number = static_cast<std::uint32_t>(pid);
  // A process number may come again in a long run.
  for (int copy = 0; copy < 1000; ++copy) {
    const std::string stem = options.folder + "/" + file_stem(name, pid) +
                             (copy == 0 ? "" : "-" + std::to_string(copy + 1));
    error_ = writer_.open((stem + ".tables").c_str(), options.max_bytes, number);
    if (error_ == EEXIST) continue;
    if (error_ != 0) return;
    writer_.set_clock(tables::Clock::Nanoseconds);
    recording_ = std::make_unique<RunFileWriter>(
        stem + ".sonde", name,
        RunFileWriter::Process{number, static_cast<std::uint32_t>(parent_of(pid))});
    if (!recording_->ok()) error_ = errno;
    recording_->touch();
    break;
  }
  const PythonRuntime& runtime = process.runtime();
  property("python.version", runtime.layout.version.text());
  property("python.binary", runtime.path);
  std::string method = "read from outside";
  method += process.stops() ? ", each running thread stopped meanwhile"
                            : ", threads run on: callers may be one line off";
  if (process.has_native()) method += ", with C frames";
  property("sampling.method", method);
  property("sampling.asked_rate", fixed(sampling.rate, sampling.rate < 10 ? 2 : 0));
  if (!options_.idle) property("sampling.idle", "threads that wait are left out");
}

void SampleFile::property(const char* key, const std::string& value) {
  const std::uint32_t key_text = text(key);
  const std::uint32_t value_text = text(value);
  if (key_text == 0 || value_text == 0) return;
  writer_.add(tables::Table::Property, tables::PropertyRow{key_text, value_text});
}

std::uint32_t SampleFile::text(std::string_view text) {
  const auto [at, is_new] = texts_.try_emplace(std::string(text), 0);
  if (is_new) {
    const std::string good = mend_utf8(text);
    at->second = writer_.add_text(good.data(), good.size());
  }
  return at->second;
}

std::uint32_t SampleFile::code(const FunctionInfo& function) {
  const auto [at, is_new] = codes_.try_emplace(&function, 0);
  if (is_new) {
    at->second = static_cast<std::uint32_t>(codes_.size());
    const std::uint32_t qualified =
        function.qualified_name.empty() ? 0 : text(function.qualified_name);
    writer_.add(tables::Table::Code,
                tables::CodeRow{at->second, text(function.name), qualified, text(function.file),
                                function.first_line, code_flags(function)});
  }
  return at->second;
}

std::uint32_t SampleFile::frame(const ThreadSample& sample) {
  std::uint32_t caller = 0;
  for (auto at = sample.frames.rbegin(); at != sample.frames.rend(); ++at) {
    const FrameKey key{caller, code(*at->function), at->line};
    const auto [known, is_new] = frames_.try_emplace(key, 0);
    if (is_new) {
      known->second = static_cast<std::uint32_t>(frames_.size());
      writer_.add(tables::Table::Frame,
                  tables::FrameRow{known->second, key.caller, key.code, key.line});
    }
    caller = known->second;
  }
  return caller;
}

void SampleFile::add(const ThreadSample& sample) {
  // A thread that used some CPU since its last sample was not idle.
  if (!options_.idle && sample.waiting && sample.cpu_nanos == 0) {
    ++left_out_;
    return;
  }
  Thread& thread = threads_[sample.thread];
  if (thread.name != sample.name) {
    thread.name = sample.name;
    writer_.add(tables::Table::Thread,
                tables::ThreadRow{static_cast<std::uint32_t>(sample.thread), text(sample.name)});
  }
  tables::SampleRow row{};
  row.time = sample.time;
  row.thread = static_cast<std::uint32_t>(sample.thread);
  row.frame = frame(sample);
  row.wall_ns = sample.wall_nanos;
  row.cpu_ns = sample.cpu_nanos;
  row.flags = (sample.holds_lock ? tables::kHoldsLock : 0u) |
              (sample.waiting ? tables::kWaiting : 0u) |
              (sample.uncertain ? tables::kUncertain : 0u);
  ++written_;
  tables::SampleRow* const last = thread.last;
  if (last && last->frame == row.frame && last->flags == row.flags && row.cpu_ns == 0 &&
      row.time - thread.begin < kLongestWait) {
    last->wall_ns += row.wall_ns;
    last->time = row.time;
    return;
  }
  tables::SampleRow* const added = writer_.add(tables::Table::Sample, row);
  thread.last = sample.waiting ? added : nullptr;
  thread.begin = row.time;
}

void SampleFile::tell(const PythonProcess& process, const SamplingStats& stats, double rate,
                      std::uint64_t own_cpu_nanos, bool ended) {
  property("sampling.actual_rate", fixed(rate, rate < 10 ? 2 : 1));
  property("sampling.rounds", std::to_string(stats.rounds));
  property("sampling.missed_rounds", std::to_string(stats.missed_rounds));
  property("sampling.samples", std::to_string(stats.samples));
  property("sampling.lost", std::to_string(stats.lost));
  property("sampling.torn", std::to_string(stats.torn));
  if (stats.uncertain > 0) property("sampling.uncertain", std::to_string(stats.uncertain));
  if (stats.late > 0) property("sampling.late", std::to_string(stats.late));
  if (stats.refused > 0) property("sampling.refused_stops", std::to_string(stats.refused));
  if (stats.cut > 0) property("sampling.cut_stacks", std::to_string(stats.cut));
  if (process.has_native()) {
    property("sampling.native_failed", std::to_string(stats.native_failed));
    property("sampling.native_unmatched", std::to_string(stats.native_unmatched));
  }
  const double seconds = static_cast<double>(monotonic_nanos() - start_) / 1e9;
  if (seconds > 0) {
    property("sampling.own_cpu_percent",
             fixed(static_cast<double>(own_cpu_nanos) / 1e7 / seconds, 2));
    property("sampling.stopped_percent",
             fixed(static_cast<double>(process.stopped_nanos()) / 1e7 / seconds, 2));
  }
  if (recording_) recording_->touch();
  if (!ended) return;
  if (recording_) recording_->close();
  writer_.close();
  threads_.clear();
}

}  // namespace sonde
