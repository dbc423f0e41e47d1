#include "tests/recorder/random_program.hpp"

#include <cstdio>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sonde/sonde.hpp"
#include "tests/recorder/random_numbers.hpp"
#include "tests/recorder/statements.hpp"

using sonde::testing::hex;
using sonde::testing::join;

namespace {

constexpr int kThreads = 3;
constexpr int kNames = 8;
constexpr int kMaxDepth = 8;
constexpr std::uint64_t kKinds[] = {2, 3, 4, 5, 7, 9, 13, 14, 15, 16, 17};

// Tasks that one thread started and any may stop.
struct Running {
  sonde_task task;
  std::string what;
};

struct Pool {
  std::mutex lock;
  std::vector<Running> running;
};

class RandomThread {
 public:
  RandomThread(std::uint64_t seed, int number, Pool& pool)
      : random_{seed}, number_(number), pool_(pool) {
    const std::string own = std::to_string(number);
    for (int i = 0; i < kNames; ++i) {
      names_.push_back("name " + std::to_string(i));
      domains_.push_back(i == 7 ? "d\xC3\xB6main" : "domain" + std::to_string(i));
      counters_.push_back("counter " + std::to_string(i));
    }
    counter_domain_text_ = "counters of " + own;
    counter_domain_ = SONDE_DOMAIN_INIT(counter_domain_text_.c_str());
    for (int i = 0; i < kNames; ++i) {
      name_[i] = SONDE_NAME_INIT(names_[i].c_str());
      domain_[i] = SONDE_DOMAIN_INIT(domains_[i].c_str());
      counter_[i] = {{counters_[i].c_str(), 0}, &counter_domain_, 0};
    }
  }

  void run(std::uint64_t count) {
    const std::string name = "thread " + std::to_string(number_);
    say("thread " + name);
    sonde_name_thread("a name that does not last");
    sonde_name_thread(name.c_str());
    while (count > 0) act(count);
    while (!halves_.empty()) end_half(0);
    if (number_ == 0 && steps_ > 0) {
      sonde_last_step();
      say_step();
    }
  }

  const std::string& said() const { return said_; }

 private:
  void say(const std::string& text) {
    said_ += text;
    said_ += '\n';
  }

  std::string make_arguments(sonde_arguments* arguments) {
    sonde_no_arguments(arguments);
    std::string text;
    const std::uint64_t count = random_(4) != 0 ? random_(3) : std::uint64_t{SONDE_MAX_ARGUMENTS};
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string key = "key" + std::to_string(random_(20));
      text += (text.empty() ? "" : ";") + key;
      switch (random_(3)) {
        case 0: {
          const auto value = static_cast<std::int64_t>(random_() >> random_(64));
          sonde_add_i64(arguments, key.c_str(), value);
          text += ":i" + std::to_string(value);
          break;
        }
        case 1: {
          const double values[] = {0.0, -0.0, 1e300, -0.1, static_cast<double>(random_())};
          const double value = values[random_(5)];
          sonde_add_f64(arguments, key.c_str(), value);
          text += ":f" + hex(value);
          break;
        }
        default: {
          const std::string texts[] = {"", "text " + std::to_string(random_(50)), "\xE2\x82\xAC"};
          const std::string& value = texts[random_(3)];
          sonde_add_text(arguments, key.c_str(), value.c_str());
          text += ":t" + value;
        }
      }
    }
    return text;
  }

  void say_slice(const std::string& name, const std::string& domain, std::uint64_t kind,
                 std::uint64_t id, const std::string& arguments) {
    const bool in_step = steps_ > 0;
    const std::string step = in_step ? "step#" + std::to_string(steps_ - 1) : "-";
    const std::string kind_text = std::to_string(kind);
    say(join({"F", "slice", name, domain, kind_text, std::to_string(id), arguments}));
    say(join({"T", "slice", name, domain, kind_text, std::to_string(open_.size() + in_step),
              open_.empty() ? step : open_.back(), arguments}));
  }

  void act(std::uint64_t& count) {
    if (count == 0) return;
    --count;
    n_ = random_(kNames);
    d_ = random_(kNames);
    switch (random_(14)) {
      case 0:
      case 1:
      case 2:
        return scope(count);
      case 3:
        return dynamic_scope(count);
      case 4:
        return start_task();
      case 5:
        return stop_task();
      case 6:
        return begin_half();
      case 7:
        if (!halves_.empty()) end_half(random_(halves_.size()));
        return;
      case 8:
        return count_something();
      case 9:
        return mark();
      case 10:
        return memory();
      case 11:
        return launch();
      case 12:
        return flow();
      default:
        if (number_ == 0 && open_.empty()) step();
    }
  }

