// How fast a training loop goes: time spent on reading, time of a batch and throughput of each
// step, and a summary of them all. For C++17 and newer. Works without a recording; with one, the
// three numbers of each step are recorded as counters.
//
//   sonde::Benchmark benchmark;
//   benchmark.begin();
//   for (...) {
//     {
//       auto reading = benchmark.read();      // until the end of the block
//       batch = loader.next();
//     }
//     train(batch);
//     benchmark.step(batch.size());
//   }
//   benchmark.end();                           // prints the summary
//
// An object belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "sonde/sonde.hpp"

namespace sonde {

class Benchmark {
 public:
  // How the summary counts.
  enum class Rule {
    Exact,   // all steps behind the first ten, each once
    Paddle,  // as PaddlePaddle does: the tenth step is in the sums and not in their divisor, and a
             // step that is the longest so far is not looked at for the shortest
  };

  // One step, in seconds.
  struct Step {
    double reader_cost = 0;
    double batch_cost = 0;
    double ips = 0;  // samples, or steps, per second
  };

  // Seconds that only go forward.
  using Clock = double (*)();

  // Steps at the beginning that the summary leaves out: caches and allocators are cold.
  static constexpr std::uint64_t kSkippedSteps = 10;

  explicit Benchmark(Rule rule = Rule::Exact, Clock clock = steady_seconds)
      : rule_(rule), clock_(clock) {}
  Benchmark(const Benchmark&) = delete;
  Benchmark& operator=(const Benchmark&) = delete;

  // Begins the first step. Without it the first step begins with the first read() or ends unseen.
  void begin() {
    running_ = true;
    batch_start_ = clock_();
  }

