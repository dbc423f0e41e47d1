// Sonde's recorder for C++17 and newer. See sonde.h for what each call means.
//
//   void train() {
//     SONDE_SCOPE("train");                    // a slice until the end of the block
//     ...
//   }
//
// The macros keep one static name for each call site, so that a scope costs no interning. Objects
// with names made at run time are below. With SONDE_DISABLE defined, everything is empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sonde/sonde.h"

namespace sonde {

// A category. Lives as long as the things that are in it; static as a rule.
class Domain {
 public:
  explicit constexpr Domain(const char* text) noexcept : domain_{text, 0} {}
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  sonde_domain* get() noexcept { return &domain_; }

 private:
  sonde_domain domain_;
};

// A name that is interned at its first use. Static as a rule.
class Name {
 public:
  explicit constexpr Name(const char* text) noexcept : name_{text, 0} {}
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;

  sonde_name* get() noexcept { return &name_; }

 private:
  sonde_name name_;
};

inline sonde_domain* domain_of(std::nullptr_t) noexcept { return nullptr; }
inline sonde_domain* domain_of(sonde_domain* domain) noexcept { return domain; }
inline sonde_domain* domain_of(Domain& domain) noexcept { return domain.get(); }

// A slice of this thread, from here to the end of the block.
class Scope {
 public:
  explicit Scope(sonde_name& name, sonde_domain* domain = nullptr,
                 sonde_kind kind = SONDE_KIND_RANGE) noexcept {
    sonde_begin(&scope_, &name, domain, kind);
  }
  explicit Scope(Name& name, sonde_domain* domain = nullptr,
                 sonde_kind kind = SONDE_KIND_RANGE) noexcept {
    sonde_begin(&scope_, name.get(), domain, kind);
  }
  // A name that is made at run time: looked up at each use, while something records.
  explicit Scope(const char* name, sonde_domain* domain = nullptr,
                 sonde_kind kind = SONDE_KIND_RANGE) noexcept {
    sonde_begin_id(&scope_, sonde_enabled() ? sonde_intern(name) : 0, domain, kind);
  }
  explicit Scope(const std::string& name, sonde_domain* domain = nullptr,
                 sonde_kind kind = SONDE_KIND_RANGE) noexcept
      : Scope(name.c_str(), domain, kind) {}
  ~Scope() { sonde_end(&scope_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Links speak of the scope by this id.
  void set_id(std::uint64_t id) noexcept { sonde_set_id(&scope_, id); }

 private:
  sonde_scope scope_;
};

// Up to SONDE_MAX_ARGUMENTS key/value pairs.
class Arguments {
 public:
  Arguments() noexcept { sonde_no_arguments(&arguments_); }

  Arguments& add(const char* key, std::int64_t value) noexcept {
    sonde_add_i64(&arguments_, key, value);
    return *this;
  }
  Arguments& add(const char* key, int value) noexcept { return add(key, std::int64_t{value}); }
  Arguments& add(const char* key, std::size_t value) noexcept {
    return add(key, static_cast<std::int64_t>(value));
  }
  Arguments& add(const char* key, double value) noexcept {
    sonde_add_f64(&arguments_, key, value);
    return *this;
  }
  Arguments& add(const char* key, const char* value) noexcept {
    sonde_add_text(&arguments_, key, value);
    return *this;
  }
  Arguments& add(const char* key, const std::string& value) noexcept {
    return add(key, value.c_str());
  }

  const sonde_arguments* get() const noexcept { return &arguments_; }

 private:
  sonde_arguments arguments_;
};

// A slice with arguments, which may be added until it ends.
class ScopeWithArguments {
 public:
  explicit ScopeWithArguments(sonde_name& name, sonde_domain* domain = nullptr,
                              sonde_kind kind = SONDE_KIND_RANGE) noexcept {
    sonde_begin(&scope_, &name, domain, kind);
  }
  explicit ScopeWithArguments(Name& name, sonde_domain* domain = nullptr,
                              sonde_kind kind = SONDE_KIND_RANGE) noexcept
      : ScopeWithArguments(*name.get(), domain, kind) {}
  explicit ScopeWithArguments(const char* name, sonde_domain* domain = nullptr,
                              sonde_kind kind = SONDE_KIND_RANGE) noexcept {
    sonde_begin_id(&scope_, sonde_enabled() ? sonde_intern(name) : 0, domain, kind);
  }
  ~ScopeWithArguments() { sonde_end_with(&scope_, arguments_.get()); }
  ScopeWithArguments(const ScopeWithArguments&) = delete;
  ScopeWithArguments& operator=(const ScopeWithArguments&) = delete;

  template <typename Value>
  ScopeWithArguments& add(const char* key, const Value& value) noexcept {
    if (scope_.start != 0) arguments_.add(key, value);
    return *this;
  }
  void set_id(std::uint64_t id) noexcept { sonde_set_id(&scope_, id); }

 private:
  sonde_scope scope_;
  Arguments arguments_;
};

// Started and stopped by hand, on any thread; ends with the object at the latest. The texts must
// outlive the object.
class Task {
 public:
  Task(Domain& domain, const char* name) noexcept : name_{name, 0}, domain_(domain.get()) {}
  ~Task() { stop(); }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  void start() noexcept { sonde_task_start(&task_, &name_, domain_); }
  void stop() noexcept { sonde_task_stop(&task_); }
  void stop(const Arguments& arguments) noexcept { sonde_task_stop_with(&task_, arguments.get()); }

 private:
  sonde_task task_{};
  sonde_name name_;
  sonde_domain* domain_;
};

class Frame {
 public:
  Frame(Domain& domain, const char* name) noexcept : name_{name, 0}, domain_(domain.get()) {}
  ~Frame() { stop(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void start() noexcept { sonde_frame_start(&frame_, &name_, domain_); }
  void stop() noexcept { sonde_task_stop(&frame_); }

 private:
  sonde_task frame_{};
  sonde_name name_;
  sonde_domain* domain_;
};

// As a task, without a domain.
class Event {
 public:
  explicit Event(const char* name) noexcept : name_{name, 0} {}
  ~Event() { stop(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void start() noexcept { sonde_event_start(&event_, &name_); }
  void stop() noexcept { sonde_task_stop(&event_); }

 private:
  sonde_task event_{};
  sonde_name name_;
};

// A number over time. Made with a value, it records that value.
class Counter {
 public:
  Counter(Domain& domain, const char* name) noexcept : counter_{{name, 0}, domain.get(), 0} {}
  Counter(Domain& domain, const char* name, std::int64_t value) noexcept : Counter(domain, name) {
    set(value);
  }
  explicit Counter(const char* name) noexcept : counter_{{name, 0}, nullptr, 0} {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  void set(std::int64_t value) noexcept { sonde_counter_set(&counter_, value); }
  void set(int value) noexcept { set(std::int64_t{value}); }
  void set(double value) noexcept { sonde_counter_set_f64(&counter_, value); }
  void add(std::int64_t delta) noexcept { sonde_counter_add(&counter_, delta); }
  Counter& operator+=(std::int64_t delta) noexcept { return add(delta), *this; }
  Counter& operator-=(std::int64_t delta) noexcept { return add(-delta), *this; }
  Counter& operator++() noexcept { return add(1), *this; }
  Counter& operator--() noexcept { return add(-1), *this; }

 private:
  sonde_counter counter_;
};

enum class MarkerScope : char { Thread = 't', Process = 'p', Global = 'g' };

class Marker {
 public:
  Marker(Domain& domain, const char* name) noexcept : name_{name, 0}, domain_(domain.get()) {}
  explicit Marker(const char* name) noexcept : name_{name, 0}, domain_(nullptr) {}
  Marker(const Marker&) = delete;
  Marker& operator=(const Marker&) = delete;

  void mark(MarkerScope scope = MarkerScope::Process) noexcept {
    sonde_marker(&name_, domain_, static_cast<char>(scope));
  }
  void mark(MarkerScope scope, const Arguments& arguments) noexcept {
    sonde_marker_with(&name_, domain_, static_cast<char>(scope), arguments.get());
  }

 private:
  sonde_name name_;
  sonde_domain* domain_;
};

// The steps of a loop: `for (...) { steps.next(); ... }`. The last one ends with the object.
class Steps {
 public:
  Steps() = default;
  ~Steps() { sonde_last_step(); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  void next() noexcept { sonde_step(); }
};

// Records from here to the end of the block.
class Recording {
 public:
  explicit Recording(const char* folder) noexcept : error_(sonde_start(folder)) {}
  ~Recording() { sonde_stop(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  int error() const noexcept { return error_; }

 private:
  int error_;
};

}  // namespace sonde

#define SONDE_JOIN2_(a, b) a##b
#define SONDE_JOIN_(a, b) SONDE_JOIN2_(a, b)

#ifdef SONDE_DISABLE
#define SONDE_SCOPE_OF(text, domain, kind) static_cast<void>(0)
#define SONDE_MARK(text) static_cast<void>(0)
#else
#define SONDE_SCOPE_AT_(site, text, domain, kind)                                      \
  static ::sonde_name SONDE_JOIN_(sonde_name_, site) = SONDE_NAME_INIT(text);          \
  const ::sonde::Scope SONDE_JOIN_(sonde_scope_, site)(SONDE_JOIN_(sonde_name_, site), \
                                                       ::sonde::domain_of(domain), kind)
// The rest of the block as a slice. `domain`: a sonde::Domain, a sonde_domain* or nullptr.
#define SONDE_SCOPE_OF(text, domain, kind) SONDE_SCOPE_AT_(__COUNTER__, text, domain, kind)
#define SONDE_MARK(text)                                            \
  do {                                                              \
    static ::sonde_name sonde_marker_name_ = SONDE_NAME_INIT(text); \
    ::sonde_marker(&sonde_marker_name_, nullptr, 't');              \
  } while (false)
#endif

#define SONDE_SCOPE(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_RANGE)
#define SONDE_SCOPE_IN(domain, text) SONDE_SCOPE_OF(text, domain, SONDE_KIND_RANGE)
#define SONDE_FUNCTION() SONDE_SCOPE(__func__)
#define SONDE_OPERATOR(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_OPERATOR)
#define SONDE_API_CALL(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_API)
#define SONDE_MODULE(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_MODULE)
#define SONDE_FORWARD(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_FORWARD)
#define SONDE_BACKWARD(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_BACKWARD)
#define SONDE_OPTIMIZER(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_OPTIMIZER)
#define SONDE_DATA_LOADER(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_DATA_LOADER)
#define SONDE_COMMUNICATION(text) SONDE_SCOPE_OF(text, nullptr, SONDE_KIND_COMMUNICATION)