  void scope(std::uint64_t& count) {
    const std::uint64_t n = n_;
    const std::uint64_t kind = kKinds[random_(std::size(kKinds))];
    const bool with_domain = random_(4) != 0;
    const std::string domain = with_domain ? domains_[d_] : "";
    const std::uint64_t id = sonde_new_id();
    sonde_scope scope;
    sonde_begin(&scope, &name_[n], with_domain ? &domain_[d_] : nullptr,
                static_cast<sonde_kind>(kind));
    sonde_set_id(&scope, id);
    nested(names_[n], count);
    if (random_(3)) {
      sonde_end(&scope);
      return say_slice(names_[n], domain, kind, id, "");
    }
    sonde_arguments arguments;
    const std::string text = make_arguments(&arguments);
    sonde_end_with(&scope, &arguments);
    say_slice(names_[n], domain, kind, id, text);
  }

  void nested(const std::string& name, std::uint64_t& count) {
    if (open_.size() >= kMaxDepth) return;
    open_.push_back(name);
    for (std::uint64_t i = random_(4); i > 0; --i) act(count);
    open_.pop_back();
  }

  void dynamic_scope(std::uint64_t& count) {
    const std::string name = "made " + std::to_string(random_(100));
    const std::string domain = domains_[d_];
    sonde_scope scope;
    sonde_begin_id(&scope, sonde_intern(name.c_str()), &domain_[d_], SONDE_KIND_API);
    nested(name, count);
    sonde_end(&scope);
    say_slice(name, domain, SONDE_KIND_API, 0, "");
  }

  void start_task() {
    Running running;
    const std::uint64_t kind = random_(3);
    if (kind == 0) sonde_task_start(&running.task, &name_[n_], &domain_[d_]);
    if (kind == 1) sonde_frame_start(&running.task, &name_[n_], &domain_[d_]);
    if (kind == 2) sonde_event_start(&running.task, &name_[n_]);
    running.what = join({names_[n_], kind == 2 ? "" : domains_[d_], std::to_string(kind)});
    const std::lock_guard guard(pool_.lock);
    pool_.running.push_back(running);
  }

  // Maybe another thread's.
  void stop_task() {
    Running running;
    {
      const std::lock_guard guard(pool_.lock);
      if (pool_.running.empty()) return;
      std::swap(pool_.running[random_(pool_.running.size())], pool_.running.back());
      running = pool_.running.back();
      pool_.running.pop_back();
    }
    std::string text;
    if (random_(2)) {
      sonde_task_stop(&running.task);
    } else {
      sonde_arguments arguments;
      text = make_arguments(&arguments);
      sonde_task_stop_with(&running.task, &arguments);
    }
    say(join({"B", "async", running.what, text}));
  }

  struct Half {
    std::uint64_t name;
    std::uint64_t domain;
    std::uint64_t id;
  };

  void begin_half() {
    const Half half{n_, d_, sonde_new_id()};
    sonde_async_begin(&name_[n_], &domain_[d_], half.id);
    say(join({"F", "begin", names_[n_], domains_[d_], std::to_string(half.id)}));
    halves_.push_back(half);
  }

  void end_half(std::uint64_t which) {
    const Half half = halves_[which];
    halves_.erase(halves_.begin() + static_cast<std::ptrdiff_t>(which));
    sonde_async_end(&name_[half.name], &domain_[half.domain], half.id);
    const std::string& name = names_[half.name];
    const std::string& domain = domains_[half.domain];
    say(join({"F", "end", name, domain, std::to_string(half.id)}));
    say(join({"T", "async", name, domain, "0", ""}));
  }

  void count_something() {
    double value = 0;
    if (random_(4) == 0) {
      value = static_cast<double>(random_(1000)) / 8;
      sonde_counter_set_f64(&counter_[n_], value);
    } else {
      const auto number = static_cast<std::int64_t>(random_(1u << 20)) - (1 << 19);
      if (random_(2)) {
        sonde_counter_set(&counter_[n_], number);
        kept_[n_] = number;
      } else {
        sonde_counter_add(&counter_[n_], number);
        kept_[n_] += number;
      }
      value = static_cast<double>(kept_[n_]);
    }
    say(join({"B", "counter", counters_[n_], counter_domain_text_, hex(value)}));
  }

  void mark() {
    const char scope = "tpg"[random_(3)];
    std::string text;
    if (random_(3) == 0) {
      sonde_marker(&name_[n_], nullptr, scope);
      say(join({"B", "marker", names_[n_], "", std::string(1, scope), ""}));
      return;
    }
    sonde_arguments arguments;
    text = make_arguments(&arguments);
    sonde_marker_with(&name_[n_], &domain_[d_], scope, &arguments);
    say(join({"B", "marker", names_[n_], domains_[d_], std::string(1, scope), text}));
  }