  // Reading, from here to the end of the object.
  class Reading {
   public:
    explicit Reading(Benchmark& benchmark) : benchmark_(benchmark) { benchmark_.begin_read(); }
    ~Reading() { benchmark_.end_read(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    Benchmark& benchmark_;
  };
  [[nodiscard]] Reading read() { return Reading(*this); }

  // The same by hand.
  void begin_read() {
    if (!running_) begin();
    read_start_ = clock_();
    reading_ = true;
  }
  void end_read() {
    if (!reading_) return;
    reading_ = false;
    if (paused_) return;
    const double cost = clock_() - read_start_;
    read_in_step_ += cost;
    since_info_.reader += cost;
    ++since_info_.reads;
    if (steps_ >= kSkippedSteps) reader_.add(cost, rule_);
  }

  // Ends a step and begins the next one.
  void step() { end_step(-1); }
  // `samples`: how many the batch had.
  void step(double samples) { end_step(samples); }

  // What does not count, such as an evaluation, lies between these two. The step that was running
  // goes on behind it, without that time.
  void pause() {
    if (paused_) return;
    paused_ = true;
    pause_start_ = clock_();
  }
  void resume() {
    if (!paused_) return;
    paused_ = false;
    batch_start_ += clock_() - pause_start_;
  }

  std::uint64_t steps() const { return steps_; }
  const Step& last() const { return last_; }

  // " reader_cost: 0.00074 s batch_cost: 0.69986 s ips: 1.429 samples/s": the averages since the
  // last call. Parts that are 0 are left out. `unit`: what samples are called from now on.
  std::string step_info(const char* unit = "samples") {
    sample_unit_ = unit;
    std::string out;
    const double seconds = since_info_.batch;
    const auto steps = static_cast<double>(since_info_.steps);
    const double reader =
        since_info_.reads == 0 ? 0 : since_info_.reader / static_cast<double>(since_info_.reads);
    const double batch = since_info_.steps == 0 ? 0 : seconds / steps;
    const double ips = seconds <= 0 ? 0 : (by_samples_ ? since_info_.samples : steps) / seconds;
    if (reader != 0) out += " reader_cost: " + number(reader, 5) + " s";
    if (batch != 0) out += " batch_cost: " + number(batch, 5) + " s";
    if (ips != 0) out += " ips: " + number(ips, 3) + " " + ips_unit();
    since_info_ = {};
    return out;
  }

  // The table of all steps so far but the first ten; empty where there are no more.
  std::string summary() const {
    if (steps_ <= kSkippedSteps) return {};
    const auto counted = static_cast<double>(steps_ - kSkippedSteps);
    const double batch_average = batch_.total / counted;
    const double reader_average =
        rule_ == Rule::Paddle ? reader_.total / counted : reader_.average();
    const double ips = batch_.total <= 0 ? 0 : (by_samples_ ? samples_ : counted) / batch_.total;
    std::string out = centred("Perf Summary", 100, '=') + "\n";
    if (reader_average != 0 && batch_average != 0)
      out += "Reader Ratio: " + number(reader_average / batch_average * 100, 3) + "%\n";
    out += "Time Unit: s, IPS Unit: " + ips_unit() + "\n";
    out += row("", "avg", "max", "min");
    if (reader_average != 0) out += row("reader_cost", reader_average, reader_);
    out += row("batch_cost", batch_average, batch_);
    out += row("ips", ips, speed_);
    return out;
  }

  // Prints the summary, where there is one, and begins anew.
  void end(std::FILE* to = stdout) {
    std::fputs(summary().c_str(), to);
    running_ = paused_ = reading_ = by_samples_ = false;
    steps_ = 0;
    samples_ = read_in_step_ = 0;
    reader_ = batch_ = speed_ = {};
    since_info_ = {};
    last_ = {};
  }

  static double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  struct Record {
    double total = 0;
    double max = 0;
    double min = std::numeric_limits<double>::infinity();
    std::uint64_t count = 0;

    void add(double value, Rule rule) {
      total += value;
      ++count;
      const bool longest = value > max;
      if (longest) max = value;
      if (value < min && !(longest && rule == Rule::Paddle)) min = value;
    }
    double average() const { return count == 0 ? 0 : total / static_cast<double>(count); }
  };

  struct SinceInfo {
    double reader = 0;
    double batch = 0;
    double samples = 0;
    std::uint64_t reads = 0;
    std::uint64_t steps = 0;
  };

  void end_step(double samples) {
    if (paused_) return;
    const double now = clock_();
    if (!running_) {
      running_ = true;
      batch_start_ = now;
      return;
    }
    const double cost = now - batch_start_;
    batch_start_ = now;
    if (steps_ == 0) by_samples_ = samples >= 0;
    if (samples < 0) by_samples_ = false;  // one step without a number, and only steps are counted
    const double done = by_samples_ ? samples : 1;
    last_ = {read_in_step_, cost, cost > 0 ? done / cost : 0};
    read_in_step_ = 0;
    since_info_.batch += cost;
    since_info_.samples += samples > 0 ? samples : 0;
    ++since_info_.steps;
    ++steps_;
    if (rule_ == Rule::Paddle ? steps_ >= kSkippedSteps : steps_ > kSkippedSteps) {
      batch_.add(cost, rule_);
      speed_.add(last_.ips, rule_);
      samples_ += samples > 0 ? samples : 0;
    }
    reader_counter_.set(last_.reader_cost);
    batch_counter_.set(last_.batch_cost);
    ips_counter_.set(last_.ips);
  }

  std::string ips_unit() const { return by_samples_ ? sample_unit_ + "/s" : "steps/s"; }

  // "%.5f", with a point whatever the locale says.
  static std::string number(double value, int decimals) {
    char text[400];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    std::string out(text);
    for (char& c : out) {
      if (c == ',') c = '.';
    }
    return out;
  }

  // As Python's str.center(): an odd blank goes to the left of an odd width.
  static std::string centred(const std::string& text, std::size_t width, char fill) {
    if (text.size() >= width) return text;
    const std::size_t spare = width - text.size();
    const std::size_t left = spare / 2 + (spare & width & 1);
    return std::string(left, fill) + text + std::string(spare - left, fill);
  }

  static std::string row(const char* name, const std::string& average, const std::string& most,
                         const std::string& least) {
    constexpr std::size_t kWidth = 15;
    return "| " + centred(name, kWidth, ' ') + " | " + centred(average, kWidth, ' ') + " | " +
           centred(most, kWidth, ' ') + " | " + centred(least, kWidth, ' ') + " |\n";
  }
  static std::string row(const char* name, double average, const Record& record) {
    return row(name, number(average, 5), number(record.max, 5), number(record.min, 5));
  }

  Rule rule_;
  Clock clock_;
  bool running_ = false;
  bool reading_ = false;
  bool paused_ = false;
  bool by_samples_ = false;
  std::string sample_unit_ = "samples";
  std::uint64_t steps_ = 0;
  double batch_start_ = 0;
  double read_start_ = 0;
  double pause_start_ = 0;
  double read_in_step_ = 0;
  double samples_ = 0;
  Record reader_;
  Record batch_;
  Record speed_;
  SinceInfo since_info_;
  Step last_;
  Domain domain_{"benchmark"};
  Counter reader_counter_{domain_, "reader_cost"};
  Counter batch_counter_{domain_, "batch_cost"};
  Counter ips_counter_{domain_, "ips"};
};

}  // namespace sonde