  void memory() {
    const auto type = static_cast<sonde_device_type>(random_(4));
    const auto device = static_cast<std::uint32_t>(random_(16));
    const std::uint64_t address = random_() >> random_(64);
    const std::uint64_t bytes = random_() >> (20 + random_(40));
    const bool tagged = random_(2);
    const bool pooled = random_(2);
    const bool free = random_(2);
    const auto* const pointer = reinterpret_cast<const void*>(address);
    sonde_domain* const pool = pooled ? &domain_[d_] : nullptr;
    sonde_name* const tag = tagged ? &name_[n_] : nullptr;
    if (free) {
      sonde_freed(type, device, pool, pointer, bytes, tag);
    } else {
      sonde_allocated(type, device, pool, pointer, bytes, tag);
    }
    say(join({"B", "memory", tagged ? names_[n_] : "", pooled ? domains_[d_] : "",
              std::to_string(type), std::to_string(device), std::to_string(address),
              (free && bytes ? "-" : "") + std::to_string(bytes)}));
  }

  // Work on the device with this thread's number, and the call that launched it. Both have names of
  // their own, by which a trace tells links.
  void launch() {
    const std::string own = std::to_string(number_) + "." + std::to_string(launches_++);
    const std::string call = "launch " + own;
    const std::string work = "work " + own;
    sonde_name work_name = SONDE_NAME_INIT(work.c_str());
    const std::uint64_t call_id = sonde_new_id();
    const std::uint64_t work_id = sonde_new_id();
    const std::uint64_t stream = random_(3);
    const std::uint64_t kind = SONDE_KIND_KERNEL + random_(3);
    sonde_scope scope;
    sonde_begin_id(&scope, sonde_intern(call.c_str()), nullptr, SONDE_KIND_RUNTIME);
    sonde_set_id(&scope, call_id);
    sonde_end(&scope);
    say_slice(call, "", SONDE_KIND_RUNTIME, call_id, "");
    const std::uint64_t end = sonde_ticks();
    const std::uint64_t ticks = (end - scope.start) / 2;
    sonde_device_work(&work_name, &domain_[d_], static_cast<sonde_kind>(kind),
                      static_cast<std::uint32_t>(number_), stream, end - ticks, end, work_id);
    const std::string place = join({work, domains_[d_], std::to_string(kind),
                                    std::to_string(number_), std::to_string(stream)});
    say(join({"F", "device", place, std::to_string(ticks), std::to_string(work_id)}));
    say(join({"T", "device", place}));
    sonde_link(call_id, work_id);
    say(join({"F", "link", std::to_string(call_id), std::to_string(work_id)}));
    say(join({"T", "launched", call, work}));
  }

  // One scope causes another.
  void flow() {
    const std::string own = std::to_string(number_) + "." + std::to_string(flows_++);
    const std::string names[] = {"from " + own, "to " + own};
    std::uint64_t ids[2];
    for (int i = 0; i < 2; ++i) {
      ids[i] = sonde_new_id();
      sonde_scope scope;
      sonde_begin_id(&scope, sonde_intern(names[i].c_str()), nullptr, SONDE_KIND_RANGE);
      sonde_set_id(&scope, ids[i]);
      sonde_end(&scope);
      say_slice(names[i], "", SONDE_KIND_RANGE, ids[i], "");
    }
    sonde_link(ids[0], ids[1]);
    say(join({"F", "link", std::to_string(ids[0]), std::to_string(ids[1])}));
    say(join({"T", "flow", names[0], names[1]}));
  }

  void step() {
    sonde_step();
    if (steps_++ > 0) say_step();
  }

  // The step that has just ended. Everything since it began lies in it.
  void say_step() {
    const std::string number = std::to_string(ended_steps_++);
    say(join({"F", "slice", "step", "", "1", number, ""}));
    say(join({"T", "slice", "step#" + number, "", "1", "0", "-", ""}));
  }

  Random random_;
  int number_;
  Pool& pool_;
  std::vector<std::string> names_;
  std::vector<std::string> domains_;
  std::vector<std::string> counters_;
  std::string counter_domain_text_;
  sonde_domain counter_domain_{};
  sonde_name name_[kNames];
  sonde_domain domain_[kNames];
  sonde_counter counter_[kNames];
  std::int64_t kept_[kNames] = {};
  std::vector<Half> halves_;
  std::vector<std::string> open_;  // names of the scopes around this point
  std::uint64_t n_ = 0;            // the name and the domain of this act
  std::uint64_t d_ = 0;
  int launches_ = 0;
  int flows_ = 0;
  int steps_ = 0;
  std::uint64_t ended_steps_ = 0;
  std::string said_;
};

}  // namespace

int run_random_program(std::uint64_t seed, std::uint64_t count) {
  sonde_name_process("random program");
  Pool pool;
  std::list<RandomThread> programs;
  for (int i = 0; i < kThreads; ++i) {
    programs.emplace_back(seed * kThreads + static_cast<std::uint64_t>(i), i, pool);
  }
  std::vector<std::thread> workers;
  // They end at different times, so that one goes on in what another left.
  for (RandomThread& program : programs) {
    workers.emplace_back([&program, count] { program.run(count); });
    count += count / 2;
  }
  for (std::thread& worker : workers) worker.join();
  for (const RandomThread& program : programs) std::fputs(program.said().c_str(), stdout);
  return 0;
}
